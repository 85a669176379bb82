import { crc32 } from 'node:zlib';
import { assert, must } from '../../base/assert.js';
import type { Steps } from '../../base/steps.js';
import type { Lsn } from '../../ports/lsn.js';
import type {
  ChunkSummary,
  ChunkWriter,
  Manifest,
  SnapshotFormat,
  SnapshotWallets,
} from '../../ports/snapshot-store.js';
import type { Head } from '../../ports/wal.js';
import { checkWallet } from '../../wallet/invariants.js';
import { ByteWriter } from '../../wallet/records/byte-writer.js';
import { Cursor, isTextAt, type WrittenText } from '../../wallet/records/bytes.js';
import type { TableSizes } from '../../wallet/state/tables.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { operationsIn, writeBody } from '../../wallet/state/wallet-body.js';
import { addImage, type WalletImage } from '../../wallet/state/wallet-image.js';
import { Wallets } from '../../wallet/state/wallets.js';
import { storeIdToBytes } from './entry-codec.js';
import { FormatError, UnknownFormatError } from './format-error.js';
import { FormatGate } from './format-gate.js';
import { newPackr } from './msgpack.js';

/*
 * A chunk:
 *
 *  0        1          2       4       8         12         16            24         40
 *  | format | reserved | shard | index | players | checksum | snapshot id | store id | wallets ...
 *
 * In formats 2 to 5 each wallet is its length (32 bits, which count themselves), then the fields below, encoded as in
 * src/wallet/records/bytes.ts. Format 3 adds transaction kinds, format 4 remembered messages, and format 5 money that
 * waits for approval.
 *
 *   username (text), currency (text), balance (signed), version (number), flags (byte): 1 blocked
 *   open bets, tombstones, transactions (numbers); oldest change (number: seconds; 2^32 - 1: none)
 *   body: src/wallet/state/wallet-body.ts
 *
 * Format 1, which is read but no longer written:
 *
 *  0        4      8           16          20
 *  | length | hash | oldest ms | open bets | msgpack of the serialized wallet
 *
 * Integers are big-endian. Checksums are CRC-32 of all other bytes. A manifest is its checksum, then JSON.
 */
export const SNAPSHOT_VERSION = 5;
const IMAGES_VERSION = 1;
/** Versions that can be written, newest first. Each names the store format that introduced it; see format-gate.ts. */
const WRITTEN_VERSIONS: readonly { readonly version: number; readonly storeFormat: number }[] = [
  { version: SNAPSHOT_VERSION, storeFormat: 4 },
  { version: 4, storeFormat: 3 },
  { version: 3, storeFormat: 2 },
  { version: 2, storeFormat: 1 },
];
const READ_VERSIONS: readonly number[] = [IMAGES_VERSION, ...WRITTEN_VERSIONS.map(({ version }) => version)];
const HEADER_LENGTH = 40;
const CHECKSUM_AT = 12;
const LENGTH_BYTES = 4;
const BLOCKED = 1;
/** Length of a wallet header in format 1. */
const RECORD_HEADER_LENGTH = 20;
const MANIFEST_CHECKSUM_LENGTH = 4;
/** Number of wallets read per step. */
const STEP = 32;

const packr = newPackr();

/** The snapshot format of one store. Every chunk and manifest contains the store's id. */
export class SnapshotCodec implements SnapshotFormat {
  private readonly storeIdBytes: Buffer;

  constructor(
    private readonly storeId: string,
    private readonly gate = new FormatGate(),
    private readonly sizes?: TableSizes,
  ) {
    this.storeIdBytes = storeIdToBytes(storeId);
  }

  beginChunk(shard: number, id: string, index: number): ChunkWriter {
    const header = Buffer.alloc(HEADER_LENGTH);
    header.writeUInt8(this.version, 0);
    header.writeUInt16BE(shard, 2);
    header.writeUInt32BE(index, 4);
    assert(header.write(id, 16, 'hex') === 8, 'the id of a snapshot is 16 hexadecimal digits');
    this.storeIdBytes.copy(header, 24);
    return new Chunk(header);
  }

