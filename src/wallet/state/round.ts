import type { Units } from '../amount.js';
import type { ByteWriter } from '../records/byte-writer.js';
import {
  Cursor,
  isTextAt,
  NUMBER_BYTES_MAX,
  textBytesMax,
  writeNumber,
  writeSigned,
  writeText,
} from '../records/bytes.js';
import {
  MESSAGES_OF_ROUND,
  ROUND_FLAGS,
  ROUND_ID,
  ROUND_MESSAGES,
  ROUND_NEWEST,
  ROUND_PRODUCT_SHIFT,
  readUsed,
  scratchOf,
  type Tables,
  TRANSACTION_NEXT,
  TRANSACTION_ROUND,
  USED_BYTES,
  writtenText,
} from './tables.js';
import { type FirstAnswer, isClosedAt, TransactionRecord } from './transaction-record.js';

/** The name of a round, unique per player. */
export interface RoundName {
  readonly productId: string;
  readonly roundId: string;
}

/** A transaction in its round. */
export class Transaction extends TransactionRecord {
  private cachedRound: Round | undefined = undefined;

  get round(): Round {
    this.cachedRound ??= new Round(this.tables, this.words[this.at + TRANSACTION_ROUND] as number);
    return this.cachedRound;
  }
}

/** A payout BY_ROUND and the bets that it settled. If it is a further payout for the same round, it settled no bets. */
export interface Settlement {
  readonly transaction: Transaction;
  readonly bets: readonly Transaction[];
}

/**
 * A cancel, void or rollback BY_ROUND. A cancel or void is found by the id of its message, a rollback by the id of its
 * request.
 */
export interface RoundClosing extends FirstAnswer {
  readonly type: 'cancel' | 'void' | 'rollback';
  readonly id: string;
  /**
   * Present for a cancel, so that a retry after a rollback is recognized. Undefined if an older walletd wrote the
   * cancel.
   */
  readonly requestHash?: number | undefined;
}

/** A message that the round remembers in full, with its answer; see `MessageRemembered` in src/wallet/event.ts. */
export interface RememberedMessage {
  readonly hash: number;
  readonly before: Units;
  readonly after: Units;
}

/*
 * Flags of a round, stored below its product number.
 */
const ENDED = 1;
const KNOWN = 2;
const KEPT = 4;

/*
 * Messages about the whole round, in a blob that few rounds have:
 *
 *   used (u32) | mark (double) | message ...
 *
 *   byte 0       a settlement: its row (number), number of bytes that follow (number), the rows of its bets (numbers)
 *   byte 1, 2    a cancel, a void: id (text), balance before, after (signed), version (number)
 *   byte 3       a rollback: the same, with the id of its request
 *   byte 4       a cancel: the same as 1, then the hash of its request (number)
 *   byte 5       a settle or cancel that a rollback has undone: the hash of its request (number)
 *   byte 6       a remembered message: its hash (number), balance before, after (signed)
 */
const MARK_AT = USED_BYTES;
const MESSAGES_AT = MARK_AT + 8;
const SETTLEMENT = 0;
const CLOSINGS: readonly (RoundClosing['type'] | undefined)[] = [undefined, 'cancel', 'void', 'rollback', 'cancel'];
const HASHED_CANCEL = 4;
const UNDONE = 5;
const REMEMBERED = 6;
const CLOSING_BYTES_MAX = 1 + 4 * (NUMBER_BYTES_MAX + 1);
const NO_MARK = -1;

/**
 * One player's transactions in one round of a product. In docs/decisions.md, only bets are transactions of a round.
 * Tips, tombstones, settlements and marks are also members here, but a round that has only such members counts as
 * unknown.
 *
 *   newest ──next──> oldest ──next──> ... ──next──> newest
 */
export class Round {
  private readonly words: Uint32Array;
  private readonly at: number;

