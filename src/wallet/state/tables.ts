import { assert } from '../../base/assert.js';
import { currentHashKey, type HashKey, keyedHash } from '../../base/keyed-hash.js';
import type { ByteWriter } from '../records/byte-writer.js';
import { Cursor, copyBytes, isTextAt, textBytesMax, textEnd, type WrittenText, writeText } from '../records/bytes.js';
import { Dictionary } from '../records/dictionary.js';
import { HashIndex } from '../records/hash-index.js';
import { beginsWith, type Prefix } from '../records/prefix.js';
import { Rows, SEGMENT_ROWS } from '../records/rows.js';
import { PAGE_BYTES, Slab } from '../records/slab.js';
import { PendingRequests } from './pending-requests.js';
import { namespaceIn } from './transaction-kind.js';

/*
 * The layout of the rows, in words and doubles (D_...); a double takes two words.
 *
 *   player       balance (D) | version | newest transaction, operation | open bets | transactions | flags
 *                | name | rare fields | oldest change, in seconds | tombstones | oldest change of a closed item, in seconds
 *                | oldest transaction
 *                  a hibernated player has the packed record in place of the newest transaction
 *   round        player | flags | newest transaction | id | messages about the whole round
 *   transaction  flags | round | older, newer of the player | next of the round | id and effects
 *                | created (D) | updated (D) | amount (D)
 *   operation    flags | player | older | id and reason | amount (D) | balance after (D) | time (D)
 */
export const D_PLAYER_BALANCE = 0;
export const PLAYER_VERSION = 2;
export const PLAYER_NEWEST = 3;
export const PLAYER_OPERATION = 4;
export const PLAYER_OPEN_BETS = 5;
export const PLAYER_TRANSACTIONS = 6;
export const PLAYER_FLAGS = 7;
export const PLAYER_NAME = 8;
export const PLAYER_RARE_FIELDS = 9;
export const PLAYER_OLDEST = 10;
export const PLAYER_TOMBSTONES = 11;
export const PLAYER_CLOSED = 12;
export const PLAYER_FIRST = 13;
const PLAYER_WORDS = 14;

export const ROUND_PLAYER = 0;
export const ROUND_FLAGS = 1;
export const ROUND_NEWEST = 2;
export const ROUND_ID = 3;
export const ROUND_MESSAGES = 4;
const ROUND_WORDS = 5;

export const TRANSACTION_FLAGS = 0;
export const TRANSACTION_ROUND = 1;
export const TRANSACTION_OLDER = 2;
export const TRANSACTION_NEWER = 3;
export const TRANSACTION_NEXT = 4;
export const TRANSACTION_BLOB = 5;
export const D_TRANSACTION_CREATED = 3;
export const D_TRANSACTION_UPDATED = 4;
export const D_TRANSACTION_AMOUNT = 5;
const TRANSACTION_WORDS = 12;

export const OPERATION_FLAGS = 0;
export const OPERATION_PLAYER = 1;
export const OPERATION_OLDER = 2;
export const OPERATION_BLOB = 3;
export const D_OPERATION_AMOUNT = 2;
export const D_OPERATION_AFTER = 3;
export const D_OPERATION_TIME = 4;
const OPERATION_WORDS = 10;

/** The position of the product number in `ROUND_FLAGS`, above the flags. */
export const ROUND_PRODUCT_SHIFT = 4;

/** The kind of a blob's owner: the word in a row that stores the blob's place, in the order of `OWNER_WORDS`. */
export type OwnerKind = 1 | 2 | 3 | 4 | 5 | 6 | 7;
export const NAME_OF_PLAYER: OwnerKind = 1;
export const RARE_FIELDS_OF_PLAYER: OwnerKind = 2;
export const ID_OF_ROUND: OwnerKind = 3;
export const MESSAGES_OF_ROUND: OwnerKind = 4;
export const BLOB_OF_TRANSACTION: OwnerKind = 5;
export const BLOB_OF_OPERATION: OwnerKind = 6;
export const BODY_OF_PLAYER: OwnerKind = 7;
const OWNER_WORDS = [
  0,
  PLAYER_NAME,
  PLAYER_RARE_FIELDS,
  ROUND_ID,
  ROUND_MESSAGES,
  TRANSACTION_BLOB,
  OPERATION_BLOB,
  PLAYER_NEWEST,
] as const;
const OWNER_SHIFT = 29;
const ROW_MAX = 2 ** OWNER_SHIFT - 1;

