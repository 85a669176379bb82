import { hashString } from '../../base/hash.js';
import type { Units } from '../amount.js';
import {
  type Cursor,
  DOUBLE_BYTES,
  isTextAt,
  NUMBER_BYTES_MAX,
  textBytesMax,
  type WrittenText,
  writeNumber,
  writeSigned,
  writeText,
} from '../records/bytes.js';
import {
  BLOB_OF_TRANSACTION,
  D_TRANSACTION_AMOUNT,
  D_TRANSACTION_CREATED,
  D_TRANSACTION_UPDATED,
  readUsed,
  scratchOf,
  type Tables,
  TRANSACTION_BLOB,
  TRANSACTION_FLAGS,
  USED_BYTES,
  writtenText,
} from './tables.js';
import { KIND_MASK, KIND_SHIFT, KINDS, MARK, SETTLEMENT, type TransactionKind } from './transaction-kind.js';

export const TRANSACTION_STATES = ['OPEN', 'WAITING', 'SETTLED', 'VOID', 'REFUND', 'REJECT', 'TIPS'] as const;
export type TransactionState = (typeof TRANSACTION_STATES)[number];

const STATES: readonly TransactionState[] = TRANSACTION_STATES;

/** The first answer to a message; see idempotency.ts. */
export interface FirstAnswer {
  readonly before: Units;
  readonly after: Units;
  /** The wallet's version after the message. */
  readonly version: number;
  /** True if the first message had a different status or skip from the message that is being answered. */
  readonly isOfAnother?: boolean;
}

export type EffectType = 'place' | 'settle' | 'adjust' | 'void' | 'cancel' | 'rollback';
const EFFECTS: readonly EffectType[] = ['place', 'settle', 'adjust', 'void', 'cancel', 'rollback'];

/** A message that had an effect on the transaction, with its answer. */
export interface Effect extends FirstAnswer {
  readonly type: EffectType;
  readonly waiting: boolean;
  readonly skip: boolean;
  /** The amount of the message. For a rollback, this is the amount that the rollback took. */
  readonly amount: Units;
  /** Set for an adjustment, and for a rollback of this transaction alone; empty for all other messages. */
  readonly requestId: string;
  /**
   * The hash of the request id of a place, a settle, a cancel or a reward's void, by which a late retry is recognized.
   * Undefined if an older walletd wrote the effect.
   */
  readonly requestHash: number | undefined;
  /** For a rollback: the time at which the platform sent it, by the platform's clock. */
  readonly sentMs: number;
}

/**
 * A hash of a request id, as stored with the effects of places, settles and cancels. It is stored permanently, so it
 * must never change.
 */
export function hashOfRequest(requestId: string): number {
  return hashString(requestId);
}

/*
 * Flags of a transaction, in one small integer. Snapshots contain the flags, so their layout must never change.
 *   bits 0-2 state, bits 3-5 kind, then one bit each
 *
 * One state is unused, and bits from 13 are free. An accepted tip has its own state (TIPS), which is neither open nor
 * reversed: the tip needs no further message, so it may leave memory.
 */
const STATE_MASK = 0b111;
const OPENED = 1 << 6;
const TAKEN = 1 << 7;
const PAID_OUT = 1 << 8;
const SINGLE_STATE = 1 << 9;
const SETTLED_BY_ROUND = 1 << 10;
const ROLLED_BACK = 1 << 11;
const SETTLED_OTHERWISE = 1 << 12;

const BET = 0;
const FIRST_REVERSED = STATES.indexOf('VOID');
const LAST_REVERSED = STATES.indexOf('REJECT');
const SETTLE = EFFECTS.indexOf('settle');
const ADJUST = EFFECTS.indexOf('adjust');
const ROLLBACK = EFFECTS.indexOf('rollback');