  constructor(
    private readonly tables: Tables,
    readonly row: number,
  ) {
    this.words = tables.rounds.wordsOf(row);
    this.at = tables.rounds.at(row);
  }

  get productId(): string {
    return this.tables.products.text(this.product);
  }

  /** The number of the product. */
  get product(): number {
    return this.facts >>> ROUND_PRODUCT_SHIFT;
  }

  get id(): string {
    return this.tables.textAt(this.words[this.at + ROUND_ID] as number);
  }

  /** Writes the id in its stored form. */
  writeId(bytes: ByteWriter): void {
    this.tables.writeText(bytes, this.words[this.at + ROUND_ID] as number);
  }

  get isKnown(): boolean {
    return (this.facts & KNOWN) !== 0;
  }

  /** True after a payout with `isEndRound`. */
  get ended(): boolean {
    return (this.facts & ENDED) !== 0;
  }

  end(): void {
    this.facts |= ENDED;
  }

  /** Clears `ended` after a rollback. */
  resume(): void {
    this.facts &= ~ENDED;
  }

  /** A flag that code sets temporarily while it visits all rounds of a wallet. At all other times it is false. */
  get isKept(): boolean {
    return (this.facts & KEPT) !== 0;
  }

  set isKept(isKept: boolean) {
    this.facts = isKept ? this.facts | KEPT : this.facts & ~KEPT;
  }

  /** The bets, oldest first. */
  get bets(): Transaction[] {
    return this.members().filter(({ isBet }) => isBet);
  }

  /** All of the round's transactions, oldest first. */
  members(): Transaction[] {
    const members: Transaction[] = [];
    const newest = this.newest;
    if (newest === 0) return members;
    let row = newest;
    do {
      row = this.nextOf(row);
      members.push(new Transaction(this.tables, row));
    } while (row !== newest);
    return members;
  }

  /**
   * True when nothing in the round is open or has changed since this time. Reads the rows directly for speed, because
   * each round that leaves memory is checked twice.
   */
  isClosedSince(timeMs: number): boolean {
    const { newest, tables } = this;
    if (newest === 0) return true;
    let row = newest;
    do {
      row = this.nextOf(row);
      if (!isClosedAt(tables, row, timeMs)) return false;
    } while (row !== newest);
    return true;
  }

  /** Adds a member. Called only by `Wallet.add`. */
  add(item: Transaction): void {
    const newest = this.newest;
    const { transactions } = this.tables;
    const next = newest === 0 ? item.row : this.nextOf(newest);
    if (newest !== 0) transactions.wordsOf(newest)[transactions.at(newest) + TRANSACTION_NEXT] = item.row;
    transactions.wordsOf(item.row)[transactions.at(item.row) + TRANSACTION_NEXT] = next;
    this.words[this.at + ROUND_NEWEST] = item.row;
    if (item.isBet) this.facts |= KNOWN;
  }

  /** Records the time of a change to the whole round. */
  touch(timeMs: number): void {
    const item = this.bearer ?? this.members().at(-1);
    item?.touch(timeMs);
  }

  /**
   * The transaction that stores the time of the round's last change: the newest bet, or the mark if there is no bet.
   */
  get bearer(): Transaction | undefined {
    let bearer: Transaction | undefined;
    for (const member of this.members()) {
      if (member.isBet || (bearer === undefined && member.kind === 'mark')) bearer = member;
    }
    return bearer;
  }

  /**
   * The time of the latest cancel BY_ROUND, by the platform's clock. Bets sent no later than this are refused. -1 if
   * there was no such cancel.
   */
  get markMs(): number {
    const place = this.messages;
    if (place === 0) return NO_MARK;
    const { blobs } = this.tables;
    return blobs.bytesOf(place).readDoubleLE(blobs.startOf(place) + MARK_AT);
  }

  mark(markMs: number): void {
    const place = this.messagesOrNew();
    const { blobs } = this.tables;
    blobs.bytesOf(place).writeDoubleLE(markMs, blobs.startOf(place) + MARK_AT);
  }

