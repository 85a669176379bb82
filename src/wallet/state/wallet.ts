import { assert } from '../../base/assert.js';
import type { Units } from '../amount.js';
import type { ByteWriter } from '../records/byte-writer.js';
import { type Cursor, textBytesMax, writeNumber, writeSigned, writeText } from '../records/bytes.js';
import { Operation, type OperationFacts } from './operation.js';
import { Round, Transaction } from './round.js';
import type { Session } from './session.js';
import {
  BLOB_OF_TRANSACTION,
  BODY_OF_PLAYER,
  D_PLAYER_BALANCE,
  D_TRANSACTION_AMOUNT,
  D_TRANSACTION_CREATED,
  D_TRANSACTION_UPDATED,
  ID_OF_ROUND,
  OPERATION_OLDER,
  PLAYER_CLOSED,
  PLAYER_FIRST,
  PLAYER_FLAGS,
  PLAYER_NAME,
  PLAYER_NEWEST,
  PLAYER_OLDEST,
  PLAYER_OPEN_BETS,
  PLAYER_OPERATION,
  PLAYER_RARE_FIELDS,
  PLAYER_TOMBSTONES,
  PLAYER_TRANSACTIONS,
  PLAYER_VERSION,
  RARE_FIELDS_OF_PLAYER,
  ROUND_FLAGS,
  ROUND_ID,
  ROUND_MESSAGES,
  ROUND_PLAYER,
  ROUND_PRODUCT_SHIFT,
  readUsed,
  scratchOf,
  type Tables,
  TRANSACTION_BLOB,
  TRANSACTION_FLAGS,
  TRANSACTION_NEWER,
  TRANSACTION_OLDER,
  TRANSACTION_ROUND,
  USED_BYTES,
} from './tables.js';
import { isNamedById, type Namespace, namespaceIn, numberOf, type TransactionKind } from './transaction-kind.js';
import { type Effect, effectBytesMax, factsOf, type TransactionState, writeEffect } from './transaction-record.js';

/** Rare fields, which few wallets have. */
export interface RareFields {
  /** The last day on which unknown tips were credited, in days since 1970, UTC; -1 if never. */
  readonly tipsDay: number;
  readonly tipsCredited: number;
  /**
   * The part of the balance that no transaction or operation in the wallet accounts for. It comes from forgotten and
   * archived items, and from voids that used the request's amounts. It is part of the ledger and, unlike a balance, has
   * no upper limit.
   */
  readonly carried: bigint;
  /** Stored with the rare fields because players have a session only if the operator sets one. */
  readonly session: Session | undefined;
}

const NO_RARE_FIELDS: RareFields = Object.freeze({ tipsDay: -1, tipsCredited: 0, carried: 0n, session: undefined });

/** Counts in a hibernated wallet's row that describe its packed record. */
export interface Counts {
  readonly openBets: number;
  readonly transactions: number;
  /** Number of tombstones and marks. */
  readonly tombstones: number;
  /** Lower bound, in seconds, for the time of the oldest change; 2^32 - 1 for an empty wallet. */
  readonly oldestSeconds: number;
}

/**
 * Maximum number of transactions and operations of a wallet that may hibernate. The record of such a wallet is written
 * in one step.
 */
export const SHORT_MAX = 128;

/* Flags of a player, in the lowest bits of the word that also holds the currency number. */
const BLOCKED = 1;
const PACKED = 2;
const RECENT = 4;
const CURRENCY_SHIFT = 3;

const NEVER = 0xffffffff;
const MS = 1000;

/**
 * One player's state, which `decide` reads and `apply` writes. It is a short-lived view of the player's row, valid for
 * one turn. All transactions are in one list, newest first; the tables find them by id.
 *
 *   newest ──> settlement <──> bet <──> bet <──> tombstone
 *                   │           │        │           │
 *                   └────────> round <───┘        another
 */
export class Wallet {
  private readonly words: Uint32Array;
  private readonly doubles: Float64Array;
  private readonly at: number;

  constructor(
    readonly tables: Tables,
    readonly row: number,
    private givenName?: string,
  ) {
    this.words = tables.players.wordsOf(row);
    this.doubles = tables.players.doublesOf(row);
    this.at = tables.players.at(row);
  }

