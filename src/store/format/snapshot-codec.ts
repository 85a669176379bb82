import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.js';
import { hashString } from '../../base/hash.js';
import type { Steps } from '../../base/steps.js';
import type { Lsn } from '../../shard/log/lsn.js';
import type { Head } from '../../shard/log/wal.js';
import type {
  ChunkSummary,
  ChunkWriter,
  Manifest,
  PackedReader,
  SnapshotFormat,
} from '../../shard/snapshot/snapshot-store.js';
import type { PackedWallets } from '../../wallet/state/packed-wallets.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { imageFrom, outlineOf, type WalletImage, walletFrom } from '../../wallet/state/wallet-image.js';
import { storeIdToBytes } from './entry-codec.js';
import { FormatError, UnknownFormatError } from './format-error.js';
import { newPackr } from './msgpack.js';

/*
 * A chunk:
 *
 *  0        1          2       4       8         12         16            24         40
 *  | format | reserved | shard | index | players | checksum | snapshot id | store id | records ...
 *
 * A record, one for each wallet:
 *
 *  0        4      8           16          20
 *  | length | hash | oldest ms | open bets | msgpack of the wallet's image
 *
 * Integers are big-endian, `oldest ms` is a float 64, `length` is that of the record. Checksums are CRC-32 of everything
 * but themselves. A manifest is its checksum, then JSON.
 */
export const SNAPSHOT_VERSION = 1;
const HEADER_LENGTH = 40;
const CHECKSUM_AT = 12;
const RECORD_HEADER_LENGTH = 20;
const HASH_AT = 4;
const OLDEST_AT = 8;
const OPEN_BETS_AT = 16;
const CHUNK_LENGTH_START = 160 * 1024;
/** Items of a list that are packed in one step. */
const PIECE = 64;
const MANIFEST_CHECKSUM_LENGTH = 4;

const packr = newPackr();

/** The format of one store's snapshots; its id is in every chunk and manifest. */
export class SnapshotCodec implements SnapshotFormat {
  private readonly storeIdBytes: Buffer;

  constructor(private readonly storeId: string) {
    this.storeIdBytes = storeIdToBytes(storeId);
  }

  beginChunk(shard: number, id: string, index: number): ChunkWriter {
    const header = Buffer.alloc(HEADER_LENGTH);
    header.writeUInt8(SNAPSHOT_VERSION, 0);
    header.writeUInt16BE(shard, 2);
    header.writeUInt32BE(index, 4);
    assert(header.write(id, 16, 'hex') === 8, 'the id of a snapshot is 16 hexadecimal digits');
    this.storeIdBytes.copy(header, 24);
    return new Chunk(header);
  }

  sealManifest(manifest: Manifest): Buffer {
    const { id, shard, start, end, timeMs, players, chunks, marks } = manifest;
    const json = JSON.stringify({
      version: SNAPSHOT_VERSION,
      storeId: this.storeId,
      id,
      shard,
      start: headToTuple(start),
      end: headToTuple(end),
      timeMs,
      players,
      chunks: chunks.map(({ bytes, players, checksum }) => [bytes, players, checksum]),
      marks: marks.map(({ lsn, bytes }) => [lsn.epoch, lsn.sequence, bytes]),
    });
    const bytes = Buffer.from(json);
    const checksum = Buffer.alloc(MANIFEST_CHECKSUM_LENGTH);
    checksum.writeUInt32BE(crc32(bytes));
    return Buffer.concat([checksum, bytes]);
  }

  openManifest(bytes: Buffer): Manifest {
    const json = bytes.subarray(MANIFEST_CHECKSUM_LENGTH);
    if (bytes.length <= MANIFEST_CHECKSUM_LENGTH || bytes.readUInt32BE(0) !== crc32(json)) {
      throw new FormatError('the manifest is damaged: wrong checksum');
    }
    const stored = JSON.parse(json.toString()) as StoredManifest;
    if (stored.version !== SNAPSHOT_VERSION) {
      throw new UnknownFormatError(
        `snapshot version ${stored.version} is not known; this walletd reads version ${SNAPSHOT_VERSION}`,
      );
    }
    if (stored.storeId !== this.storeId) throw new FormatError(`the manifest is of another store: ${stored.storeId}`);
    const { id, shard, timeMs, players } = stored;
    const start = tupleToHead(stored.start);
    const end = tupleToHead(stored.end);
    const chunks = stored.chunks.map(([bytes, players, checksum]) => ({ bytes, players, checksum }));
    const marks = stored.marks.map(([epoch, sequence, bytes]) => ({ lsn: { epoch, sequence }, bytes }));
    return { id, shard, start, end, timeMs, players, chunks, marks };
  }