/*
 * An effect:
 *   byte      type (3 bits), was WAITING (of a rollback: BY_ROUND), was skipped, how the balance moved (2 bits), has a hash
 *   version (number), amount (signed), balance before (signed)
 *   balance after (signed)   unless it follows from balance before and amount
 *   hash of the request id (u32, little-endian)   only of a place, settle or cancel, or the void of a reward
 *   request id (text)        only of an adjustment, or of a rollback that is not BY_ROUND
 *   sent (double, little-endian)   only of a rollback
 */
const TYPE_MASK = 0b111;
const WAITING = 0b1000;
const SKIP = 0b10000;
const MOVE_SHIFT = 5;
const STAYED = 0;
const BY_AMOUNT_DOWN = 1;
const BY_AMOUNT_UP = 2;
const OTHERWISE = 3;
const HAS_HASH = 0b10000000;
const HASH_BYTES = 4;
const EFFECT_BYTES_MAX = 1 + 4 * (NUMBER_BYTES_MAX + 1) + HASH_BYTES + DOUBLE_BYTES;

/** The flags of a new transaction. */
export function factsOf(kind: TransactionKind, state: TransactionState): number {
  return STATES.indexOf(state) | (KINDS.indexOf(kind) << KIND_SHIFT);
}

/** True for a transaction that is not open and has not changed since this time. */
export function isClosedAt({ transactions }: Tables, row: number, sinceMs: number): boolean {
  const at = transactions.at(row);
  const isOpen = ((transactions.wordsOf(row)[at + TRANSACTION_FLAGS] as number) & STATE_MASK) <= 1;
  return !isOpen && (transactions.doublesOf(row)[(at >> 1) + D_TRANSACTION_UPDATED] as number) < sinceMs;
}

/** A view of one transaction's row: its flags, amounts and first answers. */
export class TransactionRecord {
  protected readonly words: Uint32Array;
  protected readonly at: number;
  private readonly doubles: Float64Array;

  constructor(
    protected readonly tables: Tables,
    readonly row: number,
  ) {
    this.words = tables.transactions.wordsOf(row);
    this.doubles = tables.transactions.doublesOf(row);
    this.at = tables.transactions.at(row);
  }

  /** The transaction's id; empty for a mark. */
  get id(): string {
    return this.tables.cursorAt(this.blob, USED_BYTES).text();
  }

  /** True if the transaction has this id. Compares the stored bytes without decoding them. */
  hasId(id: WrittenText): boolean {
    return this.tables.isTextAt(this.blob, USED_BYTES, id);
  }

  /** All flags, as in snapshots. */
  get facts(): number {
    return this.words[this.at + TRANSACTION_FLAGS] as number;
  }

  private set facts(facts: number) {
    this.words[this.at + TRANSACTION_FLAGS] = facts;
  }

  get kind(): TransactionKind {
    return KINDS[(this.facts & KIND_MASK) >> KIND_SHIFT] as TransactionKind;
  }

  get isBet(): boolean {
    return (this.facts & KIND_MASK) === BET;
  }

  get state(): TransactionState {
    return STATES[this.facts & STATE_MASK] as TransactionState;
  }

  set state(state: TransactionState) {
    this.facts = (this.facts & ~STATE_MASK) | STATES.indexOf(state);
  }

  get isOpen(): boolean {
    return (this.facts & STATE_MASK) <= 1;
  }

  /** True in the states REFUND, REJECT and VOID, in which the transaction has no effect on the balance. */
  get isReversed(): boolean {
    const state = this.facts & STATE_MASK;
    return state >= FIRST_REVERSED && state <= LAST_REVERSED;
  }

  /** True for tombstones and marks, which remember a cancel of something unknown. The wallet counts them. */
  get isTombstone(): boolean {
    const kind = this.facts & KIND_MASK;
    return kind > SETTLEMENT && kind <= MARK;
  }

  /**
   * True after a placeBets with status OPEN. This needs a separate flag, because the settlement may have arrived first.
   */
  get opened(): boolean {
    return (this.facts & OPENED) !== 0;
  }