  /** A new wallet whose name is not in the table yet. */
  static begin(tables: Tables, currency: string, username?: string): Wallet {
    const wallet = new Wallet(tables, tables.players.allocate(), username);
    wallet.words[wallet.at + PLAYER_FLAGS] = tables.currencies.take(currency) << CURRENCY_SHIFT;
    wallet.words[wallet.at + PLAYER_OLDEST] = NEVER;
    wallet.words[wallet.at + PLAYER_CLOSED] = NEVER;
    return wallet;
  }

  get username(): string {
    this.givenName ??= this.tables.textAt(this.words[this.at + PLAYER_NAME] as number);
    return this.givenName;
  }

  /** Writes the username in its stored form. */
  writeUsername(bytes: ByteWriter): void {
    this.tables.writeText(bytes, this.words[this.at + PLAYER_NAME] as number);
  }

  get currency(): string {
    return this.tables.currencies.text(this.facts >>> CURRENCY_SHIFT);
  }

  get balance(): Units {
    return this.doubles[(this.at >> 1) + D_PLAYER_BALANCE] as Units;
  }

  set balance(balance: Units) {
    this.doubles[(this.at >> 1) + D_PLAYER_BALANCE] = balance;
  }

  /** The wallet's version, which increases by one with every applied event. */
  get version(): number {
    return this.words[this.at + PLAYER_VERSION] as number;
  }

  set version(version: number) {
    this.words[this.at + PLAYER_VERSION] = version;
  }

  get blocked(): boolean {
    return (this.facts & BLOCKED) !== 0;
  }

  set blocked(blocked: boolean) {
    this.facts = blocked ? this.facts | BLOCKED : this.facts & ~BLOCKED;
  }

  /**
   * True for a hibernated wallet: everything except the row is in one packed record, and transactions, rounds,
   * operations and rare fields are unavailable.
   */
  get isPacked(): boolean {
    return (this.facts & PACKED) !== 0;
  }

  /** True if the wallet was used recently. */
  get isRecent(): boolean {
    return (this.facts & RECENT) !== 0;
  }

  set isRecent(isRecent: boolean) {
    this.facts = isRecent ? this.facts | RECENT : this.facts & ~RECENT;
  }

  /** The packed record of a hibernated wallet. */
  get body(): Cursor {
    assert(this.isPacked, 'only packed wallets have a body');
    return this.tables.cursorAt(this.words[this.at + PLAYER_NEWEST] as number, USED_BYTES);
  }

  /** The end of the packed record. */
  get bodyEnd(): number {
    const { bytes, at } = this.body;
    return at - USED_BYTES + readUsed(bytes, at - USED_BYTES);
  }

  /** Stores these bytes as the wallet's packed record. The wallet must have no data other than its row. */
  putBody(bytes: Buffer, start: number, length: number): void {
    const { words, at, tables } = this;
    assert(words[at + PLAYER_NEWEST] === 0 && words[at + PLAYER_OPERATION] === 0, 'a packed wallet has nothing else');
    words[at + PLAYER_NEWEST] = tables.storeUsed(BODY_OF_PLAYER, this.row, bytes, length, start);
    this.facts |= PACKED;
  }

  /**
   * Frees the packed record and returns a copy of it. Resets the counts to 0, because adding an item increments them.
   */
  takeBody(): Buffer {
    const { words, at, tables } = this;
    const { bytes, at: start } = this.body;
    const body = Buffer.from(bytes.subarray(start, this.bodyEnd));
    tables.blobs.free(words[at + PLAYER_NEWEST] as number);
    words[at + PLAYER_NEWEST] = 0;
    this.counts = { openBets: 0, transactions: 0, tombstones: 0, oldestSeconds: NEVER };
    this.facts &= ~PACKED;
    return body;
  }

  /** Frees everything except the row. */
  freeRecords(): void {
    const { words, at, tables } = this;
    for (let row = words[at + PLAYER_NEWEST] as number; row !== 0; row = words[at + PLAYER_NEWEST] as number) {
      this.dropRound(new Transaction(tables, row).round);
    }
    this.dropOperations(() => true);
    const rareFields = words[at + PLAYER_RARE_FIELDS] as number;
    if (rareFields !== 0) tables.blobs.free(rareFields);
    words[at + PLAYER_RARE_FIELDS] = 0;
  }

