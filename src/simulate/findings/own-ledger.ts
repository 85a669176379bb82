import type { Element } from '../message.js';
import { unitsOf } from '../model/callback-of.js';
import type { Sent } from '../play.js';

/** Why a request moves more than its operator's own earlier answers justify. */
export type Reason = 'negative' | 'unknown' | 'moved' | 'settled' | 'amount';

/** The move of a balance that an operator's own answers justify, in units. */
export interface Justified {
  readonly move: number;
  /** The reason why another move would be wrong. */
  readonly reason: Reason;
}

/** A bet as the operator has accepted it. */
interface Bet {
  readonly round: string;
  /** The part of the stake that was taken and not given back. */
  held: number;
  /** The part of the payout that was paid and not taken back. */
  paid: number;
  isSettled: boolean;
}

/** Money that a request of these endpoints moves. It moves once per id. */
const ONCE: Readonly<Record<string, (txn: Element) => number>> = {
  winRewards: (txn) => amountOf(txn.payoutAmount),
  adjustBalance: (txn) => amountOf(txn.amount) * (txn.status === 'DEBIT' ? -1 : 1),
};

/**
 * Follows the requests that an operator has accepted, whatever the specification says about them. It distinguishes a
 * decision from a wrong sum: a cancel of a settled bet may also take its payout back, but may not only return its stake.
 */
export class OwnLedger {
  private readonly bets = new Map<string, Bet>();
  private readonly tips = new Map<string, number>();
  private readonly once = new Set<string>();
  private readonly requests = new Set<string>();

  constructor(
    history: readonly Sent[],
    private readonly decimals: number,
  ) {
    for (const sent of history) {
      if (sent.stated?.code === 0) this.justify(sent);
    }
  }

  /** Accepts a request. Returns the move that it may make. A repeated request may make none. */
  justify({ endpoint, body }: Pick<Sent, 'endpoint' | 'body'>): Justified {
    const request = JSON.parse(body) as Request;
    const { id, productId, txns = [] } = request;
    const content = JSON.stringify([endpoint, id, txns]);
    if (this.requests.has(content)) return { move: 0, reason: 'moved' };
    this.requests.add(content);
    const moves = txns.map((txn) => this.element(endpoint, productId, txn));
    const move = unitsOf(
      moves.reduce((sum, one) => sum + one.move, 0),
      this.decimals,
    );
    return { move, reason: moves.find(({ reason }) => reason !== 'amount')?.reason ?? 'amount' };
  }

  private element(endpoint: string, productId: string, txn: Element): Justified {
    if ([txn.betAmount, txn.payoutAmount, txn.amount].some((amount) => Number(amount ?? 0) < 0)) {
      return { move: 0, reason: 'negative' };
    }
    const key = `${productId} ${txn.id ?? txn.refId}`;
    const moving = txn.skipBalanceUpdate !== true;
    const move = (amount: number): Justified => ({ move: moving ? amount : 0, reason: 'amount' });
    const once = ONCE[endpoint];
    if (once !== undefined) {
      if (this.once.has(`${endpoint} ${key}`)) return { move: 0, reason: 'moved' };
      this.once.add(`${endpoint} ${key}`);
      return move(once(txn));
    }
    switch (endpoint) {
      case 'placeBets':
        return this.placeBet(key, productId, txn, moving);
      case 'placeTips': {
        if (this.tips.has(key)) return { move: 0, reason: 'moved' };
        this.tips.set(key, moving ? amountOf(txn.betAmount) : 0);
        return move(-amountOf(txn.betAmount));
      }
      case 'cancelTips': {
        const tip = this.tips.get(key);
        this.tips.set(key, 0);
        if (tip === undefined) return { move: 0, reason: 'unknown' };
        return { move: tip, reason: tip === 0 ? 'moved' : 'amount' };
      }
      default:
        return this.ofBets(endpoint, key, productId, txn, moving);
    }
  }