  markOpened(): void {
    this.facts |= OPENED;
  }

  /** True if the stake, possibly 0, was taken. */
  get taken(): boolean {
    return (this.facts & TAKEN) !== 0;
  }

  markTaken(): void {
    this.facts |= TAKEN;
  }

  /** True if the payout, possibly 0, was paid. */
  get paidOut(): boolean {
    return (this.facts & PAID_OUT) !== 0;
  }

  markPaidOut(): void {
    this.facts |= PAID_OUT;
  }

  /** True if the round started and ended with one settleBets. */
  get isSingleState(): boolean {
    return (this.facts & SINGLE_STATE) !== 0;
  }

  markSingleState(): void {
    this.facts |= SINGLE_STATE;
  }

  get settledByRound(): boolean {
    return (this.facts & SETTLED_BY_ROUND) !== 0;
  }

  markSettledByRound(): void {
    this.facts |= SETTLED_BY_ROUND;
  }

  /** True after a rollback. If the transaction is open now, the newest rollback reopened it. */
  get isRolledBack(): boolean {
    return (this.facts & ROLLED_BACK) !== 0;
  }

  /** True if the newest rollback reopened the transaction and it is still open. */
  get isReopened(): boolean {
    return this.isRolledBack && (this.isOpen || this.state === 'TIPS');
  }

  /**
   * True if a single-state message settled the transaction. After a rollback, other messages can also settle a
   * single-state bet.
   */
  get isSettledSingly(): boolean {
    return (this.facts & (SINGLE_STATE | SETTLED_OTHERWISE)) === SINGLE_STATE;
  }

  /** `isSingly` is true if a single-state message settles the transaction. */
  settle(isSingly: boolean): void {
    this.state = 'SETTLED';
    if (this.isSingleState && !isSingly) this.facts |= SETTLED_OTHERWISE;
  }

  /** Reopens the transaction. If `keepsStake` is false, its stake counts as not taken. */
  reopen(keepsStake: boolean): void {
    this.facts &= ~(PAID_OUT | SETTLED_BY_ROUND | SETTLED_OTHERWISE | (keepsStake ? 0 : TAKEN));
    this.facts |= ROLLED_BACK;
    if (!this.isBet) this.state = 'TIPS';
    else this.state = this.opened || this.isSingleState ? 'OPEN' : 'WAITING';
  }

  get createdMs(): number {
    return this.doubles[(this.at >> 1) + D_TRANSACTION_CREATED] as number;
  }

  get updatedMs(): number {
    return this.doubles[(this.at >> 1) + D_TRANSACTION_UPDATED] as number;
  }

  /**
   * Records the time of a change. A round's time never goes back, even if log time was set back, because the round's
   * newest archive record must have the latest day.
   */
  touch(timeMs: number): void {
    const index = (this.at >> 1) + D_TRANSACTION_UPDATED;
    this.doubles[index] = Math.max(this.doubles[index] as number, timeMs);
  }

  /**
   * The amount. For a bet: its current stake. For a tip: the amount given or credited. For a settlement: its payout
   * less the amounts taken back. For all other kinds: the moved amount.
   */
  get stake(): Units {
    return this.doubles[(this.at >> 1) + D_TRANSACTION_AMOUNT] as Units;
  }

  set stake(units: Units) {
    this.doubles[(this.at >> 1) + D_TRANSACTION_AMOUNT] = units;
  }

  /**
   * The part of the stake that was taken and not returned. It is derived from the flags, so that it cannot contradict
   * them.
   */
  get held(): Units {
    return this.taken && !this.isReversed ? this.stake : 0;
  }