  /** True for a round that has messages BY_ROUND or remembered messages. */
  get hasMessages(): boolean {
    return this.messages !== 0;
  }

  /** The settlements, oldest first. Their ids are unique within the round. */
  get settlements(): Settlement[] {
    const settlements: Settlement[] = [];
    this.findMessage((cursor, tag) => {
      if (tag === SETTLEMENT) settlements.push(readSettlement(this.tables, cursor));
      else skipMessage(cursor, tag);
    });
    return settlements;
  }

  get closings(): RoundClosing[] {
    const closings: RoundClosing[] = [];
    this.findMessage((cursor, tag) => {
      if (CLOSINGS[tag] === undefined) skipMessage(cursor, tag);
      else closings.push(readClosing(cursor, tag));
    });
    return closings;
  }

  /** Request hashes of settles and cancels BY_ROUND that rollbacks have undone. */
  get undoneHashes(): number[] {
    const hashes: number[] = [];
    this.findMessage((cursor, tag) => {
      if (tag === UNDONE) hashes.push(cursor.number());
      else skipMessage(cursor, tag);
    });
    return hashes;
  }

  get settlementCount(): number {
    return this.countMessages((tag) => tag === SETTLEMENT);
  }

  /** Number of closings, including undone ones. */
  get closingCount(): number {
    return this.countMessages((tag) => tag !== SETTLEMENT && tag !== REMEMBERED);
  }

  get rememberedCount(): number {
    return this.countMessages((tag) => tag === REMEMBERED);
  }

  /** The remembered messages, oldest first. */
  get remembered(): RememberedMessage[] {
    const messages: RememberedMessage[] = [];
    this.findMessage((cursor, tag) => {
      if (tag === REMEMBERED) messages.push(readRemembered(cursor));
      else skipMessage(cursor, tag);
    });
    return messages;
  }

  get undoneCount(): number {
    return this.countMessages((tag) => tag === UNDONE);
  }

  addSettlement({ transaction, bets }: Settlement): void {
    const listBytes = bets.length * NUMBER_BYTES_MAX;
    const bytes = scratchOf(1 + 2 * NUMBER_BYTES_MAX + 2 * listBytes);
    // The list is preceded by its length. Leave enough space, write the list, and then write its length in front.
    const listAt = 1 + 2 * NUMBER_BYTES_MAX + listBytes;
    let listEnd = listAt;
    for (const { row } of bets) listEnd = writeNumber(bytes, listEnd, row);
    bytes[0] = SETTLEMENT;
    let end = writeNumber(bytes, 1, transaction.row);
    end = writeNumber(bytes, end, listEnd - listAt);
    end += bytes.copy(bytes, end, listAt, listEnd);
    this.append(bytes, end);
  }

  addClosing({ type, id, before, after, version, requestHash }: RoundClosing): void {
    const bytes = scratchOf(CLOSING_BYTES_MAX + textBytesMax(id));
    bytes[0] = requestHash === undefined ? CLOSINGS.indexOf(type) : HASHED_CANCEL;
    let end = writeText(bytes, 1, id);
    end = writeSigned(bytes, end, before);
    end = writeSigned(bytes, end, after);
    end = writeNumber(bytes, end, version);
    if (requestHash !== undefined) end = writeNumber(bytes, end, requestHash);
    this.append(bytes, end);
  }

  addUndone(requestHash: number): void {
    const bytes = scratchOf(1 + NUMBER_BYTES_MAX);
    bytes[0] = UNDONE;
    this.append(bytes, writeNumber(bytes, 1, requestHash));
  }

  addRemembered({ hash, before, after }: RememberedMessage): void {
    const bytes = scratchOf(1 + 3 * (NUMBER_BYTES_MAX + 1));
    bytes[0] = REMEMBERED;
    let end = writeNumber(bytes, 1, hash);
    end = writeSigned(bytes, end, before);
    end = writeSigned(bytes, end, after);
    this.append(bytes, end);
  }