  private placeBet(key: string, productId: string, txn: Element, moving: boolean): Justified {
    const known = this.bets.get(key);
    if (known !== undefined && known.held > 0) return { move: 0, reason: 'moved' };
    const held = moving ? amountOf(txn.betAmount) : 0;
    if (known === undefined)
      this.bets.set(key, { round: `${productId} ${txn.roundId}`, held, paid: 0, isSettled: false });
    else known.held = held;
    return { move: -held, reason: 'amount' };
  }

  private ofBets(endpoint: string, key: string, productId: string, txn: Element, moving: boolean): Justified {
    const bets = this.betsOf(key, productId, txn);
    const held = bets.reduce((sum, bet) => sum + bet.held, 0);
    const paid = bets.reduce((sum, bet) => sum + bet.paid, 0);
    const [first] = bets;
    if (endpoint === 'settleBets') return this.settle(first, bets, key, productId, txn, moving);
    if (first === undefined) return { move: 0, reason: 'unknown' };
    const none = held === 0 && paid === 0 ? 'moved' : 'amount';
    switch (endpoint) {
      case 'adjustBets':
        first.held = amountOf(txn.betAmount);
        return { move: held - first.held, reason: 'amount' };
      case 'cancelBets':
        return cancel(bets);
      case 'voidSettled':
        for (const bet of bets) Object.assign(bet, { held: 0, paid: 0 });
        return { move: held - paid, reason: none };
      default:
        for (const bet of bets) Object.assign(bet, { paid: 0, isSettled: false });
        return { move: -paid, reason: none };
    }
  }

  private settle(
    first: Bet | undefined,
    bets: readonly Bet[],
    key: string,
    productId: string,
    txn: Element,
    moving: boolean,
  ): Justified {
    const payout = moving ? amountOf(txn.payoutAmount) : 0;
    if (first === undefined) {
      if (txn.isSingleState !== true) return { move: 0, reason: 'unknown' };
      const held = moving ? amountOf(txn.betAmount) : 0;
      this.bets.set(key, { round: `${productId} ${txn.roundId}`, held, paid: payout, isSettled: true });
      return { move: payout - held, reason: 'amount' };
    }
    // A settle of a round has its own id. A second settle pays the round again by decision, and not by mistake.
    const isKnown = txn.transactionType === 'BY_ROUND' ? this.once.has(`settleBets ${key}`) : first.isSettled;
    if (isKnown) return { move: 0, reason: 'moved' };
    this.once.add(`settleBets ${key}`);
    for (const bet of bets) bet.isSettled = true;
    first.paid += payout;
    return { move: payout, reason: 'amount' };
  }

  private betsOf(key: string, productId: string, txn: Element): readonly Bet[] {
    if (txn.transactionType === 'BY_ROUND') {
      return [...this.bets.values()].filter(({ round }) => round === `${productId} ${txn.roundId}`);
    }
    const bet = this.bets.get(key);
    return bet === undefined ? [] : [bet];
  }
}

/**
 * Returns the stakes of the open bets. If all bets are settled, a cancel may undo them as a voidSettled does. It must
 * not return the stakes of bets without a payout, because they are lost.
 */
function cancel(bets: readonly Bet[]): Justified {
  const open = bets.filter(({ isSettled }) => !isSettled);
  const undone = open.length > 0 ? open : bets;
  const held = undone.reduce((sum, bet) => sum + bet.held, 0);
  const paid = undone.reduce((sum, bet) => sum + bet.paid, 0);
  for (const bet of undone) Object.assign(bet, { held: 0, paid: 0 });
  if (held === 0 && paid === 0) return { move: 0, reason: 'moved' };
  const isLost = open.length === 0 && paid === 0;
  return { move: isLost ? 0 : held - paid, reason: bets.some(({ isSettled }) => isSettled) ? 'settled' : 'amount' };
}

interface Request {
  readonly id: string;
  readonly productId: string;
  readonly txns?: readonly Element[];
}

/** The amount in whole currency units. An amount that is not a number counts as 0. */
function amountOf(value: unknown): number {
  const amount = Number(value ?? 0);
  return Number.isFinite(amount) ? amount : 0;
}
