import { assert } from '../../base/assert.js';
import type { Units } from '../amount.js';

/**
 * bet         a stake: OPEN or WAITING, then closed. Also the bet of a single-state round.
 * tip         known only by its cancel (until placeTips is served): REFUND.
 * settlement  the payout of a round (BY_ROUND), with an id of its own: SETTLED or VOID.
 * tombstone   a cancel of an unknown id: REFUND.
 * mark        a cancel of an unknown round: REFUND, no id.
 */
export type TransactionKind = 'bet' | 'tip' | 'settlement' | 'tombstone' | 'mark';
export const TRANSACTION_STATES = ['OPEN', 'WAITING', 'SETTLED', 'VOID', 'REFUND', 'REJECT'] as const;
export type TransactionState = (typeof TRANSACTION_STATES)[number];

const KINDS: readonly TransactionKind[] = ['bet', 'tip', 'settlement', 'tombstone', 'mark'];
const STATES: readonly TransactionState[] = TRANSACTION_STATES;

/** What the first answer to a message was; see idempotency.ts. */
export interface FirstAnswer {
  readonly before: Units;
  readonly after: Units;
  /** The wallet's version that the message made. */
  readonly version: number;
}

export type EffectType = 'place' | 'settle' | 'adjust' | 'void' | 'cancel';
const EFFECTS: readonly EffectType[] = ['place', 'settle', 'adjust', 'void', 'cancel'];

/*
 * Numbers live in one array per transaction, which V8 keeps as plain doubles: as fields each would be a heap object of
 * its own once it passes 2^31. Measured with `npm run bench memory`: it saves a quarter of a closed transaction.
 *
 *   [ createdMs | updatedMs | amount | effect | effect | ... ]
 *   effect = version * 32 + message, amount, before, after
 *   message = effect type (3 bits), was WAITING (1 bit), was skipped (1 bit)
 */
const CREATED_MS = 0;
const UPDATED_MS = 1;
const AMOUNT = 2;
const EFFECTS_START = 3;
const EFFECT_LENGTH = 4;
/** In a `TransactionImage`. */
const IMAGE_EFFECTS_START = 7;
const MESSAGES = 32;

/*
 * Facts about a transaction, in one small integer.
 *   bits 0-2 state, bits 3-5 kind, then one bit each
 */
const STATE_MASK = 0b111;
const KIND_SHIFT = 3;
const OPENED = 1 << 6;
const TAKEN = 1 << 7;
const PAID_OUT = 1 << 8;
const SINGLE_STATE = 1 << 9;
const SETTLED_BY_ROUND = 1 << 10;

/**
 * A transaction as plain values, for snapshots: `facts` and each `effect` are bits and a number as described above, and
 * are written so in snapshots for ever.
 */
export type TransactionImage = readonly [
  /** Which of its wallet's rounds it is of. */
  round: number,
  id: string,
  facts: number,
  adjustmentIds: readonly string[] | null,
  createdMs: number,
  /** Milliseconds after `createdMs`. */
  updated: number,
  amount: Units,
  /** Four numbers for each effect. */
  ...effects: number[],
];

/** The facts, figures and first answers of one transaction. */
export class TransactionRecord {
  /** Bets only: the request ids of its adjustments, in the order of its `adjust` effects. */
  adjustmentIds: string[] | undefined = undefined;
  private bits: number;
  private numbers: number[];

  /** `amount` is of a bet its stake, of a tip what is credited, of a settlement its payout. */
  constructor(
    readonly id: string,
    kind: TransactionKind,
    state: TransactionState,
    createdMs: number,
    amount: Units,
  ) {
    this.bits = STATES.indexOf(state) | (KINDS.indexOf(kind) << KIND_SHIFT);
    this.numbers = [createdMs, createdMs, amount];
  }

  get kind(): TransactionKind {
    return KINDS[(this.bits >> KIND_SHIFT) & 0b111] as TransactionKind;
  }

  get state(): TransactionState {
    return STATES[this.bits & STATE_MASK] as TransactionState;
  }

  set state(state: TransactionState) {
    this.bits = (this.bits & ~STATE_MASK) | STATES.indexOf(state);
  }

  get isOpen(): boolean {
    return (this.bits & STATE_MASK) <= 1;
  }

  /** REFUND, REJECT or VOID: as if it had never been. */
  get isReversed(): boolean {
    return (this.bits & STATE_MASK) >= 3;
  }

  /** Remembers a cancel of what was not known; counted by the wallet. */
  get isTombstone(): boolean {
    return this.kind === 'tombstone' || this.kind === 'mark';
  }

  /** A placeBets with status OPEN has come. A fact of its own: the settlement may have come first. */
  get opened(): boolean {
    return (this.bits & OPENED) !== 0;
  }

  markOpened(): void {
    this.bits |= OPENED;
  }

  /** The stake was taken, also a stake of 0. */
  get taken(): boolean {
    return (this.bits & TAKEN) !== 0;
  }

  markTaken(): void {
    this.bits |= TAKEN;
  }

  /** The payout was given, also a payout of 0. */
  get paidOut(): boolean {
    return (this.bits & PAID_OUT) !== 0;
  }

  markPaidOut(): void {
    this.bits |= PAID_OUT;
  }