  /** Number of OPEN and WAITING bets. */
  get openBets(): number {
    return this.words[this.at + PLAYER_OPEN_BETS] as number;
  }

  set openBets(count: number) {
    this.words[this.at + PLAYER_OPEN_BETS] = count;
  }

  get transactionCount(): number {
    return this.words[this.at + PLAYER_TRANSACTIONS] as number;
  }

  /**
   * Counts that describe the wallet's other data and are stored in its row. They can be set only for a hibernated
   * wallet.
   */
  get counts(): Counts {
    const { words, at, openBets, transactionCount: transactions, tombstones } = this;
    return { openBets, transactions, tombstones, oldestSeconds: words[at + PLAYER_OLDEST] as number };
  }

  set counts({ openBets, transactions, tombstones, oldestSeconds }: Counts) {
    const { words, at } = this;
    words[at + PLAYER_OPEN_BETS] = openBets;
    words[at + PLAYER_TRANSACTIONS] = transactions;
    words[at + PLAYER_TOMBSTONES] = tombstones;
    words[at + PLAYER_OLDEST] = oldestSeconds;
  }

  /** True if visiting all items of the wallet takes no more than about ten microseconds. */
  get isShort(): boolean {
    let items = this.transactionCount;
    for (const _operation of this.allOperations()) if (++items > SHORT_MAX) return false;
    return items <= SHORT_MAX;
  }

  /** The current number of tombstones and marks. */
  get tombstones(): number {
    return this.words[this.at + PLAYER_TOMBSTONES] as number;
  }

  set tombstones(count: number) {
    this.words[this.at + PLAYER_TOMBSTONES] = count;
  }

  get rareFields(): RareFields {
    const place = this.words[this.at + PLAYER_RARE_FIELDS] as number;
    if (place === 0) return NO_RARE_FIELDS;
    const cursor = this.tables.cursorAt(place, 0);
    const tipsDay = cursor.signed();
    const tipsCredited = cursor.number();
    const carried = BigInt(cursor.text());
    const digest = cursor.text();
    const endMs = cursor.double();
    const session = digest === '' ? undefined : { digest, endMs: endMs === Number.POSITIVE_INFINITY ? null : endMs };
    return { tipsDay, tipsCredited, carried, session };
  }

  set rareFields({ tipsDay, tipsCredited, carried, session }: RareFields) {
    const isNothing = tipsDay === -1 && carried === 0n && session === undefined;
    if (isNothing && this.words[this.at + PLAYER_RARE_FIELDS] === 0) return;
    const digits = String(carried);
    const digest = session?.digest ?? '';
    const bytes = scratchOf(32 + textBytesMax(digits) + textBytesMax(digest));
    let end = writeSigned(bytes, 0, tipsDay);
    end = writeNumber(bytes, end, tipsCredited);
    end = writeText(bytes, end, digits);
    end = writeText(bytes, end, digest);
    end = bytes.writeDoubleLE(session?.endMs ?? Number.POSITIVE_INFINITY, end);
    const place = this.words[this.at + PLAYER_RARE_FIELDS] as number;
    this.words[this.at + PLAYER_RARE_FIELDS] = this.tables.replace(place, RARE_FIELDS_OF_PLAYER, this.row, bytes, end);
  }

  get session(): Session | undefined {
    return this.rareFields.session;
  }

  set session(session: Session | undefined) {
    this.rareFields = { ...this.rareFields, session };
  }

  carry(units: bigint): void {
    if (units !== 0n) this.rareFields = { ...this.rareFields, carried: this.rareFields.carried + units };
  }

  /** True if the wallet may have an item whose last change was before `beforeMs`. */
  mayHaveOlderThan(beforeMs: number): boolean {
    const oldest = this.words[this.at + PLAYER_OLDEST] as number;
    return oldest !== NEVER && oldest * MS < beforeMs;
  }

  /** Sets the lower bound for the time of the oldest change; infinite for an empty wallet. */
  noteOldest(oldestMs: number): void {
    this.words[this.at + PLAYER_OLDEST] = secondsOf(oldestMs);
  }