  sealManifest(manifest: Manifest): Buffer {
    const { id, shard, start, end, timeMs, players, chunks, tallies, marks } = manifest;
    const json = JSON.stringify({
      version: this.version,
      storeId: this.storeId,
      id,
      shard,
      start: headToTuple(start),
      end: headToTuple(end),
      timeMs,
      players,
      chunks: chunks.map(({ bytes, players, checksum }) => [bytes, players, checksum]),
      marks: marks.map(({ lsn, bytes }) => [lsn.epoch, lsn.sequence, bytes]),
      tallies,
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
    if (!READ_VERSIONS.includes(stored.version)) {
      throw new UnknownFormatError('the snapshot', `format ${stored.version}`);
    }
    if (stored.storeId !== this.storeId)
      throw new FormatError(`the manifest belongs to a different store: ${stored.storeId}`);
    const written = WRITTEN_VERSIONS.find(({ version }) => version === stored.version);
    if (written !== undefined) this.gate.open(written.storeFormat);
    const { id, shard, timeMs, players, tallies } = stored;
    const start = tupleToHead(stored.start);
    const end = tupleToHead(stored.end);
    const chunks = stored.chunks.map(([bytes, players, checksum]) => ({ bytes, players, checksum }));
    const marks = stored.marks.map(([epoch, sequence, bytes]) => ({ lsn: { epoch, sequence }, bytes }));
    return { id, shard, start, end, timeMs, players, chunks, tallies, marks };
  }

  /** The newest version that every node can read. */
  private get version(): number {
    const written = WRITTEN_VERSIONS.find(({ storeFormat }) => this.gate.allows(storeFormat));
    return must(written, 'every node reads the first format').version;
  }

  checkChunk(manifest: Manifest, index: number, bytes: Buffer): void {
    checkChunk(bytes, manifest, index);
  }

  beginReading(manifest: Manifest): SnapshotWallets {
    return new Chunks(manifest, this.sizes);
  }
}

type StoredHead = readonly [epoch: number, sequence: number, nonce: string, checksum: number];

interface StoredManifest extends Pick<Manifest, 'id' | 'shard' | 'timeMs' | 'players' | 'tallies'> {
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
  private players = 0;
  private readonly bytes = new ByteWriter();
  /** Offset of the end of the last complete wallet. */
  private end = 0;

  constructor(header: Buffer) {
    this.bytes.copy(header, 0, header.length);
    this.end = header.length;
  }

  get byteLength(): number {
    return this.bytes.length;
  }

  *add(wallet: Wallet): Steps<boolean> {
    const { bytes } = this;
    const { version } = wallet;
    const at = bytes.length;
    bytes.length += LENGTH_BYTES;
    writeRow(bytes, wallet);
    if (wallet.isPacked) {
      const { bytes: body, at: start } = wallet.body;
      bytes.copy(body, start, wallet.bodyEnd);
    } else {
      const { isShort } = wallet;
      for (const _step of writeBody(bytes, wallet)) {
        // Never yield within a short wallet, because it could be hibernated before this code resumes. A long wallet
        // becomes short only through an event, which also changes its version.
        if (isShort) continue;
        yield;
        if (wallet.version === version) continue;
        bytes.length = at;
        return false;
      }
    }
    bytes.uint32At(at, bytes.length - at);
    this.end = bytes.length;
    this.players++;
    return true;
  }

  seal(): { bytes: Buffer; summary: ChunkSummary } {
    assert(this.bytes.length === this.end, 'a chunk ends between two wallets');
    const bytes = this.bytes.written;
    bytes.writeUInt32BE(this.players, 8);
    const checksum = checksumOf(bytes);
    bytes.writeUInt32BE(checksum, CHECKSUM_AT);
    return { bytes, summary: { bytes: bytes.length, players: this.players, checksum } };
  }
}

function writeRow(bytes: ByteWriter, wallet: Wallet): void {
  bytes.text(wallet.username);
  bytes.text(wallet.currency);
  bytes.signed(wallet.balance);
  bytes.number(wallet.version);
  bytes.byte(wallet.blocked ? BLOCKED : 0);
  const { openBets, tombstones, transactions, oldestSeconds } = wallet.counts;
  bytes.number(openBets);
  bytes.number(tombstones);
  bytes.number(transactions);
  bytes.number(oldestSeconds);
}

function checksumOf(bytes: Buffer): number {
  return crc32(bytes.subarray(CHECKSUM_AT + 4), crc32(bytes.subarray(0, CHECKSUM_AT)));
}

/** Reads chunks into the wallets of one shard. */
class Chunks implements SnapshotWallets {
  private readonly wallets: Wallets;
  private count = 0;
  private currency = '';
  /** The encoded bytes of `currency`, as they appear in chunks. */
  private currencyText: WrittenText | undefined = undefined;

  constructor(
    private readonly manifest: Manifest,
    sizes?: TableSizes,
  ) {
    this.wallets = new Wallets(sizes);
    this.wallets.expect(manifest.players);
  }

  *addChunk(bytes: Buffer): Steps<void> {
    checkChunk(bytes, this.manifest, this.count++);
    const isPacked = bytes.readUInt8(0) !== IMAGES_VERSION;
    for (let at = HEADER_LENGTH, gone = 1; at < bytes.length; gone++) {
      const end = at + bytes.readUInt32BE(at);
      if (isPacked) {
        // Nearly all wallets are short, so a generator is created only for long ones.
        const steps = this.read(bytes, at, end);
        if (steps !== undefined) yield* steps;
      } else {
        this.readImage(bytes, at, end);
      }
      at = end;
      if (gone % STEP === 0) yield;
    }
  }

  finish(): Wallets {
    const { chunks, players } = this.manifest;
    const { count } = this.wallets;
    if (this.count !== chunks.length || count !== players) {
      throw new FormatError(`${this.count} of ${chunks.length} chunks, ${count} of ${players} players`);
    }
    return this.wallets;
  }

  /** Reads a short wallet at once. For a long wallet, returns the steps that remain. */
  private read(bytes: Buffer, at: number, end: number): Steps<void> | undefined {
    const cursor = new Cursor(bytes, at + LENGTH_BYTES);
    const nameAt = cursor.at;
    cursor.skipText();
    const nameEnd = cursor.at;
    const wallet = this.wallets.createFrom(bytes, nameAt, nameEnd, this.readCurrency(cursor));
    wallet.balance = cursor.signed();
    wallet.version = cursor.number();
    wallet.blocked = (cursor.byte() & BLOCKED) !== 0;
    const openBets = cursor.number();
    const tombstones = cursor.number();
    const transactions = cursor.number();
    const oldestSeconds = cursor.number();
    const start = cursor.at;
    const items = transactions + operationsIn(cursor);
    const counts = { openBets, tombstones, transactions, oldestSeconds };
    return this.wallets.load(wallet, counts, items, bytes, start, end - start);
  }

  /** Most wallets have the same currency as the one before. */
  private readCurrency(cursor: Cursor): string {
    const { currency, currencyText } = this;
    if (currencyText !== undefined && isTextAt(cursor.bytes, cursor.at, currencyText)) {
      cursor.at += currencyText.length;
      return currency;
    }
    const { at } = cursor;
    this.currency = cursor.text();
    const bytes = Buffer.from(cursor.bytes.subarray(at, cursor.at));
    this.currencyText = { bytes, length: bytes.length };
    return this.currency;
  }

  private readImage(bytes: Buffer, at: number, end: number): void {
    const image = packr.unpack(bytes.subarray(at + RECORD_HEADER_LENGTH, end)) as WalletImage;
    checkWallet(addImage(this.wallets, image));
  }
}

function checkChunk(bytes: Buffer, { id, shard, chunks }: Manifest, index: number): void {
  const wanted = chunks[index];
  const at = `chunk ${index} of snapshot ${id}`;
  if (wanted === undefined || bytes.length !== wanted.bytes || bytes.length < HEADER_LENGTH) {
    throw new FormatError(`${at} has ${bytes.length} bytes, but should have ${wanted?.bytes ?? 'none'}`);
  }
  const checksum = bytes.readUInt32BE(CHECKSUM_AT);
  if (checksum !== wanted.checksum || checksum !== checksumOf(bytes)) throw new FormatError(`${at} is damaged`);
  const isMine = bytes.readUInt16BE(2) === shard && bytes.toString('hex', 16, 24) === id;
  if (!isMine || !READ_VERSIONS.includes(bytes.readUInt8(0))) throw new FormatError(`${at} is a different chunk`);
}