/**
 * Size of the prefix of a transaction's blob and of a round's messages. The prefix holds the number of bytes in use,
 * including itself.
 */
export const USED_BYTES = 4;
/** Scratch buffer for assembling a complete blob. The longest blobs belong to rounds with many messages. */
let scratch = Buffer.alloc(64 * 1024);

/** Scratch space for a blob, valid until the next call. */
export function scratchOf(length: number): Buffer {
  if (scratch.length < length) scratch = Buffer.alloc(length * 2);
  return scratch;
}

/** The text in its stored form, valid until the next use of `scratchOf`. */
export function writtenText(text: string): WrittenText {
  const bytes = scratchOf(textBytesMax(text));
  return { bytes, length: writeText(bytes, 0, text) };
}

/** Sizes of the allocation units. */
export interface TableSizes {
  readonly segmentRows: number;
  readonly pageBytes: number;
}

const SIZES: TableSizes = { segmentRows: SEGMENT_ROWS, pageBytes: PAGE_BYTES };
/** Table sizes for the working copy on which an array is decided. */
const WORKING_COPY_SIZES: TableSizes = { segmentRows: 64, pageBytes: 4096 };

/**
 * The records of one shard, outside V8's heap. The garbage collector sees only a few objects per megabyte, regardless
 * of the number of players. `Wallet`, `Round`, `Transaction` and `Operation` are short-lived views of these records,
 * valid for one turn.
 */
export class Tables {
  readonly players: Rows;
  readonly rounds: Rows;
  readonly transactions: Rows;
  readonly operations: Rows;
  readonly blobs: Slab;
  readonly products = new Dictionary();
  readonly currencies = new Dictionary();
  /** Operators' addresses and names; see operation.ts. */
  readonly operators = new Dictionary();
  private readonly playersByName = new HashIndex();
  private readonly roundsById = new HashIndex();
  /** Index by the namespaces of transaction-kind.ts. */
  private readonly transactionsById = new HashIndex();
  private readonly operationsById = new HashIndex();
  /** Requests that wait for a second operator. */
  readonly pending = new PendingRequests();
  private workingCopy: Tables | undefined = undefined;
  /**
   * Keys of the latest lookups, reused so that a lookup need not create a closure. A key that was not found is usually
   * inserted next.
   */
  private readonly playerKey: Key;
  private readonly roundKey: Key;
  private readonly transactionKey: Key;
  private readonly operationKey: Key;

  /**
   * `hashKey` is the secret key of the index hashes. Players, platforms and game providers choose ids, and must not be
   * able to create collisions.
   */
  constructor(
    sizes: TableSizes = SIZES,
    private readonly hashKey: HashKey = currentHashKey(),
  ) {
    const { segmentRows, pageBytes } = sizes;
    this.playerKey = new Key(hashKey);
    this.roundKey = new Key(hashKey);
    this.transactionKey = new Key(hashKey);
    this.operationKey = new Key(hashKey);
    this.players = new Rows(PLAYER_WORDS, segmentRows);
    this.rounds = new Rows(ROUND_WORDS, segmentRows);
    this.transactions = new Rows(TRANSACTION_WORDS, segmentRows);
    this.operations = new Rows(OPERATION_WORDS, segmentRows);
    this.blobs = new Slab(pageBytes);
  }

  /** Number of bytes that the tables occupy outside the heap. */
  get bytes(): number {
    return this.sumOf('bytes') + this.indexBytes;
  }

  get bytesUsed(): number {
    return this.sumOf('bytesUsed') + this.indexBytes;
  }

  expectPlayers(count: number): void {
    this.playersByName.expect(count);
  }

  /** Empty tables for a working copy of some records. Discards the previous working copy. */
  copyToWorkOn(): Tables {
    this.workingCopy ??= new Tables(WORKING_COPY_SIZES, this.hashKey);
    this.workingCopy.clear();
    return this.workingCopy;
  }

  findPlayer(username: string): number {
    this.playerKey.of(0, 0, username);
    return find(this.playersByName, this.playerKey, this.isPlayer);
  }

  findRound(player: number, product: number, id: string): number {
    this.roundKey.of(player, product, id);
    return find(this.roundsById, this.roundKey, this.isRound);
  }

  findTransaction(player: number, product: number, id: string, namespace: number): number {
    this.transactionKey.of(player, product, id, namespace);
    return find(this.transactionsById, this.transactionKey, this.isTransaction);
  }

