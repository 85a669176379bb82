import { crc32 } from 'node:zlib';
import { RESET_BUFFER_MODE, REUSE_BUFFER_MODE } from 'msgpackr';
import { assert, must } from '../../base/assert.js';
import { formatLsn, type Lsn } from '../../ports/lsn.js';
import type {
  BatchWriter,
  EncodedEntry,
  Entry,
  EntryFormat,
  EntryHeader,
  Head,
  Owner,
  ReadHeader,
} from '../../ports/wal.js';
import type { Event } from '../../wallet/event.js';
import { eventToTuple, formatOf, tupleToEvent } from './event-codec.js';
import { FormatError, UnknownFormatError } from './format-error.js';
import { FormatGate, STORE_FORMAT } from './format-gate.js';
import { newPackr } from './msgpack.js';

/*
 *  0        1      2       4       8          16        20          24
 *  | format | kind | shard | epoch | sequence | epoch   | checksum  | sequence |   (the last three are those of the previous entry)
 *  32       40        48         64      68         72
 *  | nonce  | time ms | store id | count | checksum | msgpack, one value per event ...
 *
 * Integers are big-endian. The checksum is the CRC-32 of all other bytes.
 */
export const FORMAT_VERSION = 1;
export const HEADER_LENGTH = 72;
const CHECKSUM_AT = 68;
const NONCE_LENGTH = 8;
const KIND_BATCH = 1;
const KIND_FENCE = 2;
/** A separate kind of entry, which a reader of an older release does not know. It refuses the entry and stops there. */
const KIND_FENCE_AFTER_LOSS = 3;
const KINDS: readonly number[] = [KIND_BATCH, KIND_FENCE, KIND_FENCE_AFTER_LOSS];
const WORKSPACE_LENGTH = 4096;
const PIECE_BYTES = 64 * 1024;

const packr = newPackr();

/**
 * Options that make msgpackr pack every event into the same buffer and return the range. Allocating a Buffer per event
 * cost as much as packing it.
 */
const IN_PLACE = REUSE_BUFFER_MODE | RESET_BUFFER_MODE;
type InPlace = Buffer & { readonly start: number; readonly end: number };

/** The entry format of one store. Every entry contains the store's id. */
export class EntryCodec implements EntryFormat {
  private readonly storeIdBytes: Buffer;
  private readonly workspaces: Buffer[] = [Buffer.allocUnsafeSlow(WORKSPACE_LENGTH)];
  private readonly memory = new EntryMemory();

  constructor(
    private readonly storeId: string,
    private readonly gate = new FormatGate(),
  ) {
    this.storeIdBytes = storeIdToBytes(storeId);
  }

  beginBatch(timeMs: number): BatchWriter {
    const workspace = this.workspaces.pop() ?? Buffer.allocUnsafeSlow(WORKSPACE_LENGTH);
    return new Batch(timeMs, workspace, (used, length, header, count) => {
      const bytes = this.memory.take(length);
      used.copy(bytes, 0, 0, length);
      this.workspaces.push(used);
      return this.seal(bytes, KIND_BATCH, header, count);
    });
  }

  encodeFence(header: EntryHeader, owner: Owner): EncodedEntry {
    const { host, pid, startedMs, acceptsLoss, acceptsArchiveLoss } = owner;
    const accepts = acceptsArchiveLoss ? [acceptsLoss === true, true] : acceptsLoss ? [true] : [];
    const payload = packr.pack([host, pid, startedMs, ...accepts]);
    const bytes = Buffer.concat([Buffer.alloc(HEADER_LENGTH), payload]);
    return this.seal(bytes, owner.afterLoss ? KIND_FENCE_AFTER_LOSS : KIND_FENCE, header, 0);
  }

  decode(bytes: Buffer): Entry {
    const header = this.decodeHeader(bytes);
    const { owner, timeMs } = header;
    const events = owner === undefined ? readEvents(unpack(bytes), bytes.readUInt32BE(64), timeMs) : [];
    if (!this.gate.allows(STORE_FORMAT)) for (const event of events) this.gate.open(formatOf(event));
    // Copy field by field: V8 takes a slow path for a spread object.
    const { shard, lsn, nonce, head, previousLsn, previousChecksum } = header;
    return { shard, lsn, nonce, head, previousLsn, previousChecksum, timeMs, owner, events };
  }

