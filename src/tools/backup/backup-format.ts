import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, inflateRaw } from 'node:zlib';
import { writtenByNewer } from '../../base/written-by-newer.js';
import type { Frame } from '../frame.js';
import { ToolError } from '../store-reader.js';
import { openFrames } from './frame-codec.js';

/*
 * The layout of a backup file; see src/store/format/FORMAT.md.
 *
 *   | magic, version, checksum | block | block | ... | block (end of a segment) | block | ...
 *
 * A block:
 *
 *  0        4            8       12     16              20                24
 *  | length | raw length | index | kind | data checksum | header checksum | data, compressed ...
 *
 * The inflated data are frames.
 *
 * Integers are big-endian, checksums are CRC-32. A checksum covers every byte of the file.
 */
export const BACKUP_VERSION = 1;
export const FILE_HEADER_LENGTH = 16;
export const BLOCK_HEADER_LENGTH = 24;
const MAGIC = 'wdbackup';
/** The first bytes of every file in the age format. */
const AGE = 'age-encryption.org/v1';
/**
 * Compresses slightly faster than a typical backup disk can write. The next level takes twice as long and saves only a
 * tenth.
 */
const COMPRESSION_LEVEL = constants.Z_BEST_SPEED;

export const BLOCK_KINDS = { goesOn: 1, endsSegment: 2 } as const;
export type BlockKind = (typeof BLOCK_KINDS)[keyof typeof BLOCK_KINDS];

export interface BlockHeader {
  /** Number of bytes of compressed data. */
  readonly length: number;
  readonly rawLength: number;
  /** The position of the block in the file, counted from 0. */
  readonly index: number;
  readonly kind: BlockKind;
  readonly dataChecksum: number;
}

const deflate = promisify<Buffer, { level: number }, Buffer>(deflateRaw);
const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

export function sealFileHeader(): Buffer {
  const bytes = Buffer.alloc(FILE_HEADER_LENGTH);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeUInt16BE(BACKUP_VERSION, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 12)), 12);
  return bytes;
}

/** Throws a `ToolError` that describes the fault in the header. */
export function checkFileHeader(bytes: Buffer): void {
  if (AGE.startsWith(bytes.toString('latin1')) && bytes.length > 0) {
    throw new ToolError(
      'is encrypted with age: restore and verify read it with --identity; for other commands, decrypt it with `age -d`',
    );
  }
  if (bytes.length < FILE_HEADER_LENGTH || bytes.toString('latin1', 0, 8) !== MAGIC) {
    throw new ToolError('is not a walletd backup (bad magic at byte 0)');
  }
  if (bytes.readUInt32BE(12) !== crc32(bytes.subarray(0, 12))) throw new ToolError('is damaged at byte 8');
  const version = bytes.readUInt16BE(8);
  if (version !== BACKUP_VERSION) throw new ToolError(writtenByNewer('is a backup that', `format ${version}`));
}

export async function sealBlock(raw: Buffer, index: number, kind: BlockKind): Promise<Buffer> {
  const data = await deflate(raw, { level: COMPRESSION_LEVEL });
  const header = Buffer.alloc(BLOCK_HEADER_LENGTH);
  header.writeUInt32BE(data.length, 0);
  header.writeUInt32BE(raw.length, 4);
  header.writeUInt32BE(index, 8);
  header.writeUInt32BE(kind, 12);
  header.writeUInt32BE(crc32(data), 16);
  header.writeUInt32BE(crc32(header.subarray(0, 20)), 20);
  return Buffer.concat([header, data]);
}

/** Parses a block header; undefined if it is damaged or belongs to a block with a different index. */
export function tryBlockHeader(bytes: Buffer, index: number): BlockHeader | undefined {
  if (bytes.readUInt32BE(20) !== crc32(bytes.subarray(0, 20))) return undefined;
  const kind = bytes.readUInt32BE(12);
  const isKnown = kind === BLOCK_KINDS.goesOn || kind === BLOCK_KINDS.endsSegment;
  if (!isKnown || bytes.readUInt32BE(8) !== index) return undefined;
  const [length, rawLength, dataChecksum] = [0, 4, 16].map((at) => bytes.readUInt32BE(at)) as [number, number, number];
  return { length, rawLength, index, kind, dataChecksum };
}

/** Decodes the frames in a block's data. Throws if the data contradicts the header. */
export async function openBlock({ rawLength }: BlockHeader, data: Buffer): Promise<Frame[]> {
  const raw = await inflate(data, { maxOutputLength: Math.max(1, rawLength) });
  if (raw.length !== rawLength) throw new ToolError(`it holds ${raw.length} bytes instead of ${rawLength}`);
  return openFrames(raw);
}