  findOperation(player: number, id: string): number {
    return this.operationsById.find(this.operationKey.of(player, 0, id), this.isOperation);
  }

  /** Like `findPlayer`, but for a name in bytes. */
  findPlayerFrom(bytes: Buffer, start: number, end: number): number {
    return this.playersByName.find(this.playerKey.ofBytes(bytes, start, end), this.isPlayer);
  }

  /** Inserts the row under the name of the latest lookup, which found nothing. */
  enterPlayer(row: number): void {
    const { bytes, length, hash } = this.playerKey;
    this.players.wordsOf(row)[this.players.at(row) + PLAYER_NAME] = this.store(NAME_OF_PLAYER, row, bytes, length);
    this.playersByName.insert(hash, row);
    this.playerKey.row = UNKNOWN;
  }

  /** The hash of a key. If the key was the last one looked up, the hash is already known. */
  hashRound(player: number, product: number, id: string): number {
    return this.roundKey.of(player, product, id);
  }

  hashTransaction(player: number, product: number, id: string, namespace: number): number {
    return this.transactionKey.of(player, product, id, namespace);
  }

  /** Inserts a round whose key fields are already in its row. */
  enterRound(row: number, hash = this.hashOfRound(row)): void {
    this.roundsById.insert(hash, row);
    this.roundKey.row = UNKNOWN;
  }

  enterTransaction(row: number, hash = this.hashOfTransaction(row)): void {
    this.transactionsById.insert(hash, row);
    this.transactionKey.row = UNKNOWN;
  }

  enterOperation(row: number): void {
    this.operationsById.insert(this.hashOfOperation(row), row);
  }

  leaveRound(row: number): void {
    this.roundsById.delete(this.hashOfRound(row), row);
    this.roundKey.row = UNKNOWN;
  }

  leaveTransaction(row: number): void {
    this.transactionsById.delete(this.hashOfTransaction(row), row);
    this.transactionKey.row = UNKNOWN;
  }

  leaveOperation(row: number): void {
    this.operationsById.delete(this.hashOfOperation(row), row);
  }

  /** Stores these bytes as a blob. */
  store(kind: OwnerKind, row: number, bytes: Buffer, length: number, start = 0): number {
    const place = this.blobs.allocate(ownerOf(kind, row), length);
    copyBytes(bytes, start, this.blobs.bytesOf(place), this.blobs.startOf(place), length);
    return place;
  }

  /** Like `store`, but first writes the length prefix, which `bytes` does not include. */
  storeUsed(kind: OwnerKind, row: number, bytes: Buffer, length: number, start: number): number {
    const place = this.blobs.allocate(ownerOf(kind, row), USED_BYTES + length);
    const to = this.blobs.bytesOf(place);
    const at = this.blobs.startOf(place);
    writeUsed(to, at, USED_BYTES + length);
    copyBytes(bytes, start, to, at + USED_BYTES, length);
    return place;
  }

  /** Stores this text as a blob. */
  storeText(kind: OwnerKind, row: number, text: string): number {
    const bytes = scratchOf(text.length * 2 + 8);
    return this.store(kind, row, bytes, writeText(bytes, 0, text));
  }

  textAt(place: number): string {
    return this.cursorAt(place, 0).text();
  }

  /** True when the player's name starts with the prefix. Needs no view of the player. */
  isPlayerCalled(row: number, prefix: Prefix): boolean {
    const place = this.players.wordsOf(row)[this.players.at(row) + PLAYER_NAME] as number;
    return beginsWith(this.blobs.bytesOf(place), this.blobs.startOf(place), prefix);
  }

  /** Copies a text in its stored form. */
  writeText(writer: ByteWriter, place: number): void {
    const bytes = this.blobs.bytesOf(place);
    const start = this.blobs.startOf(place);
    writer.copy(bytes, start, textEnd(bytes, start));
  }

  isTextAt(place: number, offset: number, text: WrittenText): boolean {
    return isTextAt(this.blobs.bytesOf(place), this.blobs.startOf(place) + offset, text);
  }

  cursorAt(place: number, offset: number): Cursor {
    return new Cursor(this.blobs.bytesOf(place), this.blobs.startOf(place) + offset);
  }

  /** Replaces a blob (0 for none); returns its new place. */
  replace(place: number, kind: OwnerKind, row: number, bytes: Buffer, length: number): number {
    if (place !== 0 && length <= this.blobs.roomOf(place)) {
      copyBytes(bytes, 0, this.blobs.bytesOf(place), this.blobs.startOf(place), length);
      return place;
    }
    const grown = this.store(kind, row, bytes, length);
    if (place !== 0) this.blobs.free(place);
    return grown;
  }

