import { writtenByNewer } from '../../base/written-by-newer.js';
import type { ArchiveRecord } from '../../ports/archive.js';
import { formatLsn, type Lsn, tryLsn } from '../../ports/lsn.js';
import type { Head } from '../../ports/wal.js';
import type { Coverage, ShardCoverage, SnapshotEnd } from '../coverage.js';
import type { Frame } from '../frame.js';
import { ToolError } from '../store-reader.js';

/*
 * The layout of a frame in a backup file; see src/store/format/FORMAT.md.
 *
 *  0      1       3       7        11
 *  | type | shard | index | length | bytes ...
 *
 * Shard and index are 0 for frames that have none.
 */
const FRAME_HEADER_LENGTH = 11;

const TYPES = [
  'meta',
  'snapshot-begun',
  'chunk',
  'snapshot-abandoned',
  'entry',
  'end',
  'archived',
] as const satisfies readonly Frame['type'][];

const NOTHING = Buffer.alloc(0);

/** Decodes all frames of a block. Throws a `ToolError` if the bytes are not frames. */
export function openFrames(raw: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < raw.length; ) {
    const end = at + FRAME_HEADER_LENGTH + (at + FRAME_HEADER_LENGTH <= raw.length ? raw.readUInt32BE(at + 7) : 0);
    if (end > raw.length) throw new ToolError('a frame is longer than its block');
    frames.push(openFrame(raw.subarray(at, end)));
    at = end;
  }
  return frames;
}

/** Encodes a frame as two buffers, so that the bytes of a chunk or entry are not copied. */
export function sealFrame(frame: Frame): readonly [header: Buffer, bytes: Buffer] {
  const bytes = bytesOf(frame);
  const header = Buffer.alloc(FRAME_HEADER_LENGTH);
  header.writeUInt8(TYPES.indexOf(frame.type) + 1, 0);
  header.writeUInt16BE('shard' in frame ? frame.shard : frame.type === 'archived' ? frame.record.shard : 0, 1);
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
      return Buffer.from(JSON.stringify(coverageToStored(frame.coverage)));
    case 'archived':
      return recordToBytes(frame.record);
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
      return { type, coverage: storedToCoverage(JSON.parse(bytes.toString()) as StoredCoverage) };
    case 'archived':
      return { type, record: bytesToRecord(shard, bytes) };
    default:
      throw new ToolError(writtenByNewer('the frame', `frame type ${frame.readUInt8(0)}`));
  }
}

interface StoredCoverage {
  readonly timeMs: number;
  readonly shards: readonly {
    readonly head: readonly [lsn: string, nonce: string, checksum: number];
    readonly snapshot: { readonly end: string; readonly timeMs: number } | null;
    readonly archived?: readonly [epoch: number, sequence: number, index: number];
  }[];
}

function coverageToStored({ timeMs, shards }: Coverage): StoredCoverage {
  const stored = shards.map(({ head: { lsn, nonce, checksum }, snapshot, archived }) => ({
    head: [formatLsn(lsn), nonce, checksum] as const,
    snapshot: snapshot === undefined ? null : { end: formatLsn(snapshot.end), timeMs: snapshot.timeMs },
    ...(archived && { archived: [archived.epoch, archived.sequence, archived.index] as const }),
  }));
  return { timeMs, shards: stored };
}

function storedToCoverage({ timeMs, shards }: StoredCoverage): Coverage {
  const coverage = shards.map(({ head, snapshot, archived }): ShardCoverage => {
    const place: SnapshotEnd | undefined =
      snapshot === null ? undefined : { end: mustLsn(snapshot.end), timeMs: snapshot.timeMs };
    const covered = { head: storedToHead(head), snapshot: place };
    if (archived === undefined) return covered;
    const [epoch, sequence, index] = archived;
    return { ...covered, archived: { epoch, sequence, index } };
  });
  return { timeMs, shards: coverage };
}

function storedToHead([lsn, nonce, checksum]: StoredCoverage['shards'][number]['head']): Head {
  return { lsn: mustLsn(lsn), nonce, checksum };
}

function mustLsn(text: string): Lsn {
  const lsn = tryLsn(text);
  if (lsn === undefined) throw new ToolError(`"${text}" is not an LSN`);
  return lsn;
}

/*
 * The layout of the record of a round that has left memory. Integers are big-endian.
 *
 *  0     4        8       12      16         24      26
 *  | day | player | round | epoch | sequence | index | ids | id, version ... | image
 */
const RECORD_HEADER_LENGTH = 28;
const ID_LENGTH = 8;

function recordToBytes({ day, player, round, lsn, index, ids, image }: ArchiveRecord): Buffer {
  const head = Buffer.alloc(RECORD_HEADER_LENGTH + ids.length * ID_LENGTH);
  for (const [i, word] of [day, player, round, lsn.epoch].entries()) head.writeUInt32BE(word, i * 4);
  head.writeBigUInt64BE(BigInt(lsn.sequence), 16);
  head.writeUInt16BE(index, 24);
  head.writeUInt16BE(ids.length, 26);
  for (const [i, { id, version }] of ids.entries()) {
    head.writeUInt32BE(id, RECORD_HEADER_LENGTH + i * ID_LENGTH);
    head.writeUInt32BE(version, RECORD_HEADER_LENGTH + i * ID_LENGTH + 4);
  }
  return Buffer.concat([head, image]);
}

function bytesToRecord(shard: number, bytes: Buffer): ArchiveRecord {
  if (bytes.length < RECORD_HEADER_LENGTH) throw new ToolError('an archived round is too short');
  const [day, player, round, epoch] = [0, 4, 8, 12].map((at) => bytes.readUInt32BE(at)) as [
    number,
    number,
    number,
    number,
  ];
  const lsn = { epoch, sequence: Number(bytes.readBigUInt64BE(16)) };
  const count = bytes.readUInt16BE(26);
  const end = RECORD_HEADER_LENGTH + count * ID_LENGTH;
  if (bytes.length < end) throw new ToolError('an archived round is too short');
  const ids = Array.from({ length: count }, (_, i) => {
    const at = RECORD_HEADER_LENGTH + i * ID_LENGTH;
    return { id: bytes.readUInt32BE(at), version: bytes.readUInt32BE(at + 4) };
  });
  return {
    shard,
    day,
    player,
    round,
    lsn,
    index: bytes.readUInt16BE(24),
    ids,
    image: Buffer.from(bytes.subarray(end)),
  };
}