  /**
   * Forgets messages that a rollback has undone, but keeps the hashes of their requests. Their settlements remain
   * members until the caller drops them.
   */
  forget(isForgotten: {
    settlement?: (item: Transaction) => boolean;
    closing?: (closing: RoundClosing) => boolean;
  }): void {
    const place = this.messages;
    if (place === 0) return;
    const { settlement = () => false, closing = () => false } = isForgotten;
    const { markMs, closings, remembered } = this;
    const settlements = this.settlements.map(({ transaction, bets }) => ({ transaction, bets }));
    const undone = [
      ...this.undoneHashes,
      ...settlements.flatMap(({ transaction }) => (settlement(transaction) ? transaction.requestHashes() : [])),
      ...closings.flatMap((one) => (closing(one) ? (one.requestHash ?? []) : [])),
    ];
    this.tables.blobs.free(place);
    this.words[this.at + ROUND_MESSAGES] = 0;
    if (markMs !== NO_MARK) this.mark(markMs);
    for (const one of settlements) if (!settlement(one.transaction)) this.addSettlement(one);
    for (const one of closings) if (!closing(one)) this.addClosing(one);
    for (const hash of undone) this.addUndone(hash);
    for (const message of remembered) this.addRemembered(message);
  }

  /** Removes a member. Called only by `Wallet`, which then frees the row. */
  remove(item: Transaction): void {
    const { transactions } = this.tables;
    const newest = this.newest;
    let before = newest;
    while (this.nextOf(before) !== item.row) before = this.nextOf(before);
    const isOnly = before === item.row;
    transactions.wordsOf(before)[transactions.at(before) + TRANSACTION_NEXT] = this.nextOf(item.row);
    if (newest === item.row) this.words[this.at + ROUND_NEWEST] = isOnly ? 0 : before;
  }

  /** The settlement with this id. Does not decode the other settlements, because there can be a thousand of them. */
  settlement(id: string): Settlement | undefined {
    const wanted = writtenText(id);
    return this.findMessage((cursor, tag) => {
      const { at } = cursor;
      if (tag === SETTLEMENT && new Transaction(this.tables, cursor.number()).hasId(wanted)) {
        cursor.at = at;
        return readSettlement(this.tables, cursor);
      }
      cursor.at = at;
      return skipMessage(cursor, tag);
    });
  }

  closing(type: RoundClosing['type'], id: string): RoundClosing | undefined {
    const wanted = writtenText(id);
    return this.findMessage((cursor, tag) => {
      const isWanted = CLOSINGS[tag] === type && isTextAt(cursor.bytes, cursor.at, wanted);
      return isWanted ? readClosing(cursor, tag) : skipMessage(cursor, tag);
    });
  }

  /** The remembered message with this hash. */
  findRemembered(hash: number): RememberedMessage | undefined {
    return this.findMessage((cursor, tag) => {
      if (tag !== REMEMBERED) return skipMessage(cursor, tag);
      if (cursor.number() === hash) return { hash, before: cursor.signed(), after: cursor.signed() };
      cursor.signed();
      cursor.signed();
      return undefined;
    });
  }

  /** For each settlement of the round, the amount paid and not taken back. */
  stillPaid(): Units[] {
    return this.settlements.map(({ transaction }) => transaction.paid);
  }

