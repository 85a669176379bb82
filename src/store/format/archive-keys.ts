import { crc32 } from 'node:zlib';
import type { ArchiveKey, ArchiveRecord } from '../../ports/archive.js';

/*
 * Keys that an archive saves, so that a node does not have to read all records when it starts:
 *
 *   saved   checksum u32, a part of the key filter that src/archive/key-filter.ts saves
 *   fresh   checksum u32, for each key: player u32, kind u8 (0 a round, 1 a transaction), hash u32
 *
 * Integers are big-endian. Each checksum is the CRC-32 of the bytes after it.
 */
const CHECKSUM_BYTES = 4;
const NAME_BYTES = 9;
const ROUND = 0;
const TRANSACTION = 1;

export function encodeKeys(part: Buffer): Buffer {
  const stored = Buffer.alloc(CHECKSUM_BYTES + part.length);
  part.copy(stored, CHECKSUM_BYTES);
  stored.writeUInt32BE(crc32(part), 0);
  return stored;
}

/** Returns undefined if the part is damaged. */
export function tryOpenKeys(stored: Buffer): Buffer | undefined {
  const part = stored.subarray(CHECKSUM_BYTES);
  return stored.length >= CHECKSUM_BYTES && stored.readUInt32BE(0) === crc32(part) ? Buffer.from(part) : undefined;
}

/** Encodes the keys of these records. */
export function encodeFreshKeys(records: readonly ArchiveRecord[]): Buffer {
  const count = records.reduce((sum, { ids }) => sum + 1 + ids.length, 0);
  const bytes = Buffer.allocUnsafe(count * NAME_BYTES);
  let at = 0;
  for (const { player, round, ids } of records) {
    at = writeName(bytes, at, player, ROUND, round);
    for (const { id } of ids) at = writeName(bytes, at, player, TRANSACTION, id);
  }
  return encodeKeys(bytes);
}

function writeName(bytes: Buffer, at: number, player: number, kind: number, hash: number): number {
  bytes.writeUInt32BE(player, at);
  bytes[at + 4] = kind;
  bytes.writeUInt32BE(hash, at + 5);
  return at + NAME_BYTES;
}

/** Returns undefined if the keys are damaged. */
export function tryOpenFreshKeys(stored: Buffer): readonly ArchiveKey[] | undefined {
  const bytes = tryOpenKeys(stored);
  if (bytes === undefined || bytes.length % NAME_BYTES !== 0) return undefined;
  return Array.from({ length: bytes.length / NAME_BYTES }, (_, i) => {
    const at = i * NAME_BYTES;
    const kind = bytes[at + 4] === ROUND ? 'round' : 'transaction';
    return { player: bytes.readUInt32BE(at), kind, hash: bytes.readUInt32BE(at + 5) };
  });
}
