import { DAY_MS, dayOf } from '../../base/time.js';
import { ExactSum, type Units } from '../../wallet/amount.js';
import { ToolError } from '../store-reader.js';

/** Maximum number of separate sums, enough for ten products over 27 years. */
const SUMS_MAX = 100_000;

/** One side's bets for a product and a day. */
export class SideSum {
  bets = 0;
  readonly stake = new ExactSum();
  readonly payout = new ExactSum();
}

export class DaySum {
  readonly theirs = new SideSum();
  readonly ours = new SideSum();
  /** Credits without a bet, for which the history has no counterpart. */
  readonly credits = new ExactSum();

  constructor(
    readonly day: string,
    readonly productId: string,
    readonly currency: string,
  ) {}

  get isEqual(): boolean {
    const { theirs, ours } = this;
    return (
      theirs.bets === ours.bets && theirs.stake.value === ours.stake.value && theirs.payout.value === ours.payout.value
    );
  }
}

/** Sums of the compared bets, per day (UTC), product and currency. */
export class Sums {
  private readonly sums = new Map<string, DaySum>();

  /**
   * The sum for a day, product and currency. `timeMs` is the platform's time if it is known, so that both sides use the
   * same day.
   */
  of(timeMs: number, productId: string, currency: string): DaySum {
    const day = dayOf(timeMs);
    const key = `${day} ${currency} ${productId}`;
    let sum = this.sums.get(key);
    if (sum === undefined) {
      if (this.sums.size === SUMS_MAX)
        throw new ToolError(`there are more than ${SUMS_MAX} days, products and currencies`);
      sum = new DaySum(new Date(day * DAY_MS).toISOString().slice(0, 10), productId, currency);
      this.sums.set(key, sum);
    }
    return sum;
  }

  /** Sorted by day, product and currency. */
  all(): readonly DaySum[] {
    const key = ({ day, productId, currency }: DaySum) => `${day} ${productId} ${currency}`;
    return [...this.sums.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }
}

export function post(side: SideSum, stake: Units, payout: Units): void {
  side.bets++;
  side.stake.add(stake);
  side.payout.add(payout);
}