  /** The payout that the transaction's own settle named; undefined if it has no settle of its own. */
  get payout(): Units | undefined {
    let payout: Units | undefined;
    const { cursor, end } = this.effectCursor();
    while (cursor.at < end) {
      const head = cursor.byte();
      cursor.number();
      const amount = cursor.signed();
      if ((head & TYPE_MASK) === SETTLE) payout = amount;
      else if ((head & TYPE_MASK) === ROLLBACK) payout = undefined;
      cursor.signed();
      skipTail(cursor, head);
    }
    return payout;
  }

  /** Payout, reward, credit or tip refund that was paid and not taken back. */
  get paid(): Units {
    if (!this.paidOut || this.state === 'VOID') return 0;
    // A settlement's payout can be taken back in part. A bet's own payout is either paid or not.
    return this.isBet ? (this.payout ?? 0) : this.stake;
  }

  /** Takes back part of a settlement's payout. */
  takeBack(units: Units): void {
    this.stake -= units;
  }

  /**
   * Records a message that had an effect, with its answer. `requestId` is set for an adjustment, `requestHash` for a
   * place, a settle, a cancel or the void of a reward.
   */
  record(
    type: EffectType,
    waiting: boolean,
    skip: boolean,
    amount: Units,
    answer: FirstAnswer,
    requestId = '',
    requestHash?: number,
  ): void {
    this.append(effectOf(type, waiting, skip, amount, answer, requestId, requestHash));
  }

  /** Records a rollback. `requestId` is empty for a rollback BY_ROUND. */
  recordRollback(requestId: string, skip: boolean, sentMs: number, answer: FirstAnswer): void {
    const amount = answer.before - answer.after;
    this.append(effectOf('rollback', requestId === '', skip, amount, answer, requestId, undefined, sentMs));
  }

  private append(effect: Effect): void {
    const bytes = scratchOf(effectBytesMax(effect.requestId));
    const end = writeEffect(bytes, 0, effect);
    this.words[this.at + TRANSACTION_BLOB] = this.tables.append(this.blob, BLOB_OF_TRANSACTION, this.row, bytes, end);
  }

  /** The messages that had an effect, oldest first. */
  effects(): Effect[] {
    const effects: Effect[] = [];
    const { cursor, end } = this.effectCursor();
    while (cursor.at < end) effects.push(readEffect(cursor));
    return effects;
  }

  /** The wallet's version after the first message that had an effect; undefined if there is none. */
  get firstVersion(): number | undefined {
    const { cursor, end } = this.effectCursor();
    if (cursor.at === end) return undefined;
    cursor.byte();
    return cursor.number();
  }

  /** For a bet: the request ids of its adjustments, oldest first. */
  get adjustmentIds(): string[] {
    return this.effects()
      .filter(({ type }) => type === 'adjust')
      .map(({ requestId }) => requestId);
  }

  /**
   * The adjustment with this request id. Does not decode the other adjustments, because there can be a thousand of
   * them.
   */
  adjustmentBy(requestId: string): Effect | undefined {
    const wanted = writtenText(requestId);
    const { cursor, end } = this.effectCursor();
    while (cursor.at < end) {
      const start = cursor.at;
      const head = skipFigures(cursor);
      if ((head & TYPE_MASK) === ADJUST && isTextAt(cursor.bytes, cursor.at, wanted)) {
        cursor.at = start;
        return readEffect(cursor);
      }
      skipNames(cursor, head);
    }
    return undefined;
  }

  get adjustmentCount(): number {
    return this.countEffects(ADJUST);
  }

  get rollbackCount(): number {
    return this.isRolledBack ? this.countEffects(ROLLBACK) : 0;
  }

  get newestRollback(): Effect | undefined {
    return this.isRolledBack ? this.effects().findLast(({ type }) => type === 'rollback') : undefined;
  }

  /** The rollback of this transaction with this request id. */
  rollbackBy(requestId: string): Effect | undefined {
    if (!this.isRolledBack) return undefined;
    return this.effects().find((effect) => effect.type === 'rollback' && effect.requestId === requestId);
  }

