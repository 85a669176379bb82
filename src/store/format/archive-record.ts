import { crc32 } from 'node:zlib';
import { ARCHIVE_VERSION, type ArchivedId, type ArchiveRecord } from '../../ports/archive.js';
import { DamagedRecordError } from '../../ports/damaged-record-error.js';
import type { Lsn } from '../../ports/lsn.js';
import { UnknownFormatError } from './format-error.js';

/*
 * The encoding of an archived round, the same in every kind of archive. Integers are big-endian.
 *
 *   checksum u32, count u16, for each id its hash u32 and version u32, serialized round
 *
 * The checksum is the CRC-32 of the day (u32), shard (u16), player (u32), the tail of the key, and all bytes after the
 * checksum.
 */
const CHECKSUM_BYTES = 4;
const START = CHECKSUM_BYTES + 2;
const ID_BYTES = 8;
export const TAIL_BYTES = 16;

/** Throws if a newer walletd wrote the archive. */
export function checkArchiveVersion(version: number): void {
  if (version > ARCHIVE_VERSION) throw new UnknownFormatError('the archive', `format ${version}`);
}

/** The position that identifies a record. */
export type Place = Pick<ArchiveRecord, 'shard' | 'player' | 'round' | 'lsn' | 'index'>;
export type DatedPlace = Place & Pick<ArchiveRecord, 'day'>;

export function encodeRecord(record: ArchiveRecord): Buffer {
  const value = Buffer.allocUnsafe(encodedLength(record));
  writeRecord(record, value, 0);
  return value;
}

export function encodedLength({ ids, image }: ArchiveRecord): number {
  return START + ids.length * ID_BYTES + image.length;
}

/** Like `encodeRecord`, but writes into `bytes`, which must have enough space from `start` on. */
export function writeRecord(record: ArchiveRecord, bytes: Buffer, start: number): void {
  const { ids, image } = record;
  let at = bytes.writeUInt16BE(ids.length, start + CHECKSUM_BYTES);
  for (const { id, version } of ids) {
    at = bytes.writeUInt32BE(id, at);
    at = bytes.writeUInt32BE(version, at);
  }
  image.copy(bytes, at);
  bytes.writeUInt32BE(checksumOf(record, bytes.subarray(start, at + image.length)), start);
}

/**
 * Reads the ids from an encoded record, or from a prefix that contains them. Does not verify the checksum. Returns
 * undefined if the ids are cut off.
 */
export function tryIdsIn(value: Buffer): ArchivedId[] | undefined {
  if (value.length < START) return undefined;
  const count = value.readUInt16BE(CHECKSUM_BYTES);
  if (value.length < START + count * ID_BYTES) return undefined;
  return Array.from({ length: count }, (_, i): ArchivedId => {
    const at = START + i * ID_BYTES;
    return { id: value.readUInt32BE(at), version: value.readUInt32BE(at + 4) };
  });
}

/**
 * Reads the ids of a stored record. Throws a `DamagedRecordError` if the checksum does not match. `where` names the
 * file or table in the error message.
 */
export function mustIdsIn(place: DatedPlace, value: Buffer, where: string): ArchivedId[] {
  const ids = tryIdsIn(value);
  if (ids === undefined || value.readUInt32BE(0) !== checksumOf(place, value))
    throw new DamagedRecordError(place, where);
  return ids;
}

/** Like `mustIdsIn`, but decodes the whole record. */
export function decodeRecord(place: DatedPlace, value: Buffer, where: string): ArchiveRecord {
  const { shard, day, player, round, lsn, index } = place;
  const ids = mustIdsIn(place, value, where);
  // Copy the bytes, because the store may reuse the buffer.
  const image = Buffer.from(value.subarray(START + ids.length * ID_BYTES));
  return { shard, day, player, round, lsn, index, ids, image };
}

/**
 * Writes the tail of a record's key, which distinguishes a player's rounds from each other, and also the records of one
 * round.
 */
export function writeTail({ round, lsn, index }: Place, bytes: Buffer, at: number): void {
  bytes.writeUInt32BE(round, at);
  bytes.writeUInt32BE(lsn.epoch, at + 4);
  bytes.writeUIntBE(lsn.sequence, at + 8, 6);
  bytes.writeUInt16BE(index, at + 14);
}

export function tailAt(key: Buffer, at: number): { round: number; lsn: Lsn; index: number } {
  const lsn = { epoch: key.readUInt32BE(at + 4), sequence: key.readUIntBE(at + 8, 6) };
  return { round: key.readUInt32BE(at), lsn, index: key.readUInt16BE(at + 14) };
}

/** Scratch buffer for the record's position, which is part of the data that the checksum covers. */
const placeBytes = Buffer.alloc(10 + TAIL_BYTES);

function checksumOf(place: DatedPlace, value: Buffer): number {
  placeBytes.writeUInt32BE(place.day, 0);
  placeBytes.writeUInt16BE(place.shard, 4);
  placeBytes.writeUInt32BE(place.player, 6);
  writeTail(place, placeBytes, 10);
  return crc32(value.subarray(CHECKSUM_BYTES), crc32(placeBytes));
}