  decodeHeader(bytes: Buffer): ReadHeader {
    if (bytes.length < HEADER_LENGTH) throw new FormatError(`an entry of ${bytes.length} bytes is too short`);
    const version = bytes.readUInt8(0);
    if (version > FORMAT_VERSION && !isOfThisVersion(bytes)) {
      throw new UnknownFormatError('the entry', `format ${version}`);
    }
    const lsn = readLsn(bytes, 4);
    const checksum = bytes.readUInt32BE(CHECKSUM_AT);
    if (version !== FORMAT_VERSION || checksum !== checksumOf(bytes))
      throw new FormatError(`entry ${formatLsn(lsn)} is damaged: wrong checksum`);
    if (!bytes.subarray(48, 64).equals(this.storeIdBytes)) {
      throw new FormatError(`entry ${formatLsn(lsn)} belongs to a store other than ${this.storeId}`);
    }
    const nonce = bytes.toString('hex', 32, 40);
    const kind = bytes.readUInt8(1);
    // Check the kind before the payload, because the payload's format depends on it.
    if (!KINDS.includes(kind)) {
      throw new UnknownFormatError(`entry ${formatLsn(lsn)}`, `kind ${kind}`);
    }
    return {
      shard: bytes.readUInt16BE(2),
      lsn,
      nonce,
      head: { lsn, nonce, checksum },
      previousLsn: { epoch: bytes.readUInt32BE(16), sequence: readUInt64(bytes, 24) },
      previousChecksum: bytes.readUInt32BE(20),
      timeMs: readUInt64(bytes, 40),
      owner: kind === KIND_BATCH ? undefined : readOwner(unpack(bytes)[0], kind),
    };
  }

  canWrite(event: Event): boolean {
    return this.gate.allows(STORE_FORMAT) || this.gate.allows(formatOf(event));
  }

  tryLsn(bytes: Buffer): Lsn | undefined {
    return bytes.length < HEADER_LENGTH ? undefined : readLsn(bytes, 4);
  }

  private seal(bytes: Buffer, kind: number, header: EntryHeader, count: number): EncodedEntry {
    const { shard, lsn, previous, nonce, timeMs } = header;
    bytes.writeUInt8(FORMAT_VERSION, 0);
    bytes.writeUInt8(kind, 1);
    bytes.writeUInt16BE(shard, 2);
    bytes.writeUInt32BE(lsn.epoch, 4);
    writeUInt64(bytes, lsn.sequence, 8);
    bytes.writeUInt32BE(previous.lsn.epoch, 16);
    bytes.writeUInt32BE(previous.checksum, 20);
    writeUInt64(bytes, previous.lsn.sequence, 24);
    assert(bytes.write(nonce, 32, 'hex') === NONCE_LENGTH, 'a nonce is 16 hexadecimal digits');
    writeUInt64(bytes, timeMs, 40);
    this.storeIdBytes.copy(bytes, 48);
    bytes.writeUInt32BE(count, 64);
    const checksum = checksumOf(bytes);
    bytes.writeUInt32BE(checksum, CHECKSUM_AT);
    const head: Head = { lsn, nonce, checksum };
    return { head, bytes };
  }
}

/**
 * Packs each event when it is added, so that the entry's length is known while it grows. The entry is built in a buffer
 * that the next batch reuses. With a new Buffer of at least 4 KiB per batch, V8 ran a full garbage collection every
 * second at 2,000 callbacks/s, and p99 was 12 ms.
 */
class Batch implements BatchWriter {
  count = 0;
  byteLength = HEADER_LENGTH;

  constructor(
    private readonly timeMs: number,
    /** Undefined after the batch is finalized. */
    private workspace: Buffer | undefined,
    private readonly sealed: (workspace: Buffer, length: number, header: EntryHeader, count: number) => EncodedEntry,
  ) {}

  add(event: Event): void {
    const workspace = must(this.workspace, 'nothing is added to a finalized batch');
    const packed = packr.pack(eventToTuple(event, this.timeMs), IN_PLACE) as InPlace;
    const length = this.byteLength + packed.end - packed.start;
    const roomy = length > workspace.length ? this.grow(workspace, length) : workspace;
    packed.copy(roomy, this.byteLength, packed.start, packed.end);
    this.byteLength = length;
    this.count++;
  }

  seal(header: Omit<EntryHeader, 'timeMs'>): EncodedEntry {
    assert(this.count > 0, 'an entry has events');
    const workspace = must(this.workspace, 'a batch is finalized once');
    this.workspace = undefined;
    return this.sealed(workspace, this.byteLength, { ...header, timeMs: this.timeMs }, this.count);
  }