  checkChunk(manifest: Manifest, index: number, bytes: Buffer): void {
    checkChunk(bytes, manifest, index);
  }

  beginReading(manifest: Manifest): PackedReader {
    return new PackedChunks(manifest);
  }
}

type StoredHead = readonly [epoch: number, sequence: number, nonce: string, checksum: number];

interface StoredManifest extends Pick<Manifest, 'id' | 'shard' | 'timeMs' | 'players'> {
  readonly version: number;
  readonly storeId: string;
  readonly start: StoredHead;
  readonly end: StoredHead;
  readonly chunks: readonly (readonly [bytes: number, players: number, checksum: number])[];
  readonly marks: readonly (readonly [epoch: number, sequence: number, bytes: number])[];
}

function headToTuple({ lsn, nonce, checksum }: Head): StoredHead {
  return [lsn.epoch, lsn.sequence, nonce, checksum];
}

function tupleToHead([epoch, sequence, nonce, checksum]: StoredHead): Head {
  const lsn: Lsn = { epoch, sequence };
  return { lsn, nonce, checksum };
}

class Chunk implements ChunkWriter {
  byteLength = HEADER_LENGTH;
  private players = 0;
  private bytes = Buffer.allocUnsafe(CHUNK_LENGTH_START);

  constructor(header: Buffer) {
    header.copy(this.bytes);
  }

  *add(wallet: Wallet): Steps<boolean> {
    const { version } = wallet;
    for (const _step of this.write(wallet)) {
      yield;
      if (wallet.version !== version) return false;
    }
    return true;
  }

  private *write(wallet: Wallet): Steps<void> {
    const outline = yield* outlineOf(wallet);
    const { facts, rounds, transactions, operations, oldestMs, openBets } = outline;
    const at = this.byteLength;
    let end = at + RECORD_HEADER_LENGTH;
    if (Math.max(rounds.length, transactions.length, operations.length) <= PIECE) {
      end = this.put(packr.pack(imageFrom(outline)), end);
    } else {
      end = this.put(arrayHeader(facts.length + 3), end);
      for (const fact of facts) end = this.put(packr.pack(fact), end);
      for (const { length, images } of [rounds, transactions, operations]) {
        end = this.put(arrayHeader(length), end);
        for (let from = 0; from < length; from += PIECE) {
          const items = images(from, from + PIECE);
          end = this.put(packr.pack(items).subarray(arrayHeader(items.length).length), end);
          yield;
        }
      }
    }
    this.bytes.writeUInt32BE(end - at, at);
    this.bytes.writeUInt32BE(hashString(wallet.username), at + HASH_AT);
    this.bytes.writeDoubleBE(oldestMs, at + OLDEST_AT);
    this.bytes.writeUInt32BE(openBets, at + OPEN_BETS_AT);
    this.finishRecord(end);
  }

  addPacked(bytes: Uint8Array): void {
    this.finishRecord(this.put(bytes, this.byteLength));
  }

  seal(): { bytes: Buffer; summary: ChunkSummary } {
    const bytes = this.bytes.subarray(0, this.byteLength);
    bytes.writeUInt32BE(this.players, 8);
    const checksum = checksumOf(bytes);
    bytes.writeUInt32BE(checksum, CHECKSUM_AT);
    return { bytes, summary: { bytes: bytes.length, players: this.players, checksum } };
  }

  /** Writes at `at`, growing the chunk where needed; returns the end. */
  private put(piece: Uint8Array, at: number): number {
    const end = at + piece.length;
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, end));
      this.bytes.copy(larger, 0, 0, at);
      this.bytes = larger;
    }
    this.bytes.set(piece, at);
    return end;
  }

  /** Completes one more record, which ends there. */
  private finishRecord(end: number): void {
    this.byteLength = end;
    this.players++;
  }
}

/** The bytes with which msgpack begins an array. */
function arrayHeader(length: number): Uint8Array {
  if (length < 0x10) return Uint8Array.of(0x90 | length);
  if (length < 0x10000) return Uint8Array.of(0xdc, length >>> 8, length & 0xff);
  return Uint8Array.of(0xdd, length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff);
}