  /** Request hashes of the settles and cancels of this transaction, and of a reward's void. */
  requestHashes(): number[] {
    return hashesOf(this.effects());
  }

  /** True if an effect of one of these types has no request hash, because an older walletd wrote it. */
  lacksHashOf(types: readonly EffectType[]): boolean {
    return this.effects().some(({ type, requestHash }) => requestHash === undefined && types.includes(type));
  }

  /**
   * The newest effect of a placeBets or placeTips with this request id and content. If exactly this message is sent
   * again, it has no further effect.
   */
  placingBy(requestId: string, waiting: boolean, skip: boolean, amount: Units): Effect | undefined {
    const hash = hashOfRequest(requestId);
    return this.effects().findLast((effect) => {
      const isSame = effect.waiting === waiting && effect.skip === skip && effect.amount === amount;
      return effect.type === 'place' && effect.requestHash === hash && isSame;
    });
  }

  /** Request hashes of settles and cancels that rollbacks have undone. */
  undoneHashes(): number[] {
    if (!this.isRolledBack) return [];
    const effects = this.effects();
    const newest = effects.findLastIndex(({ type }) => type === 'rollback');
    return hashesOf(effects.slice(0, newest));
  }

  private countEffects(type: number): number {
    let count = 0;
    const { cursor, end } = this.effectCursor();
    while (cursor.at < end) {
      const head = skipFigures(cursor);
      if ((head & TYPE_MASK) === type) count++;
      skipNames(cursor, head);
    }
    return count;
  }

  /** Id and effects, in stored form. */
  blobCursor(): { readonly cursor: Cursor; readonly end: number } {
    const cursor = this.tables.cursorAt(this.blob, USED_BYTES);
    const start = cursor.at - USED_BYTES;
    return { cursor, end: start + readUsed(cursor.bytes, start) };
  }

  private effectCursor(): { readonly cursor: Cursor; readonly end: number } {
    const blob = this.blobCursor();
    blob.cursor.skipText();
    return blob;
  }

  private get blob(): number {
    return this.words[this.at + TRANSACTION_BLOB] as number;
  }
}

function hashesOf(effects: readonly Effect[]): number[] {
  return effects.flatMap(({ type, requestHash }) => (type === 'place' ? [] : (requestHash ?? [])));
}

/**
 * Creates an effect. `requestId` is set for an adjustment or a rollback, `requestHash` for a place, a settle, a cancel
 * or the void of a reward, and `sentMs` for a rollback.
 */
export function effectOf(
  type: EffectType,
  waiting: boolean,
  skip: boolean,
  amount: Units,
  { before, after, version }: FirstAnswer,
  requestId = '',
  requestHash: number | undefined = undefined,
  sentMs = 0,
): Effect {
  // List all fields, so that all effects have the same shape in V8. A spread would be ten times as slow.
  return { type, waiting, skip, amount, before, after, version, requestId, requestHash, sentMs };
}

export function effectBytesMax(requestId: string): number {
  return EFFECT_BYTES_MAX + textBytesMax(requestId);
}

/** Writes an effect; returns the position after it. */
export function writeEffect(bytes: Buffer, at: number, effect: Effect): number {
  const { type, waiting, skip, amount, before, after, version, requestId, requestHash, sentMs } = effect;
  const move = moveOf(before, amount, after);
  const hashFlag = requestHash === undefined ? 0 : HAS_HASH;
  bytes[at] = EFFECTS.indexOf(type) | (waiting ? WAITING : 0) | (skip ? SKIP : 0) | (move << MOVE_SHIFT) | hashFlag;
  let end = writeNumber(bytes, at + 1, version);
  end = writeSigned(bytes, end, amount);
  end = writeSigned(bytes, end, before);
  if (move === OTHERWISE) end = writeSigned(bytes, end, after);
  if (requestHash !== undefined) end = bytes.writeUInt32LE(requestHash, end);
  if (type === 'adjust' || requestId !== '') end = writeText(bytes, end, requestId);
  return type === 'rollback' ? bytes.writeDoubleLE(sentMs, end) : end;
}