  /** True if the wallet may have a closed round whose last change was before `beforeMs`. */
  mayHaveClosedBefore(beforeMs: number): boolean {
    const closed = this.words[this.at + PLAYER_CLOSED] as number;
    return closed !== NEVER && closed * MS < beforeMs;
  }

  /** Sets the lower bound for the last change of any closed round; infinite if there are no closed rounds. */
  noteClosed(closedMs: number): void {
    this.words[this.at + PLAYER_CLOSED] = secondsOf(closedMs);
  }

  /** Records that a round may have been closed at this time. */
  noteChange(timeMs: number): void {
    const closed = this.words[this.at + PLAYER_CLOSED] as number;
    if (timeMs < closed * MS) this.noteClosed(timeMs);
  }

  /** The bet, tip or tombstone with this id; these kinds share a namespace. */
  bet(productId: string, id: string): Transaction | undefined {
    return this.named('bet', productId, id);
  }

  reward(productId: string, id: string): Transaction | undefined {
    return this.named('reward', productId, id);
  }

  /** The transaction with this id in its namespace. */
  named(namespace: Namespace, productId: string, id: string): Transaction | undefined {
    const { tables } = this;
    const product = tables.products.find(productId);
    const row = product === 0 ? 0 : tables.findTransaction(this.row, product, id, numberOf(namespace));
    return row === 0 ? undefined : new Transaction(tables, row);
  }

  round(productId: string, id: string): Round | undefined {
    const { tables } = this;
    const product = tables.products.find(productId);
    const row = product === 0 ? 0 : tables.findRound(this.row, product, id);
    return row === 0 ? undefined : new Round(tables, row);
  }

  /** The existing round or a new one. The caller must add a transaction immediately. */
  roundFor(productId: string, id: string): Round {
    return this.round(productId, id) ?? this.addRound(this.tables.products.take(productId), id);
  }

  /** A new round. The caller has already added the reference to its product in the dictionary. */
  addRound(product: number, id: string): Round {
    const { tables } = this;
    const row = tables.rounds.allocate();
    const words = tables.rounds.wordsOf(row);
    const at = tables.rounds.at(row);
    words[at + ROUND_PLAYER] = this.row;
    words[at + ROUND_FLAGS] = product << ROUND_PRODUCT_SHIFT;
    words[at + ROUND_ID] = tables.storeText(ID_OF_ROUND, row, id);
    tables.enterRound(row, tables.hashRound(this.row, product, id));
    return new Round(tables, row);
  }

  /** Like `addRound`, but with the id in bytes. */
  addRoundFrom(product: number, bytes: Buffer, start: number, end: number): Round {
    const { tables } = this;
    const row = tables.rounds.allocate();
    const words = tables.rounds.wordsOf(row);
    const at = tables.rounds.at(row);
    words[at + ROUND_PLAYER] = this.row;
    words[at + ROUND_FLAGS] = product << ROUND_PRODUCT_SHIFT;
    words[at + ROUND_ID] = tables.store(ID_OF_ROUND, row, bytes, end - start, start);
    tables.enterRound(row);
    return new Round(tables, row);
  }

  /**
   * A new transaction in a round. `amount` is the stake of a bet, the payout of a settlement, or the moved amount for
   * other kinds. `first` is the message that created the transaction; only an adjustment has a request id.
   */
  add(
    round: Round,
    id: string,
    kind: TransactionKind,
    state: TransactionState,
    createdMs: number,
    amount: Units,
    first?: Effect,
  ): Transaction {
    const { tables } = this;
    const bytes = scratchOf(textBytesMax(id) + effectBytesMax(''));
    let end = writeText(bytes, 0, id);
    if (first !== undefined) end = writeEffect(bytes, end, first);
    const facts = factsOf(kind, state);
    const hash = kind === 'mark' ? 0 : tables.hashTransaction(this.row, round.product, id, namespaceIn(facts));
    return this.link(round, facts, createdMs, createdMs, amount, bytes, 0, end, hash);
  }

  /**
   * Like `add`, but for a transaction with a history: the `length` bytes from `start` are its id and effects. Updates
   * the wallet's counts.
   */
  addRecord(
    round: Round,
    facts: number,
    createdMs: number,
    updatedMs: number,
    amount: Units,
    bytes: Buffer,
    start: number,
    length: number,
  ): Transaction {
    const item = this.link(round, facts, createdMs, updatedMs, amount, bytes, start, length);
    if (item.isOpen) this.openBets++;
    if (item.isTombstone) this.tombstones++;
    return item;
  }

