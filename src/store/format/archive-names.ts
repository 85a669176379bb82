import { crc32 } from 'node:zlib';
import type { ArchiveName, ArchiveRecord } from '../../shard/archive/archive.js';

/*
 * What is known of an archive's names, so that a start need not read all of them:
 *
 *   saved   checksum u32, a part of what src/shard/archive/known-names.ts saves
 *   fresh   checksum u32, of each name: player u32, kind u8 (0 a round, 1 a transaction), hash u32
 *
 * Integers are big-endian, checksums are CRC-32 of what follows.
 */
const CHECKSUM_BYTES = 4;
const NAME_BYTES = 9;
const KINDS: readonly ArchiveName['kind'][] = ['round', 'transaction'];

export function sealNames(part: Buffer): Buffer {
  const sealed = Buffer.alloc(CHECKSUM_BYTES + part.length);
  part.copy(sealed, CHECKSUM_BYTES);
  sealed.writeUInt32BE(crc32(part), 0);
  return sealed;
}

/** Undefined when it is damaged. */
export function maybeOpenNames(sealed: Buffer): Buffer | undefined {
  const part = sealed.subarray(CHECKSUM_BYTES);
  return sealed.length >= CHECKSUM_BYTES && sealed.readUInt32BE(0) === crc32(part) ? Buffer.from(part) : undefined;
}

/** The names of these records. */
export function sealFresh(records: readonly ArchiveRecord[]): Buffer {
  const names = records.flatMap(({ player, round, ids }): ArchiveName[] => [
    { player, kind: 'round', hash: round },
    ...ids.map(({ id }) => ({ player, kind: 'transaction' as const, hash: id })),
  ]);
  const bytes = Buffer.alloc(names.length * NAME_BYTES);
  for (const [i, { player, kind, hash }] of names.entries()) {
    bytes.writeUInt32BE(player, i * NAME_BYTES);
    bytes.writeUInt8(KINDS.indexOf(kind), i * NAME_BYTES + 4);
    bytes.writeUInt32BE(hash, i * NAME_BYTES + 5);
  }
  return sealNames(bytes);
}

/** Undefined when they are damaged. */
export function maybeOpenFresh(sealed: Buffer): readonly ArchiveName[] | undefined {
  const bytes = maybeOpenNames(sealed);
  if (bytes === undefined || bytes.length % NAME_BYTES !== 0) return undefined;
  return Array.from({ length: bytes.length / NAME_BYTES }, (_, i) => {
    const at = i * NAME_BYTES;
    const kind = KINDS[bytes.readUInt8(at + 4)] ?? 'transaction';
    return { player: bytes.readUInt32BE(at), kind, hash: bytes.readUInt32BE(at + 5) };
  });
}
