import { intern } from '../../base/intern.js';
import type { Units } from '../amount.js';
import { Directory } from './directory.js';
import { Operation, type OperationFacts } from './operation.js';
import { Round, type Transaction } from './round.js';

/** What few wallets need. */
interface Tallies {
  /** Tombstones and marks held now. */
  tombstones: number;
  /** Unknown tips credited on `tipsDay` (days since 1970, UTC). */
  tipsDay: number;
  tipsCredited: number;
  /**
   * Balance that no held transaction or operation explains: what was forgotten, and voids by the request's amounts. A
   * part of the books, and not bounded as a balance is.
   */
  carried: bigint;
}

/** Made when a list grows long. */
interface Index {
  /** Nothing of the wallet was changed before this time. */
  oldestMs?: number;
  bets?: Directory<Transaction>;
  rounds?: Directory<Round>;
  operations?: Map<string, Operation>;
}

/** Up to here a walk along a list finds a thing faster than a Map pays for itself. */
const WALK_MAX = 8;

/**
 * One player's state: what `decide` reads and `apply` writes. All transactions hang on one list, newest first;
 * directories are made when the list grows long.
 *
 *   newest ──> settlement ──older──> bet ──older──> bet ──older──> tombstone
 *                   │                 │              │                 │
 *                   └─────────────> round <──────────┘              another
 */
export class Wallet {
  balance: Units = 0;
  /** Grows by one with every applied event. */
  version = 0;
  blocked = false;
  newest: Transaction | undefined = undefined;
  newestOperation: Operation | undefined = undefined;
  /** OPEN and WAITING bets. */
  openBets = 0;
  /** How many hang on the list of `newest`. */
  transactionCount = 0;
  private index: Index | undefined = undefined;
  private maybeTallies: Tallies | undefined = undefined;

  constructor(
    readonly username: string,
    readonly currency: string,
  ) {}

  /** The bet, tip or tombstone of this id: they share one namespace. */
  bet(productId: string, id: string): Transaction | undefined {
    if (this.index?.bets !== undefined) return this.index.bets.get(productId, id);
    for (let item = this.newest; item !== undefined; item = item.older) {
      if (item.id === id && item.round.productId === productId && isNamedById(item)) return item;
    }
    return undefined;
  }

  round(productId: string, id: string): Round | undefined {
    if (this.index?.rounds !== undefined) return this.index.rounds.get(productId, id);
    for (let item = this.newest; item !== undefined; item = item.older) {
      if (item.round.id === id && item.round.productId === productId) return item.round;
    }
    return undefined;
  }

  /** The round, or a new one, which is part of the wallet once `add` has added a transaction of it. */
  roundFor(productId: string, id: string): Round {
    return this.round(productId, id) ?? new Round(intern(productId), id);
  }

  add(item: Transaction): void {
    item.older = this.newest;
    this.newest = item;
    this.transactionCount++;
    if (item.kind === 'bet') item.round.addBet(item);
    if (this.index?.bets !== undefined) this.enter(item);
    else if (isLong(item)) this.indexTransactions();
  }

  operation(id: string): Operation | undefined {
    if (this.index?.operations !== undefined) return this.index.operations.get(id);
    for (let item = this.newestOperation; item !== undefined; item = item.older) {
      if (item.id === id) return item;
    }
    return undefined;
  }

  addOperation(facts: OperationFacts): void {
    this.newestOperation = new Operation(facts, this.newestOperation);
    if (this.index?.operations !== undefined) this.index.operations.set(facts.id, this.newestOperation);
    else if (isLong(this.newestOperation)) this.indexOperations();
  }

  get tallies(): Readonly<Tallies> {
    return this.maybeTallies ?? NO_TALLIES;
  }

  /** True when something may have been changed last before `beforeMs`; a long list knows without a walk. */
  mayHaveOlderThan(beforeMs: number): boolean {
    return this.index?.oldestMs === undefined || this.index.oldestMs < beforeMs;
  }

  /** A walk has found that nothing was changed before this time. */
  noteOldest(oldestMs: number): void {
    if (this.index !== undefined) this.index.oldestMs = oldestMs;
  }