  /** Appends to a blob that has a length prefix; returns the blob's new place. */
  append(place: number, kind: OwnerKind, row: number, bytes: Buffer, length: number): number {
    const { blobs } = this;
    const from = blobs.bytesOf(place);
    const start = blobs.startOf(place);
    const used = readUsed(from, start);
    let now = place;
    if (used + length > blobs.roomOf(place)) {
      now = blobs.allocate(ownerOf(kind, row), used + length);
      copyBytes(from, start, blobs.bytesOf(now), blobs.startOf(now), used);
    }
    const to = blobs.bytesOf(now);
    const at = blobs.startOf(now);
    copyBytes(bytes, 0, to, at + used, length);
    writeUsed(to, at, used + length);
    if (now !== place) blobs.free(place);
    return now;
  }

  /** Runs a short step of compaction, which takes a fraction of a millisecond. Returns true at the end of a cycle. */
  compact(): boolean {
    return this.blobs.compact(this.onMove);
  }

  private readonly onMove = (owner: number, place: number): void => {
    const kind = owner >>> OWNER_SHIFT;
    const row = owner & ROW_MAX;
    const rows = this.rowsOf(kind as OwnerKind);
    rows.wordsOf(row)[rows.at(row) + (OWNER_WORDS[kind] as number)] = place;
  };

  private rowsOf(kind: OwnerKind): Rows {
    if (kind <= RARE_FIELDS_OF_PLAYER || kind === BODY_OF_PLAYER) return this.players;
    if (kind <= MESSAGES_OF_ROUND) return this.rounds;
    return kind === BLOB_OF_TRANSACTION ? this.transactions : this.operations;
  }

  private readonly isPlayer = (row: number): boolean => {
    const place = this.players.wordsOf(row)[this.players.at(row) + PLAYER_NAME] as number;
    return this.isTextAt(place, 0, this.playerKey);
  };

  private readonly isRound = (row: number): boolean => {
    const words = this.rounds.wordsOf(row);
    const at = this.rounds.at(row);
    return this.isIn(this.roundKey, row) && this.isTextAt(words[at + ROUND_ID] as number, 0, this.roundKey);
  };

  private readonly isTransaction = (row: number): boolean => {
    const words = this.transactions.wordsOf(row);
    const at = this.transactions.at(row);
    const key = this.transactionKey;
    if (namespaceIn(words[at + TRANSACTION_FLAGS] as number) !== key.namespace) return false;
    const isIn = this.isIn(key, words[at + TRANSACTION_ROUND] as number);
    return isIn && this.isTextAt(words[at + TRANSACTION_BLOB] as number, USED_BYTES, key);
  };

  private readonly isOperation = (row: number): boolean => {
    const words = this.operations.wordsOf(row);
    const at = this.operations.at(row);
    const key = this.operationKey;
    return words[at + OPERATION_PLAYER] === key.player && this.isTextAt(words[at + OPERATION_BLOB] as number, 0, key);
  };

  /** True if the round has the key's player and product. */
  private isIn({ player, product }: Key, round: number): boolean {
    const words = this.rounds.wordsOf(round);
    const at = this.rounds.at(round);
    return (
      words[at + ROUND_PLAYER] === player && (words[at + ROUND_FLAGS] as number) >>> ROUND_PRODUCT_SHIFT === product
    );
  }

  private hashOfRound(row: number): number {
    const words = this.rounds.wordsOf(row);
    const at = this.rounds.at(row);
    return this.hashAt(words[at + ROUND_PLAYER] as number, this.scopeOfRound(row), words[at + ROUND_ID] as number, 0);
  }

  private hashOfTransaction(row: number): number {
    const words = this.transactions.wordsOf(row);
    const at = this.transactions.at(row);
    const round = words[at + TRANSACTION_ROUND] as number;
    const player = this.rounds.wordsOf(round)[this.rounds.at(round) + ROUND_PLAYER] as number;
    const scope = this.scopeOfRound(round, namespaceIn(words[at + TRANSACTION_FLAGS] as number));
    return this.hashAt(player, scope, words[at + TRANSACTION_BLOB] as number, USED_BYTES);
  }

  private hashOfOperation(row: number): number {
    const words = this.operations.wordsOf(row);
    const at = this.operations.at(row);
    return this.hashAt(words[at + OPERATION_PLAYER] as number, 0, words[at + OPERATION_BLOB] as number, 0);
  }