function checksumOf(bytes: Buffer): number {
  return crc32(bytes.subarray(CHECKSUM_AT + 4), crc32(bytes.subarray(0, CHECKSUM_AT)));
}

/**
 * Wallets in the chunks that they came in, and a table that finds them by name: a million of them take a few arrays of
 * numbers, and no object each.
 */
class PackedChunks implements PackedReader, PackedWallets {
  readonly count: number;
  private readonly chunks: Buffer[] = [];
  /** By position: the chunk, and the place in it. */
  private readonly chunkOf: Uint32Array;
  private readonly placeOf: Uint32Array;
  /** Position + 1 by hash of the name, with linear probing; 0 is free. */
  private readonly table: Uint32Array;
  private filled = 0;

  constructor(private readonly manifest: Manifest) {
    this.count = manifest.players;
    this.chunkOf = new Uint32Array(this.count);
    this.placeOf = new Uint32Array(this.count);
    this.table = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(2, this.count * 2))));
  }

  addChunk(bytes: Buffer): void {
    const index = this.chunks.length;
    checkChunk(bytes, this.manifest, index);
    this.chunks.push(bytes);
    for (let at = HEADER_LENGTH; at < bytes.length; at += bytes.readUInt32BE(at)) {
      this.enter(index, at, bytes.readUInt32BE(at + HASH_AT));
    }
  }

  finish(): PackedWallets {
    const { chunks } = this.manifest;
    if (this.chunks.length !== chunks.length || this.filled !== this.count) {
      throw new FormatError(
        `${this.chunks.length} of ${chunks.length} chunks, ${this.filled} of ${this.count} players`,
      );
    }
    return this;
  }

  find(username: string): number {
    const hash = hashString(username);
    const mask = this.table.length - 1;
    for (let slot = hash & mask; this.table[slot] !== 0; slot = (slot + 1) & mask) {
      const position = (this.table[slot] as number) - 1;
      const chunk = this.chunks[this.chunkOf[position] as number];
      if (chunk?.readUInt32BE((this.placeOf[position] as number) + HASH_AT) !== hash) continue;
      if (this.image(position)[0] === username) return position;
    }
    return -1;
  }

  unpack(position: number): Wallet {
    return walletFrom(this.image(position));
  }

  bytes(position: number): Uint8Array {
    const chunk = this.mustChunk(position);
    const at = this.placeOf[position] as number;
    return chunk.subarray(at, at + chunk.readUInt32BE(at));
  }

  openBets(position: number): number {
    return this.mustChunk(position).readUInt32BE((this.placeOf[position] as number) + OPEN_BETS_AT);
  }

  oldestMs(position: number): number {
    return this.mustChunk(position).readDoubleBE((this.placeOf[position] as number) + OLDEST_AT);
  }

  private enter(chunk: number, at: number, hash: number): void {
    const position = this.filled++;
    if (position >= this.count) throw new FormatError(`more than ${this.count} players`);
    this.chunkOf[position] = chunk;
    this.placeOf[position] = at;
    const mask = this.table.length - 1;
    let slot = hash & mask;
    while (this.table[slot] !== 0) slot = (slot + 1) & mask;
    this.table[slot] = position + 1;
  }

  private image(position: number): WalletImage {
    return packr.unpack(this.bytes(position).subarray(RECORD_HEADER_LENGTH)) as WalletImage;
  }

  private mustChunk(position: number): Buffer {
    const chunk = this.chunks[this.chunkOf[position] as number];
    assert(chunk !== undefined, 'a packed wallet has its chunk');
    return chunk;
  }
}

function checkChunk(bytes: Buffer, { id, shard, chunks }: Manifest, index: number): void {
  const wanted = chunks[index];
  const at = `chunk ${index} of snapshot ${id}`;
  if (wanted === undefined || bytes.length !== wanted.bytes || bytes.length < HEADER_LENGTH) {
    throw new FormatError(`${at} has ${bytes.length} bytes, and should have ${wanted?.bytes ?? 'none'}`);
  }
  const checksum = bytes.readUInt32BE(CHECKSUM_AT);
  if (checksum !== wanted.checksum || checksum !== checksumOf(bytes)) throw new FormatError(`${at} is damaged`);
  const isMine = bytes.readUInt16BE(2) === shard && bytes.toString('hex', 16, 24) === id;
  if (!isMine || bytes.readUInt8(0) !== SNAPSHOT_VERSION) throw new FormatError(`${at} is another one`);
}