/*
 * In snapshots of format 1, an effect's message is one number: type (3 bits), was WAITING, was skipped.
 */
const MESSAGES = 32;

/** Version and message, as one number. */
export function effectHead({
  type,
  waiting,
  skip,
  version,
}: Omit<Effect, 'requestId' | 'requestHash' | 'sentMs'>): number {
  return version * MESSAGES + (EFFECTS.indexOf(type) | (waiting ? WAITING : 0) | (skip ? SKIP : 0));
}

/** True if an effect's first number identifies an adjustment. */
export function isAdjustment(head: number): boolean {
  return ((head % MESSAGES) & TYPE_MASK) === ADJUST;
}

/** Creates an effect from its stored numbers in format 1 and its request id. */
export function effectFrom(head: number, amount: Units, before: Units, after: Units, requestId: string): Effect {
  const message = head % MESSAGES;
  const type = EFFECTS[message & TYPE_MASK] as EffectType;
  const version = (head - message) / MESSAGES;
  const answer = { before, after, version };
  return effectOf(type, (message & WAITING) !== 0, (message & SKIP) !== 0, amount, answer, requestId);
}

function moveOf(before: Units, amount: Units, after: Units): number {
  if (after === before) return STAYED;
  if (after === before - amount) return BY_AMOUNT_DOWN;
  if (after === before + amount) return BY_AMOUNT_UP;
  return OTHERWISE;
}

function readEffect(cursor: Cursor): Effect {
  const head = cursor.byte();
  const version = cursor.number();
  const amount = cursor.signed();
  const before = cursor.signed();
  const move = (head >> MOVE_SHIFT) & 0b11;
  let after = before;
  if (move === BY_AMOUNT_DOWN) after = before - amount;
  else if (move === BY_AMOUNT_UP) after = before + amount;
  else if (move === OTHERWISE) after = cursor.signed();
  const requestHash = (head & HAS_HASH) === 0 ? undefined : readHash(cursor);
  const requestId = hasRequestId(head) ? cursor.text() : '';
  return {
    type: EFFECTS[head & TYPE_MASK] as EffectType,
    waiting: (head & WAITING) !== 0,
    skip: (head & SKIP) !== 0,
    amount,
    before,
    after,
    version,
    requestId,
    requestHash,
    sentMs: (head & TYPE_MASK) === ROLLBACK ? cursor.double() : 0,
  };
}

function readHash(cursor: Cursor): number {
  const hash = cursor.bytes.readUInt32LE(cursor.at);
  cursor.at += HASH_BYTES;
  return hash;
}

function hasRequestId(head: number): boolean {
  const type = head & TYPE_MASK;
  return type === ADJUST || (type === ROLLBACK && (head & WAITING) === 0);
}

/** Moves the cursor from the start of an effect to its request id. Returns the effect's first byte. */
function skipFigures(cursor: Cursor): number {
  const head = cursor.byte();
  cursor.number();
  cursor.signed();
  cursor.signed();
  skipAfter(cursor, head);
  return head;
}

function skipTail(cursor: Cursor, head: number): void {
  skipAfter(cursor, head);
  skipNames(cursor, head);
}

function skipAfter(cursor: Cursor, head: number): void {
  if (((head >> MOVE_SHIFT) & 0b11) === OTHERWISE) cursor.signed();
  if ((head & HAS_HASH) !== 0) cursor.at += HASH_BYTES;
}

/** Moves the cursor past the request id and everything after it. */
function skipNames(cursor: Cursor, head: number): void {
  if (hasRequestId(head)) cursor.skipText();
  if ((head & TYPE_MASK) === ROLLBACK) cursor.at += DOUBLE_BYTES;
}