  private grow(workspace: Buffer, length: number): Buffer {
    const larger = Buffer.allocUnsafeSlow(Math.max(workspace.length * 2, length));
    workspace.copy(larger, 0, 0, this.byteLength);
    this.workspace = larger;
    return larger;
  }
}

/**
 * Memory for finalized entries, in pieces. Allocating each entry of 4 KiB or more separately would cause full garbage
 * collections, like a new workspace per batch.
 */
class EntryMemory {
  private piece = Buffer.alloc(0);
  private at = 0;

  take(length: number): Buffer {
    if (length > PIECE_BYTES / 4) return Buffer.allocUnsafeSlow(length);
    if (this.at + length > this.piece.length) {
      this.piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      this.at = 0;
    }
    const start = this.at;
    this.at += length;
    return this.piece.subarray(start, this.at);
  }
}

/**
 * The head of a log without entries. The head differs for each store and shard, so that an entry of a different log
 * cannot follow it by accident.
 */
export function genesisHead(storeId: string, shard: number): Head {
  const checksum = crc32(`${storeId}/${shard}`);
  return { lsn: { epoch: 0, sequence: 0 }, nonce: '0'.repeat(16), checksum };
}

export const HEAD_LENGTH = 24;

/** Encodes a head: epoch u32, sequence u64, nonce 8 bytes, checksum u32. */
export function encodeHead(head: Head): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_LENGTH);
  bytes.writeUInt32BE(head.lsn.epoch, 0);
  writeUInt64(bytes, head.lsn.sequence, 4);
  bytes.write(head.nonce, 12, 'hex');
  bytes.writeUInt32BE(head.checksum, 20);
  return bytes;
}

export function decodeHead(bytes: Buffer): Head {
  if (bytes.length !== HEAD_LENGTH) throw new FormatError(`a head of ${bytes.length} bytes is damaged`);
  return { lsn: readLsn(bytes, 0), nonce: bytes.toString('hex', 12, 20), checksum: bytes.readUInt32BE(20) };
}

/** Returns true if only the version byte is damaged. */
function isOfThisVersion(bytes: Buffer): boolean {
  const repaired = Buffer.from(bytes);
  repaired.writeUInt8(FORMAT_VERSION, 0);
  return checksumOf(repaired) === bytes.readUInt32BE(CHECKSUM_AT);
}

function checksumOf(bytes: Buffer): number {
  return crc32(bytes.subarray(HEADER_LENGTH), crc32(bytes.subarray(0, CHECKSUM_AT)));
}

function unpack(bytes: Buffer): unknown[] {
  return packr.unpackMultiple(bytes.subarray(HEADER_LENGTH)) as unknown[];
}

function readEvents(values: unknown[], count: number, timeMs: number): Event[] {
  if (values.length !== count) throw new FormatError(`an entry of ${count} events has ${values.length}`);
  return values.map((value) => tupleToEvent(value, timeMs));
}

function readOwner(value: unknown, kind: number): Owner {
  const [host, pid, startedMs, acceptsLoss, acceptsArchiveLoss] = value as [string, number, number, boolean?, true?];
  return {
    host,
    pid,
    startedMs,
    ...(acceptsLoss && { acceptsLoss }),
    ...(acceptsArchiveLoss && { acceptsArchiveLoss }),
    ...(kind === KIND_FENCE_AFTER_LOSS && { afterLoss: true }),
  };
}

function readLsn(bytes: Buffer, at: number): Lsn {
  return { epoch: bytes.readUInt32BE(at), sequence: readUInt64(bytes, at + 4) };
}

/**
 * All numbers in a log are safe integers, so they can be read as two 32-bit halves, which is faster than reading a
 * BigInt.
 */
function readUInt64(bytes: Buffer, at: number): number {
  const high = bytes.readUInt32BE(at);
  const low = bytes.readUInt32BE(at + 4);
  // Without the multiplication, V8 keeps a small number as an integer.
  return high === 0 ? low : high * 2 ** 32 + low;
}

function writeUInt64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  bytes.writeUInt32BE(value % 2 ** 32, at + 4);
}

export function storeIdToBytes(storeId: string): Buffer {
  const bytes = Buffer.from(storeId.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16) throw new FormatError(`store id ${storeId} is not a UUID`);
  return bytes;
}
