import type { Units } from '../wallet/amount.js';
import type { HandUse } from '../wallet/hand-limits.js';

const MINUTE_MS = 60_000;

/** `asked` means that the operation is waiting for another operator's approval. */
export type HandOutcome = 'moved' | 'asked' | 'nothing';

/**
 * Money that one operator moved on one UTC day, and that operator's number of operations in the last minute. Pending
 * operations count.
 */
export class HandAccount {
  /** Totals of completed operations, by currency. */
  private done = new Map<string, bigint>();
  private readonly onItsWay = new Map<string, bigint>();
  /** Ids of approvals that are counted in `done`, so that repeats after an uncertain outcome count once. */
  private readonly approvals = new Set<string>();
  /** Monotonic times, oldest first. Never longer than the per-minute limit, because further operations are refused. */
  private readonly times: number[] = [];

  constructor(readonly day: number) {}

  use(currency: string, nowMs: number): HandUse {
    while (this.times.length > 0 && (this.times[0] as number) <= nowMs - MINUTE_MS) this.times.shift();
    const dayUnits = (this.done.get(currency) ?? 0n) + (this.onItsWay.get(currency) ?? 0n);
    return { dayUnits, lastMinute: this.times.length };
  }

  begin(currency: string, amount: Units, nowMs: number | undefined): void {
    add(this.onItsWay, currency, sizeOf(amount));
    if (nowMs !== undefined) this.times.push(nowMs);
  }

  end(currency: string, amount: Units, nowMs: number | undefined, outcome: HandOutcome): void {
    add(this.onItsWay, currency, -sizeOf(amount));
    if (outcome === 'moved') add(this.done, currency, sizeOf(amount));
    if (outcome !== 'nothing') return;
    const at = nowMs === undefined ? -1 : this.times.lastIndexOf(nowMs);
    if (at !== -1) this.times.splice(at, 1);
  }

  /** Counts the money of an approval once. */
  noteApproved(approval: string, currency: string, amount: Units): void {
    if (this.approvals.has(approval)) return;
    this.approvals.add(approval);
    add(this.done, currency, sizeOf(amount));
  }

  /**
   * Loads the totals that the wallets remember. An operation that was pending during the load may count twice until the
   * next load, but none is missed.
   */
  async load(read: () => Promise<ReadonlyMap<string, bigint>>): Promise<void> {
    const before = new Map(this.done);
    // The loaded totals lack an uncertain approval that moved nothing, so its repeat must count.
    this.approvals.clear();
    const known = new Map(await read());
    for (const [currency, units] of this.done) add(known, currency, units - (before.get(currency) ?? 0n));
    this.done = known;
  }
}

function add(sums: Map<string, bigint>, currency: string, units: bigint): void {
  sums.set(currency, (sums.get(currency) ?? 0n) + units);
}

export function sizeOf(amount: Units): bigint {
  return BigInt(Math.abs(amount));
}
