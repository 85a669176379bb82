import type { Units } from '../amount.js';
import { type FirstAnswer, type TransactionImage, TransactionRecord } from './transaction-record.js';

/** A transaction in its places: in its round, and on the list of its wallet. */
export class Transaction extends TransactionRecord {
  /** The transaction of the same wallet created before this one. */
  older: Transaction | undefined = undefined;

  constructor(
    readonly round: Round,
    id: TransactionRecord['id'],
    kind: TransactionRecord['kind'],
    state: TransactionRecord['state'],
    createdMs: number,
    amount: Units,
  ) {
    super(id, kind, state, createdMs, amount);
  }

  /** From a snapshot, on no list. */
  static fromImage(round: Round, image: TransactionImage): Transaction {
    const [, id, , , createdMs, , amount] = image;
    const transaction = new Transaction(round, id, 'bet', 'OPEN', createdMs, amount);
    transaction.writeImage(image);
    return transaction;
  }

  /** A copy in `round`, on no list. */
  copyInto(round: Round): Transaction {
    const copy = new Transaction(round, this.id, this.kind, this.state, this.createdMs, this.stake);
    this.copyRecordTo(copy);
    return copy;
  }
}

/** A payout BY_ROUND, and the bets it settled: none when it was a further payout. */
export interface Settlement {
  readonly transaction: Transaction;
  readonly bets: readonly Transaction[];
}

/** The cancel or void of a whole round, found again by the id of its message. */
export interface RoundClosing extends FirstAnswer {
  readonly type: 'cancel' | 'void';
  readonly id: string;
}

/** What few rounds have. */
export interface RoundFacts {
  /** A payout with isEndRound has come. */
  ended: boolean;
  /** The platform's time of the latest cancel BY_ROUND: bets sent up to then come too late. -1: none. */
  markMs: number;
  /** Oldest first. Their ids are a namespace of the round's own. */
  readonly settlements: readonly Settlement[];
  readonly closings: readonly RoundClosing[];
}

/** Most rounds have one of these two, and share it. */
const NO_FACTS: Readonly<RoundFacts> = Object.freeze({ ended: false, markMs: -1, settlements: [], closings: [] });
const ENDED_ONLY: Readonly<RoundFacts> = Object.freeze({ ended: true, markMs: -1, settlements: [], closings: [] });

/**
 * What one player did in one round of one product. Only bets are transactions of a round in the sense of the
 * decisions: tips, tombstones, settlements and marks point at it, but a round with nothing else is unknown.
 */
export class Round {
  /** One bet as it is, because most rounds have one; several in an array, oldest first. */
  private betOrBets: Transaction | Transaction[] | undefined = undefined;
  facts: Readonly<RoundFacts> = NO_FACTS;

  constructor(
    readonly productId: string,
    readonly id: string,
  ) {}

  get isKnown(): boolean {
    return this.betOrBets !== undefined;
  }

  /** Oldest first. */
  get bets(): readonly Transaction[] {
    if (this.betOrBets === undefined) return [];
    return Array.isArray(this.betOrBets) ? this.betOrBets : [this.betOrBets];
  }

  addBet(bet: Transaction): void {
    if (this.betOrBets === undefined) this.betOrBets = bet;
    else if (Array.isArray(this.betOrBets)) this.betOrBets.push(bet);
    else this.betOrBets = [this.betOrBets, bet];
  }

  end(): void {
    if (this.facts === NO_FACTS) this.facts = ENDED_ONLY;
    else if (this.facts !== ENDED_ONLY) this.facts = { ...this.facts, ended: true };
  }

  mark(markMs: number): void {
    this.facts = { ...this.facts, markMs };
  }

  addSettlement(settlement: Settlement): void {
    this.facts = { ...this.facts, settlements: [...this.facts.settlements, settlement] };
  }

  addClosing(closing: RoundClosing): void {
    this.facts = { ...this.facts, closings: [...this.facts.closings, closing] };
  }

  settlement(id: string): Settlement | undefined {
    return this.facts.settlements.find(({ transaction }) => transaction.id === id);
  }

  closing(type: RoundClosing['type'], id: string): RoundClosing | undefined {
    return this.facts.closings.find((closing) => closing.type === type && closing.id === id);
  }

  /** What each settlement of the round has given and not taken back. */
  stillPaid(): Units[] {
    return this.facts.settlements.map(({ transaction }) => transaction.paid);
  }

  /** A copy with the settlements and closings, without the bets. */
  copyShell(): Round {
    const copy = new Round(this.productId, this.id);
    const settlements = this.facts.settlements.map(({ transaction, bets }) => {
      return { transaction: transaction.copyInto(copy), bets };
    });
    copy.facts = { ...this.facts, settlements };
    return copy;
  }
}