  private link(
    round: Round,
    facts: number,
    createdMs: number,
    updatedMs: number,
    amount: Units,
    bytes: Buffer,
    start: number,
    length: number,
    hash?: number,
  ): Transaction {
    const { tables, at, words } = this;
    const { transactions } = tables;
    const row = transactions.allocate();
    const mine = transactions.wordsOf(row);
    const doubles = transactions.doublesOf(row);
    const here = transactions.at(row);
    const newest = words[at + PLAYER_NEWEST] as number;
    mine[here + TRANSACTION_FLAGS] = facts;
    mine[here + TRANSACTION_ROUND] = round.row;
    mine[here + TRANSACTION_OLDER] = newest;
    mine[here + TRANSACTION_BLOB] = tables.storeUsed(BLOB_OF_TRANSACTION, row, bytes, length, start);
    doubles[(here >> 1) + D_TRANSACTION_CREATED] = createdMs;
    doubles[(here >> 1) + D_TRANSACTION_UPDATED] = updatedMs;
    doubles[(here >> 1) + D_TRANSACTION_AMOUNT] = amount;
    if (newest !== 0) transactions.wordsOf(newest)[transactions.at(newest) + TRANSACTION_NEWER] = row;
    else words[at + PLAYER_FIRST] = row;
    words[at + PLAYER_NEWEST] = row;
    words[at + PLAYER_TRANSACTIONS] = this.transactionCount + 1;
    this.noteNew(updatedMs);
    const item = new Transaction(tables, row);
    round.add(item);
    if (isNamedById(facts)) tables.enterTransaction(row, hash);
    return item;
  }

  /** Moves a newly added transaction down to its place in the list, which is in creation order. */
  sink(item: Transaction): void {
    const { row } = item;
    let newer = 0;
    let older = this.olderOf(row);
    while (older !== 0 && isNewer(new Transaction(this.tables, older), item)) {
      newer = older;
      older = this.olderOf(older);
    }
    if (newer === 0) return;
    this.unlink(row);
    this.join(newer, row);
    this.join(row, older);
  }

  private olderOf(row: number): number {
    const { transactions } = this.tables;
    return transactions.wordsOf(row)[transactions.at(row) + TRANSACTION_OLDER] as number;
  }

  /** Links two transactions in the list. `newer` is 0 at the start of the list, `older` is 0 at its end. */
  private join(newer: number, older: number): void {
    const { transactions } = this.tables;
    if (newer === 0) this.words[this.at + PLAYER_NEWEST] = older;
    else transactions.wordsOf(newer)[transactions.at(newer) + TRANSACTION_OLDER] = older;
    if (older !== 0) transactions.wordsOf(older)[transactions.at(older) + TRANSACTION_NEWER] = newer;
    else this.words[this.at + PLAYER_FIRST] = newer;
  }

  private unlink(row: number): void {
    const { transactions } = this.tables;
    this.join(transactions.wordsOf(row)[transactions.at(row) + TRANSACTION_NEWER] as number, this.olderOf(row));
  }

  operation(id: string): Operation | undefined {
    const row = this.tables.findOperation(this.row, id);
    return row === 0 ? undefined : new Operation(this.tables, row);
  }

  addOperation(facts: OperationFacts): void {
    const { operations } = this.tables;
    const { row } = Operation.write(this.tables, this.row, facts);
    operations.wordsOf(row)[operations.at(row) + OPERATION_OLDER] = this.words[this.at + PLAYER_OPERATION] as number;
    this.words[this.at + PLAYER_OPERATION] = row;
    this.noteNew(facts.timeMs);
    const { type, id, by, request } = facts;
    if (type !== 'request' || request === undefined) return;
    this.tables.pending.add(this.row, id, { by: by?.name, expiresMs: request.expiresMs });
  }

  /** The transactions, newest first. */
  *transactions(): IterableIterator<Transaction> {
    const { transactions } = this.tables;
    let row = this.words[this.at + PLAYER_NEWEST] as number;
    while (row !== 0) {
      const item = new Transaction(this.tables, row);
      row = transactions.wordsOf(row)[transactions.at(row) + TRANSACTION_OLDER] as number;
      yield item;
    }
  }