  private scopeOfRound(row: number, namespace = 0): number {
    const facts = this.rounds.wordsOf(row)[this.rounds.at(row) + ROUND_FLAGS] as number;
    return scopeOf(facts >>> ROUND_PRODUCT_SHIFT, namespace);
  }

  private hashAt(player: number, scope: number, place: number, offset: number): number {
    const bytes = this.blobs.bytesOf(place);
    const start = this.blobs.startOf(place) + offset;
    return keyedHash(this.hashKey, player, scope, bytes, start, textEnd(bytes, start));
  }

  private get indexBytes(): number {
    const { playersByName, roundsById, transactionsById, operationsById } = this;
    return playersByName.bytes + roundsById.bytes + transactionsById.bytes + operationsById.bytes;
  }

  private sumOf(what: 'bytes' | 'bytesUsed'): number {
    const { players, rounds, transactions, operations, blobs } = this;
    return players[what] + rounds[what] + transactions[what] + operations[what] + blobs[what];
  }

  private clear(): void {
    for (const rows of [this.players, this.rounds, this.transactions, this.operations]) rows.clear();
    this.blobs.clear();
    for (const index of [this.playersByName, this.roundsById, this.transactionsById, this.operationsById])
      index.clear();
    for (const key of [this.playerKey, this.roundKey, this.transactionKey]) key.row = UNKNOWN;
    this.products.clear();
    this.currencies.clear();
    this.operators.clear();
  }
}

const NAMESPACE_BITS = 3;
/** Initial size, sufficient for most ids. */
const KEY_BYTES = 256;

/** The row that is cached for the latest key; undefined after an insert or a delete. */
const UNKNOWN = -1;

/** Caches the hash and row of the latest key, because a command uses the same key several times. */
class Key {
  player = 0;
  product = 0;
  namespace = 0;
  /** The text in the stored form of blobs. */
  bytes = Buffer.alloc(KEY_BYTES);
  length = 0;
  private text: string | undefined = undefined;
  hash = 0;
  /** The row with this key; 0 if there is none. */
  row = UNKNOWN;

  constructor(private readonly hashKey: HashKey) {}

  /** Like `of`, but for a player's name. */
  ofBytes(bytes: Buffer, start: number, end: number): number {
    this.player = 0;
    this.product = 0;
    this.text = undefined;
    this.length = end - start;
    if (this.length > this.bytes.length) this.bytes = Buffer.alloc(this.length * 2);
    copyBytes(bytes, start, this.bytes, 0, this.length);
    this.hash = keyedHash(this.hashKey, 0, 0, bytes, start, end);
    this.row = UNKNOWN;
    return this.hash;
  }

  /** The hash of this key. */
  of(player: number, product: number, text: string, namespace = 0): number {
    const isSameSpace = player === this.player && product === this.product && namespace === this.namespace;
    if (text === this.text && isSameSpace) return this.hash;
    this.text = text;
    this.player = player;
    this.product = product;
    this.namespace = namespace;
    if (textBytesMax(text) > this.bytes.length) this.bytes = Buffer.alloc(textBytesMax(text) * 2);
    this.length = writeText(this.bytes, 0, text);
    this.hash = keyedHash(this.hashKey, player, scopeOf(product, namespace), this.bytes, 0, this.length);
    this.row = UNKNOWN;
    return this.hash;
  }
}

/**
 * Combines product and namespace into one number, within which a player's ids are unique; see transaction-kind.ts.
 * Product numbers have 28 bits.
 */
function scopeOf(product: number, namespace: number): number {
  return (product << NAMESPACE_BITS) | namespace;
}

function find(index: HashIndex, key: Key, is: (row: number) => boolean): number {
  if (key.row === UNKNOWN) key.row = index.find(key.hash, is);
  return key.row;
}

/** Number of bytes in use, from the prefix of a blob. */
export function readUsed(bytes: Buffer, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

export function writeUsed(bytes: Buffer, at: number, used: number): void {
  bytes[at] = used & 0xff;
  bytes[at + 1] = (used >>> 8) & 0xff;
  bytes[at + 2] = (used >>> 16) & 0xff;
  bytes[at + 3] = used >>> 24;
}

function ownerOf(kind: OwnerKind, row: number): number {
  assert(row <= ROW_MAX, 'an owner has 29 bits');
  return ((kind << OWNER_SHIFT) | row) >>> 0;
}
