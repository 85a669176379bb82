import { crc32 } from 'node:zlib';
import type { KeysInFile } from '../../ports/key-file.js';
import type { Head } from '../../ports/wal.js';
import { FormatError, UnknownFormatError } from './format-error.js';

/*
 * A node's file with the keys of a shard's archive (FORMAT.md): a header, then one section for each part.
 *
 *   header    length u32, checksum u32, JSON
 *   section   number u32, length u32, checksum u32, a part of the key filter, see key-filter.ts
 *
 * Integers are big-endian. Checksums are CRC-32. A section's checksum continues the header's, so that a section from
 * another file does not match.
 */
const VERSION = 1;
const HEADER_BYTES = 8;
const SECTION_BYTES = 12;

interface Header {
  readonly version: number;
  readonly storeId: string;
  readonly shard: number;
  readonly head: readonly [epoch: number, sequence: number, nonce: string, checksum: number];
  /** Numbers of the parts that follow the header, in file order. */
  readonly parts: readonly number[];
}

/** The store and shard that the keys belong to, and the entry up to which the keys are complete. */
export interface KeyFileOwner {
  readonly storeId: string;
  readonly shard: number;
  readonly head: Head;
}

export interface SealedHeader {
  readonly bytes: Buffer;
  readonly checksum: number;
}

export function sealHeader({ storeId, shard, head }: KeyFileOwner, parts: readonly number[]): SealedHeader {
  const { lsn, nonce, checksum: of } = head;
  const header: Header = { version: VERSION, storeId, shard, head: [lsn.epoch, lsn.sequence, nonce, of], parts };
  const json = Buffer.from(JSON.stringify(header));
  const checksum = crc32(json);
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32BE(json.length, 0);
  bytes.writeUInt32BE(checksum, 4);
  return { bytes: Buffer.concat([bytes, json]), checksum };
}

/** Encodes the header that precedes a part. */
export function sealSection({ checksum }: SealedHeader, number: number, part: Buffer): Buffer {
  const bytes = Buffer.alloc(SECTION_BYTES);
  bytes.writeUInt32BE(number, 0);
  bytes.writeUInt32BE(part.length, 4);
  bytes.writeUInt32BE(crc32(part, checksum), 8);
  return bytes;
}

/** Decodes a key file. Throws a `FormatError` if it is damaged, or if it belongs to another store, shard or version. */
export function openKeyFile(bytes: Buffer, storeId: string, shard: number): KeysInFile {
  const { header, checksum, end } = openHeader(bytes);
  if (header.version > VERSION) throw new UnknownFormatError('the key filter file', `format ${header.version}`);
  if (header.storeId !== storeId) throw new FormatError(`it belongs to a different store: ${header.storeId}`);
  if (header.shard !== shard) throw new FormatError(`it belongs to a different shard: ${header.shard}`);
  const parts = new Map<number, Buffer>();
  let at = end;
  for (const number of header.parts) {
    const begin = at + SECTION_BYTES;
    if (begin > bytes.length) throw new FormatError('it is cut off');
    const length = bytes.readUInt32BE(at + 4);
    const part = bytes.subarray(begin, begin + length);
    const isWhole = bytes.readUInt32BE(at) === number && part.length === length;
    if (!isWhole || bytes.readUInt32BE(at + 8) !== crc32(part, checksum)) {
      throw new FormatError(`it is damaged in part ${number}`);
    }
    parts.set(number, part);
    at = begin + length;
  }
  if (at !== bytes.length) throw new FormatError('it continues after its end');
  const [epoch, sequence, nonce, of] = header.head;
  return { head: { lsn: { epoch, sequence }, nonce, checksum: of }, parts };
}

function openHeader(bytes: Buffer): { header: Header; checksum: number; end: number } {
  if (bytes.length < HEADER_BYTES) throw new FormatError('it is cut off');
  const end = HEADER_BYTES + bytes.readUInt32BE(0);
  const checksum = bytes.readUInt32BE(4);
  const json = bytes.subarray(HEADER_BYTES, end);
  if (end > bytes.length || crc32(json) !== checksum) throw new FormatError('its header is damaged');
  return { header: JSON.parse(json.toString()) as Header, checksum, end };
}