  /** The tallies, to be written. */
  ownTallies(): Tallies {
    this.maybeTallies ??= { ...NO_TALLIES };
    return this.maybeTallies;
  }

  /** Newest first. */
  *transactions(): IterableIterator<Transaction> {
    for (let item = this.newest; item !== undefined; item = item.older) yield item;
  }

  /** Newest first. */
  *allOperations(): IterableIterator<Operation> {
    for (let item = this.newestOperation; item !== undefined; item = item.older) yield item;
  }

  /** Drops whole rounds with all their transactions, and operations. */
  drop(isDropped: (round: Round) => boolean, isOperationDropped: (operation: Operation) => boolean): void {
    let last: Transaction | undefined;
    for (let item = this.newest; item !== undefined; item = item.older) {
      if (isDropped(item.round)) {
        this.leave(item);
        this.transactionCount--;
      } else {
        if (last === undefined) this.newest = item;
        else last.older = item;
        last = item;
      }
    }
    if (last === undefined) this.newest = undefined;
    else last.older = undefined;
    const operations = [...this.allOperations()].filter((operation) => !isOperationDropped(operation)).reverse();
    this.newestOperation = undefined;
    // The others are made anew; these have lost what was dropped by now.
    const { bets, rounds } = this.index ?? {};
    this.index = bets && rounds && this.transactionCount > WALK_MAX ? { bets, rounds } : undefined;
    for (const operation of operations) this.addOperation(operation);
  }

  /**
   * A copy that holds what these transactions can touch, and nothing else. An array is decided on such a copy, one
   * element after the other; the wallet itself changes only when all of them stand.
   */
  excerpt(productId: string, txns: readonly { id: string; roundId: string; byRound?: boolean }[]): Wallet {
    const copy = new Wallet(this.username, this.currency);
    copy.balance = this.balance;
    copy.version = this.version;
    copy.blocked = this.blocked;
    copy.openBets = this.openBets;
    copy.maybeTallies = this.maybeTallies === undefined ? undefined : { ...this.maybeTallies };
    const directory = new Directory<Round>();
    copy.index = { bets: new Directory(), rounds: directory };

    const items = new Set<Transaction>();
    const rounds = new Set<Round>();
    for (const txn of txns) {
      const bet = this.bet(productId, txn.id);
      if (bet !== undefined) items.add(bet);
      const round = this.round(productId, txn.roundId);
      if (round !== undefined) rounds.add(round);
      if (round !== undefined && txn.byRound === true) for (const other of round.bets) items.add(other);
    }
    for (const item of items) rounds.add(item.round);

    const copies = new Map<Round, Round>();
    for (const round of rounds) {
      const roundCopy = round.copyShell();
      copies.set(round, roundCopy);
      directory.set(roundCopy, roundCopy);
    }
    for (const item of items) copy.add(item.copyInto(copies.get(item.round) as Round));
    return copy;
  }

  private indexTransactions(): void {
    this.index = { ...this.index, bets: new Directory(), rounds: new Directory() };
    for (const item of this.transactions()) this.enter(item);
  }

  private enter(item: Transaction): void {
    if (isNamedById(item)) this.index?.bets?.set({ productId: item.round.productId, id: item.id }, item);
    this.index?.rounds?.set(item.round, item.round);
  }

  private leave(item: Transaction): void {
    if (isNamedById(item)) this.index?.bets?.delete({ productId: item.round.productId, id: item.id });
    this.index?.rounds?.delete(item.round);
  }

  private indexOperations(): void {
    const operations = new Map<string, Operation>();
    for (const item of this.allOperations()) operations.set(item.id, item);
    this.index = { ...this.index, operations };
  }
}

/** True for a list of more than `WALK_MAX`. */
function isLong(newest: { older: Transaction | undefined } | { older: Operation | undefined }): boolean {
  let length = 1;
  for (let item = newest.older; item !== undefined && length <= WALK_MAX; item = item.older) length++;
  return length > WALK_MAX;
}

const NO_TALLIES: Readonly<Tallies> = Object.freeze({ tombstones: 0, tipsDay: -1, tipsCredited: 0, carried: 0n });

function isNamedById(item: Transaction): boolean {
  return item.kind !== 'settlement' && item.kind !== 'mark';
}