  /** Calls `read` with each message, oldest first, until it returns a value. */
  private findMessage<T>(read: (cursor: Cursor, tag: number) => T | undefined): T | undefined {
    const place = this.messages;
    if (place === 0) return undefined;
    const cursor = this.tables.cursorAt(place, 0);
    const end = cursor.at + readUsed(cursor.bytes, cursor.at);
    cursor.at += MESSAGES_AT;
    while (cursor.at < end) {
      const found = read(cursor, cursor.byte());
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private countMessages(isCounted: (tag: number) => boolean): number {
    let count = 0;
    this.findMessage((cursor, tag) => {
      if (isCounted(tag)) count++;
      skipMessage(cursor, tag);
    });
    return count;
  }

  private append(bytes: Buffer, length: number): void {
    const place = this.messagesOrNew();
    this.words[this.at + ROUND_MESSAGES] = this.tables.append(place, MESSAGES_OF_ROUND, this.row, bytes, length);
  }

  private messagesOrNew(): number {
    if (this.messages !== 0) return this.messages;
    const place = this.tables.store(MESSAGES_OF_ROUND, this.row, EMPTY_MESSAGES, EMPTY_MESSAGES.length);
    this.words[this.at + ROUND_MESSAGES] = place;
    return place;
  }

  private nextOf(row: number): number {
    const { transactions } = this.tables;
    return transactions.wordsOf(row)[transactions.at(row) + TRANSACTION_NEXT] as number;
  }

  private get newest(): number {
    return this.words[this.at + ROUND_NEWEST] as number;
  }

  private get messages(): number {
    return this.words[this.at + ROUND_MESSAGES] as number;
  }

  private get facts(): number {
    return this.words[this.at + ROUND_FLAGS] as number;
  }

  private set facts(facts: number) {
    this.words[this.at + ROUND_FLAGS] = facts;
  }
}

const EMPTY_MESSAGES = Buffer.alloc(MESSAGES_AT);
EMPTY_MESSAGES.writeUInt32LE(MESSAGES_AT);
EMPTY_MESSAGES.writeDoubleLE(NO_MARK, MARK_AT);

function readClosing(cursor: Cursor, tag: number): RoundClosing {
  const type = CLOSINGS[tag] as RoundClosing['type'];
  const closing = {
    type,
    id: cursor.text(),
    before: cursor.signed(),
    after: cursor.signed(),
    version: cursor.number(),
  };
  return tag === HASHED_CANCEL ? { ...closing, requestHash: cursor.number() } : closing;
}

function readRemembered(cursor: Cursor): RememberedMessage {
  return { hash: cursor.number(), before: cursor.signed(), after: cursor.signed() };
}

function skipRemembered(cursor: Cursor): undefined {
  cursor.number();
  cursor.signed();
  cursor.signed();
}

/** A settlement that decodes its list of bets on demand. Valid only until the next message is added to the round. */
class StoredSettlement implements Settlement {
  constructor(
    readonly transaction: Transaction,
    private readonly tables: Tables,
    private readonly list: Buffer,
    private readonly at: number,
    private readonly end: number,
  ) {}

  get bets(): Transaction[] {
    return readRows(this.list, this.at, this.end).map((row) => new Transaction(this.tables, row));
  }
}

function readSettlement(tables: Tables, cursor: Cursor): Settlement {
  const transaction = new Transaction(tables, cursor.number());
  const listBytes = cursor.number();
  const { bytes, at } = cursor;
  cursor.at = at + listBytes;
  return new StoredSettlement(transaction, tables, bytes, at, cursor.at);
}

function skipMessage(cursor: Cursor, tag: number): undefined {
  if (tag === SETTLEMENT) skipSettlement(cursor);
  else if (tag === UNDONE) cursor.number();
  else if (tag === REMEMBERED) skipRemembered(cursor);
  else skipClosing(cursor, tag);
}

function skipClosing(cursor: Cursor, tag: number): void {
  cursor.skipText();
  cursor.signed();
  cursor.signed();
  cursor.number();
  if (tag === HASHED_CANCEL) cursor.number();
}

function skipSettlement(cursor: Cursor): void {
  cursor.number();
  const listBytes = cursor.number();
  cursor.at += listBytes;
}

function readRows(bytes: Buffer, at: number, end: number): number[] {
  const rows: number[] = [];
  const cursor = new Cursor(bytes, at);
  while (cursor.at < end) rows.push(cursor.number());
  return rows;
}
