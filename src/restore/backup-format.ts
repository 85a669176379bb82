import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, inflateRaw } from 'node:zlib';
import { formatLsn, type Lsn, maybeLsn } from '../shard/lsn.js';
import type { Head } from '../shard/ports.js';
import { BackupError } from './backup-error.js';
import type { Contents, ShardContents, SnapshotPlace } from './contents.js';
import type { Frame } from './frame.js';

/*
 * A backup file; src/store/format/FORMAT.md.
 *
 *   | magic, version, checksum | block | block | ... | block (end of a segment) | block | ...
 *
 * A block:
 *
 *  0        4            8       12     16              20                24
 *  | length | raw length | index | kind | data checksum | header checksum | data, compressed ...
 *
 * Raw, it is frames:
 *
 *  0      1       3       7        11
 *  | type | shard | index | length | bytes ...
 *
 * Integers are big-endian, checksums are CRC-32. Every byte of the file is under one of them.
 */
export const BACKUP_VERSION = 1;
export const FILE_HEADER_LENGTH = 16;
export const BLOCK_HEADER_LENGTH = 24;
const MAGIC = 'wdbackup';
const FRAME_HEADER_LENGTH = 11;
/** A little faster than the disks that backups go to; the next level takes twice as long for a tenth less. */
const COMPRESSION_LEVEL = constants.Z_BEST_SPEED;

export const BLOCK_KINDS = { goesOn: 1, endsSegment: 2 } as const;
export type BlockKind = (typeof BLOCK_KINDS)[keyof typeof BLOCK_KINDS];

export interface BlockHeader {
  /** Of the data as they are in the file. */
  readonly length: number;
  readonly rawLength: number;
  /** Counts from 0. */
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

/** Throws a `BackupError` that says what is wrong. */
export function checkFileHeader(bytes: Buffer): void {
  if (bytes.length < FILE_HEADER_LENGTH || bytes.toString('latin1', 0, 8) !== MAGIC) {
    throw new BackupError('is no backup of walletd: it begins with something else (byte 0)');
  }
  if (bytes.readUInt32BE(12) !== crc32(bytes.subarray(0, 12))) throw new BackupError('is damaged at byte 8');
  const version = bytes.readUInt16BE(8);
  if (version !== BACKUP_VERSION) {
    throw new BackupError(`has version ${version}; this walletd reads version ${BACKUP_VERSION}`);
  }
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

/** Undefined when the header is damaged, or is not the one that has to come here. */
export function maybeBlockHeader(bytes: Buffer, index: number): BlockHeader | undefined {
  if (bytes.readUInt32BE(20) !== crc32(bytes.subarray(0, 20))) return undefined;
  const kind = bytes.readUInt32BE(12);
  const isKnown = kind === BLOCK_KINDS.goesOn || kind === BLOCK_KINDS.endsSegment;
  if (!isKnown || bytes.readUInt32BE(8) !== index) return undefined;
  const [length, rawLength, dataChecksum] = [0, 4, 16].map((at) => bytes.readUInt32BE(at)) as [number, number, number];
  return { length, rawLength, index, kind, dataChecksum };
}

/** The frames in the data of a block. Throws when they are not what the header says. */
export async function openBlock({ rawLength }: BlockHeader, data: Buffer): Promise<Frame[]> {
  const raw = await inflate(data, { maxOutputLength: Math.max(1, rawLength) });
  if (raw.length !== rawLength) throw new BackupError(`it holds ${raw.length} bytes, and should hold ${rawLength}`);
  const frames: Frame[] = [];
  for (let at = 0; at < raw.length; ) {
    const end = at + FRAME_HEADER_LENGTH + (at + FRAME_HEADER_LENGTH <= raw.length ? raw.readUInt32BE(at + 7) : 0);
    if (end > raw.length) throw new BackupError('a frame is longer than its block');
    frames.push(openFrame(raw.subarray(at, end)));
    at = end;
  }
  return frames;
}

const TYPES = [
  'meta',
  'snapshot-begun',
  'chunk',
  'snapshot-abandoned',
  'entry',
  'end',
] as const satisfies readonly Frame['type'][];

const NOTHING = Buffer.alloc(0);

/** Two buffers, so that the bytes of a chunk or an entry are not copied here. */
export function sealFrame(frame: Frame): readonly [header: Buffer, bytes: Buffer] {
  const bytes = bytesOf(frame);
  const header = Buffer.alloc(FRAME_HEADER_LENGTH);
  header.writeUInt8(TYPES.indexOf(frame.type) + 1, 0);
  header.writeUInt16BE('shard' in frame ? frame.shard : 0, 1);
  header.writeUInt32BE('index' in frame ? frame.index : 0, 3);
  header.writeUInt32BE(bytes.length, 7);
  return [header, bytes];
}

function bytesOf(frame: Frame): Buffer {
  switch (frame.type) {
    case 'snapshot-begun':
      return frame.manifest;
    case 'snapshot-abandoned':
      return NOTHING;
    case 'end':
      return Buffer.from(JSON.stringify(contentsToStored(frame.contents)));
    default:
      return frame.bytes;
  }
}

function openFrame(frame: Buffer): Frame {
  const type = TYPES[frame.readUInt8(0) - 1];
  const shard = frame.readUInt16BE(1);
  const bytes = frame.subarray(FRAME_HEADER_LENGTH);
  switch (type) {
    case 'meta':
      return { type, bytes };
    case 'snapshot-begun':
      return { type, shard, manifest: bytes };
    case 'chunk':
      return { type, shard, index: frame.readUInt32BE(3), bytes };
    case 'snapshot-abandoned':
      return { type, shard };
    case 'entry':
      return { type, shard, bytes };
    case 'end':
      return { type, contents: storedToContents(JSON.parse(bytes.toString()) as StoredContents) };
    default:
      throw new BackupError(`frame type ${frame.readUInt8(0)} is not known: a newer walletd wrote it`);
  }
}

interface StoredContents {
  readonly timeMs: number;
  readonly shards: readonly {
    readonly head: readonly [lsn: string, nonce: string, checksum: number];
    readonly snapshot: { readonly end: string; readonly timeMs: number } | null;
  }[];
}

function contentsToStored({ timeMs, shards }: Contents): StoredContents {
  const stored = shards.map(({ head: { lsn, nonce, checksum }, snapshot }) => ({
    head: [formatLsn(lsn), nonce, checksum] as const,
    snapshot: snapshot === undefined ? null : { end: formatLsn(snapshot.end), timeMs: snapshot.timeMs },
  }));
  return { timeMs, shards: stored };
}

function storedToContents({ timeMs, shards }: StoredContents): Contents {
  const contents = shards.map(({ head, snapshot }): ShardContents => {
    const place: SnapshotPlace | undefined =
      snapshot === null ? undefined : { end: mustLsn(snapshot.end), timeMs: snapshot.timeMs };
    return { head: storedToHead(head), snapshot: place };
  });
  return { timeMs, shards: contents };
}

function storedToHead([lsn, nonce, checksum]: StoredContents['shards'][number]['head']): Head {
  return { lsn: mustLsn(lsn), nonce, checksum };
}

function mustLsn(text: string): Lsn {
  const lsn = maybeLsn(text);
  if (lsn === undefined) throw new BackupError(`"${text}" is not an LSN`);
  return lsn;
}
