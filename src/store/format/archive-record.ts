import { crc32 } from 'node:zlib';
import type { ArchivedId, ArchiveRecord } from '../../shard/archive/archive.js';
import { formatLsn, type Lsn } from '../../shard/log/lsn.js';
import { FormatError } from './format-error.js';

/*
 * What an archive keeps of a round, the same in every kind of archive. Integers are big-endian.
 *
 *   checksum u32, count u16, of each id its hash u32 and version u32, image
 *
 * The checksum is CRC-32 of the day (u32), shard (u16), player (u32), the tail of its place, and all behind the checksum.
 */
const CHECKSUM_BYTES = 4;
const START = CHECKSUM_BYTES + 2;
const ID_BYTES = 8;
const TAIL_BYTES = 16;

/** A record without what it keeps. */
export type Place = Pick<ArchiveRecord, 'shard' | 'player' | 'round' | 'lsn' | 'index'>;
export type DatedPlace = Place & Pick<ArchiveRecord, 'day'>;

export function encodeRecord(record: ArchiveRecord): Buffer {
  const { ids, image } = record;
  const value = Buffer.allocUnsafe(START + ids.length * ID_BYTES + image.length);
  value.writeUInt16BE(ids.length, CHECKSUM_BYTES);
  for (const [i, { id, version }] of ids.entries()) {
    value.writeUInt32BE(id, START + i * ID_BYTES);
    value.writeUInt32BE(version, START + i * ID_BYTES + 4);
  }
  image.copy(value, START + ids.length * ID_BYTES);
  value.writeUInt32BE(checksumOf(record, value), 0);
  return value;
}

/** The ids of an encoded record, and of the beginning of one that has them. Not checked. */
export function idsIn(value: Buffer): ArchivedId[] {
  const count = value.readUInt16BE(CHECKSUM_BYTES);
  return Array.from({ length: count }, (_, i): ArchivedId => {
    const at = START + i * ID_BYTES;
    return { id: value.readUInt32BE(at), version: value.readUInt32BE(at + 4) };
  });
}

/** Throws a `FormatError` when it is not what was encoded. `where`: the file or table, for people. */
export function decodeRecord(place: DatedPlace, value: Buffer, where: string): ArchiveRecord {
  const { shard, day, player, round, lsn, index } = place;
  if (value.length < START || value.readUInt32BE(0) !== checksumOf(place, value)) {
    const name = `shard ${shard}, player ${player}, round ${round}, entry ${formatLsn(lsn)}, ${index}`;
    throw new FormatError(`a round in the archive is damaged: ${name}, in ${where}`);
  }
  const ids = idsIn(value);
  // A copy: what a store gives may be overwritten.
  const image = Buffer.from(value.subarray(START + ids.length * ID_BYTES));
  return { shard, day, player, round, lsn, index, ids, image };
}

/** The part of a record's key that tells rounds of one player apart, and records of one round. */
export function tailOf({ round, lsn, index }: Place): Buffer {
  const tail = Buffer.allocUnsafe(TAIL_BYTES);
  tail.writeUInt32BE(round, 0);
  tail.writeUInt32BE(lsn.epoch, 4);
  tail.writeUIntBE(lsn.sequence, 8, 6);
  tail.writeUInt16BE(index, 14);
  return tail;
}

export function tailAt(key: Buffer, at: number): { round: number; lsn: Lsn; index: number } {
  const lsn = { epoch: key.readUInt32BE(at + 4), sequence: key.readUIntBE(at + 8, 6) };
  return { round: key.readUInt32BE(at), lsn, index: key.readUInt16BE(at + 14) };
}

function checksumOf(place: DatedPlace, value: Buffer): number {
  const head = Buffer.allocUnsafe(10);
  head.writeUInt32BE(place.day, 0);
  head.writeUInt16BE(place.shard, 4);
  head.writeUInt32BE(place.player, 6);
  return crc32(value.subarray(CHECKSUM_BYTES), crc32(tailOf(place), crc32(head)));
}