  /** The oldest transaction. `newer` leads from each transaction to the next one. */
  get oldest(): Transaction | undefined {
    return this.findTransaction(this.words[this.at + PLAYER_FIRST] as number);
  }

  get newest(): Transaction | undefined {
    return this.findTransaction(this.words[this.at + PLAYER_NEWEST] as number);
  }

  newer({ row }: Transaction): Transaction | undefined {
    const { transactions } = this.tables;
    return this.findTransaction(transactions.wordsOf(row)[transactions.at(row) + TRANSACTION_NEWER] as number);
  }

  private findTransaction(row: number): Transaction | undefined {
    return row === 0 ? undefined : new Transaction(this.tables, row);
  }

  /** The operations, newest first. */
  *allOperations(): IterableIterator<Operation> {
    const { operations } = this.tables;
    let row = this.words[this.at + PLAYER_OPERATION] as number;
    while (row !== 0) {
      const operation = new Operation(this.tables, row);
      row = operations.wordsOf(row)[operations.at(row) + OPERATION_OLDER] as number;
      yield operation;
    }
  }

  /** Drops a round with all its transactions. */
  dropRound(round: Round): void {
    const { tables } = this;
    for (const item of round.members()) this.dropTransaction(item.row, item.facts);
    tables.leaveRound(round.row);
    const words = tables.rounds.wordsOf(round.row);
    const at = tables.rounds.at(round.row);
    tables.blobs.free(words[at + ROUND_ID] as number);
    const messages = words[at + ROUND_MESSAGES] as number;
    if (messages !== 0) tables.blobs.free(messages);
    tables.products.release(round.product);
    tables.rounds.free(round.row);
  }

  /** Drops a settlement that its round no longer lists. */
  dropSettlement(settlement: Transaction): void {
    settlement.round.remove(settlement);
    this.dropTransaction(settlement.row, settlement.facts);
  }

  /** Removes a decided request from the list. */
  dropRequest({ row, id }: Operation): void {
    this.dropOperations((operation) => operation.row === row);
    this.tables.pending.remove(this.row, id);
  }

  dropOperations(isDropped: (operation: Operation) => boolean): void {
    const { operations } = this.tables;
    const kept: number[] = [];
    for (const operation of this.allOperations()) {
      if (isDropped(operation)) operation.free();
      else kept.push(operation.row);
    }
    let older = 0;
    for (const row of kept.reverse()) {
      operations.wordsOf(row)[operations.at(row) + OPERATION_OLDER] = older;
      older = row;
    }
    this.words[this.at + PLAYER_OPERATION] = older;
  }

  private dropTransaction(row: number, facts: number): void {
    const { tables } = this;
    const { transactions } = tables;
    if (isNamedById(facts)) tables.leaveTransaction(row);
    const words = transactions.wordsOf(row);
    const at = transactions.at(row);
    this.unlink(row);
    tables.blobs.free(words[at + TRANSACTION_BLOB] as number);
    transactions.free(row);
    assert(this.transactionCount > 0, 'the transactions of a wallet are counted');
    this.words[this.at + PLAYER_TRANSACTIONS] = this.transactionCount - 1;
  }

  private noteNew(timeMs: number): void {
    const oldest = this.words[this.at + PLAYER_OLDEST] as number;
    if (timeMs < oldest * MS) this.noteOldest(timeMs);
  }

  private get facts(): number {
    return this.words[this.at + PLAYER_FLAGS] as number;
  }

  private set facts(facts: number) {
    this.words[this.at + PLAYER_FLAGS] = facts;
  }
}

function secondsOf(timeMs: number): number {
  return Math.min(Math.max(Math.floor(timeMs / MS), 0), NEVER);
}

/**
 * True if `a` is known to be newer than `b`. If both were created in the same millisecond, their versions decide.
 * Tombstones and marks have no version.
 */
function isNewer(a: Transaction, b: Transaction): boolean {
  if (a.createdMs !== b.createdMs) return a.createdMs > b.createdMs;
  const { firstVersion } = b;
  return firstVersion !== undefined && (a.firstVersion ?? 0) > firstVersion;
}