  /** Its round started and ended in one settleBets. */
  get isSingleState(): boolean {
    return (this.bits & SINGLE_STATE) !== 0;
  }

  markSingleState(): void {
    this.bits |= SINGLE_STATE;
  }

  get settledByRound(): boolean {
    return (this.bits & SETTLED_BY_ROUND) !== 0;
  }

  markSettledByRound(): void {
    this.bits |= SETTLED_BY_ROUND;
  }

  get createdMs(): number {
    return this.numbers[CREATED_MS] as number;
  }

  get updatedMs(): number {
    return this.numbers[UPDATED_MS] as number;
  }

  touch(timeMs: number): void {
    this.numbers[UPDATED_MS] = timeMs;
  }

  /** The current stake of a bet; what was credited for a tip. */
  get stake(): Units {
    return this.numbers[AMOUNT] as Units;
  }

  set stake(units: Units) {
    this.numbers[AMOUNT] = units;
  }

  /** Stake taken and not given back. It follows from the facts, so it cannot disagree with them. */
  get held(): Units {
    return this.taken && !this.isReversed ? this.stake : 0;
  }

  /** What a settlement gives, as its message said; undefined for what has not been settled by a message of its own. */
  get payout(): Units | undefined {
    for (let index = this.effectCount - 1; index >= 0; index--) {
      const effect = this.effect(index);
      if (effect.type === 'settle') return effect.amount;
    }
    return undefined;
  }

  /** Payout (or tip refund) given and not taken back. */
  get paid(): Units {
    if (!this.paidOut || this.state === 'VOID') return 0;
    // Part of a settlement can have been taken back; a bet's own payout is paid or not.
    return this.kind === 'bet' ? (this.payout ?? 0) : this.stake;
  }

  /** Takes a part of a settlement's payout back. */
  takeBack(units: Units): void {
    this.numbers[AMOUNT] = this.stake - units;
  }

  get effectCount(): number {
    return (this.numbers.length - EFFECTS_START) / EFFECT_LENGTH;
  }

  /** Remembers a message that had an effect, with its answer. */
  record(type: EffectType, waiting: boolean, skip: boolean, amount: Units, answer: FirstAnswer): void {
    const head = answer.version * MESSAGES + messageOf(type, waiting, skip);
    const { before, after } = answer;
    const old = this.numbers;
    // Literals, because they have the exact length and stay plain doubles: push would leave room for 16 more.
    if (old.length === EFFECTS_START) {
      this.numbers = [old[0], old[1], old[2], head, amount, before, after] as number[];
    } else if (old.length === EFFECTS_START + EFFECT_LENGTH) {
      this.numbers = [old[0], old[1], old[2], old[3], old[4], old[5], old[6], head, amount, before, after] as number[];
    } else {
      this.numbers = old.concat(head, amount, before, after);
    }
  }

  effect(index: number): { type: EffectType; waiting: boolean; skip: boolean; amount: Units } & FirstAnswer {
    const at = EFFECTS_START + index * EFFECT_LENGTH;
    const head = this.numbers[at] as number;
    const message = head % MESSAGES;
    return {
      type: EFFECTS[message & 0b111] as EffectType,
      waiting: (message & 0b1000) !== 0,
      skip: (message & 0b10000) !== 0,
      version: (head - message) / MESSAGES,
      amount: this.numbers[at + 1] as Units,
      before: this.numbers[at + 2] as Units,
      after: this.numbers[at + 3] as Units,
    };
  }

  image(round: number): TransactionImage {
    const [createdMs, updatedMs, amount] = this.numbers as [number, number, Units];
    const image = [round, this.id, this.bits, this.adjustmentIds ?? null, createdMs, updatedMs - createdMs, amount];
    for (let at = EFFECTS_START; at < this.numbers.length; at++) image.push(this.numbers[at] as number);
    return image as unknown as TransactionImage;
  }

  protected writeImage(image: TransactionImage): void {
    const [, , facts, adjustmentIds, createdMs, updated, amount] = image;
    // One by one: the image has texts too, and a slice of it would make boxes of all numbers.
    const effects: number[] = [];
    for (let at = IMAGE_EFFECTS_START; at < image.length; at++) effects.push(image[at] as number);
    assert(effects.length % EFFECT_LENGTH === 0, 'an effect is four numbers');
    this.bits = facts;
    this.adjustmentIds = adjustmentIds === null ? undefined : [...adjustmentIds];
    const [head, moved, before, after] = effects;
    // As in `record`: the usual lengths as literals, which have no room to spare.
    this.numbers =
      effects.length === EFFECT_LENGTH
        ? ([createdMs, createdMs + updated, amount, head, moved, before, after] as number[])
        : [createdMs, createdMs + updated, amount].concat(effects);
  }

  protected copyRecordTo(copy: TransactionRecord): void {
    copy.bits = this.bits;
    copy.numbers = this.numbers.slice();
    copy.adjustmentIds = this.adjustmentIds?.slice();
  }
}

function messageOf(type: EffectType, waiting: boolean, skip: boolean): number {
  return EFFECTS.indexOf(type) | (waiting ? 0b1000 : 0) | (skip ? 0b10000 : 0);
}
