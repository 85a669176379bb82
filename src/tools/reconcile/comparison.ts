import type { Units } from '../../wallet/amount.js';
import type { Difference, DifferenceType, OurSide, TheirSide } from './difference.js';
import { AGREEING, type Age, type OurBet, type OurCredit, type OurRound } from './our-bet.js';
import type { PlatformRecord } from './platform-record.js';
import { post, type Sums } from './sums.js';
import type { Window } from './window.js';

/**
 * The platform's view of a bet whose payout walletd knows only as part of the round's payout. `payout` is undefined if
 * walletd does not have the bet.
 */
export interface RoundPayoutPart {
  readonly username: string;
  readonly productId: string;
  readonly roundId: string;
  readonly payout: Units | undefined;
  readonly line: number;
  readonly timeMs: number;
  /** True if the payout may still change. */
  readonly isInFlight: boolean;
}

/** Counts of compared items, apart from the differences themselves. */
export class Counts {
  /** Number of records from the platform. */
  theirs = 0;
  /** Number of bets in walletd. */
  ours = 0;
  /** Number of bets that are equal on both sides. */
  equal = 0;
  /**
   * Number of bets that differ or exist on one side only, but are not reported because they lie outside the window or
   * at its edge.
   */
  outside = 0;
  /** Number of cancelled bets that exist on one side only. No money depends on them. */
  cancelled = 0;
  roundsEqual = 0;
  /** Number of rounds with bets that were missing on one side. */
  roundsUnknown = 0;
}

/**
 * Compares the two sides, one part at a time. All records of a bet are in the same part. Bets are compared first.
 * Payouts of complete rounds (`onRoundPayout`) are compared after all bets.
 */
export class Comparison {
  readonly counts = new Counts();

  constructor(
    private readonly window: Window,
    private readonly sums: Sums,
    private readonly onDifference: (difference: Difference) => void,
    private readonly onRoundPayout: (part: RoundPayoutPart) => void,
  ) {}

  bets(theirs: readonly PlatformRecord[], ours: readonly OurBet[]): void {
    this.counts.theirs += theirs.length;
    const records = this.withoutDuplicates(theirs);
    const bets = newest(ours, keyOfBet);
    this.counts.ours += bets.size;
    for (const [key, record] of records) {
      const bet = bets.get(key);
      if (bet === undefined) this.onlyTheirs(record);
      else this.both(record, bet);
    }
    for (const [key, bet] of bets) if (!records.has(key)) this.onlyOurs(bet);
  }

  /**
   * Adds up credits, which the history does not contain, so that they can be compared with other records of the
   * platform.
   */
  credits(ours: readonly OurCredit[]): void {
    for (const { productId, currency, paid, createdMs } of newest(ours, keyOfCredit).values()) {
      if (paid > 0 && this.window.has(createdMs)) this.sums.of(createdMs, productId, currency).credits.add(paid);
    }
  }

  rounds(parts: readonly RoundPayoutPart[], ours: readonly OurRound[]): void {
    const byRound = new Map<string, RoundPayoutPart[]>();
    for (const part of parts) {
      const key = keyOfRound(part);
      const others = byRound.get(key);
      if (others === undefined) byRound.set(key, [part]);
      else others.push(part);
    }
    for (const [key, round] of newest(ours, keyOfRound)) {
      const there = byRound.get(key);
      if (there !== undefined) this.round(round, there);
    }
  }

  /** Keeps the newest record of each bet. If their times are equal, the record that comes later in the file is kept. */
  private withoutDuplicates(theirs: readonly PlatformRecord[]): Map<string, PlatformRecord> {
    const records = new Map<string, PlatformRecord>();
    for (const record of theirs) {
      const key = keyOfBet(record);
      const other = records.get(key);
      const isNewer = other === undefined || (record.timeMs ?? 0) >= (other.timeMs ?? 0);
      if (isNewer) records.set(key, record);
      if (other !== undefined) this.report(['duplicate'], isNewer ? other : record, undefined);
    }
    return records;
  }

  private onlyTheirs(record: PlatformRecord): void {
    const { username, productId, roundId, line, timeMs } = record;
    if (record.state === 'CANCELLED' || record.state === 'VOID') {
      this.counts.cancelled++;
      return;
    }
    if (roundId !== undefined) {
      this.onRoundPayout({
        username,
        productId,
        roundId,
        payout: undefined,
        line,
        timeMs: timeMs ?? 0,
        isInFlight: false,
      });
    }
    if (timeMs !== undefined && !this.window.has(timeMs)) {
      this.counts.outside++;
    } else {
      this.report(['missing-here'], record, undefined);
      this.postTheirs(record, timeMs ?? 0);
    }
  }

  private onlyOurs(bet: OurBet): void {
    if (bet.state === 'CANCELLED') {
      this.counts.cancelled++;
    } else if (!this.window.has(bet.createdMs, bet.updatedMs)) {
      this.counts.outside++;
    } else {
      this.report(['missing-there'], undefined, bet);
      this.postOurs(bet, bet.updatedMs);
    }
  }

  private both(record: PlatformRecord, bet: OurBet): void {
    const timeMs = record.timeMs ?? bet.updatedMs;
    const isInFlight = this.window.isPassedBy(timeMs, bet.updatedMs);
    const types = differencesOf(record, bet);
    if (types.length > 0 && isInFlight) {
      this.counts.outside++;
      return;
    }
    if (types.length > 0) this.report(types, record, bet);
    else this.counts.equal++;
    this.postTheirs(record, timeMs, bet.hangs);
    this.postOurs(bet, timeMs);
    const isKnown = !types.includes('state') && !types.includes('currency');
    if (!bet.hangs || !isKnown || bet.state === 'CANCELLED') return;
    const { username, productId, roundId } = bet;
    const payout = record.payout ?? 0;
    this.onRoundPayout({ username, productId, roundId, payout, line: record.line, timeMs, isInFlight });
  }

  private round(round: OurRound, parts: readonly RoundPayoutPart[]): void {
    const { username, productId, roundId, currency, paid, bets } = round;
    const payouts = parts.map(({ payout }) => payout).filter((payout) => payout !== undefined);
    const last = parts.at(-1) as RoundPayoutPart;
    const payout = payouts.reduce((sum, units) => sum + units, 0);
    const isWhole = payouts.length === bets && parts.length === bets;
    if (!isWhole || (payout !== paid && parts.some(({ isInFlight }) => isInFlight))) {
      this.counts.roundsUnknown++;
      return;
    }
    for (const part of parts) {
      const sum = this.sums.of(part.timeMs, productId, currency);
      sum.theirs.payout.add(part.payout ?? 0);
      sum.ours.payout.add(part.payout ?? 0);
    }
    if (payout === paid) {
      this.counts.roundsEqual++;
      return;
    }
    // Add the difference to the sums of the day, so that the two sides differ by the reported amount.
    this.sums.of(last.timeMs, productId, currency).ours.payout.add(paid - payout);
    const { line, timeMs } = last;
    this.onDifference({
      types: ['round-payout'],
      ...{ username, productId, roundId, id: undefined, currency },
      theirs: { line, state: undefined, stake: undefined, payout, timeMs, currency: undefined },
      ours: { state: undefined, held: undefined, paid, timeMs: undefined, isUntaken: false },
    });
  }

  /**
   * Posts a record of the platform. A payout that belongs to a complete round is left out here and added together with
   * its round.
   */
  private postTheirs({ productId, currency, stake, payout }: PlatformRecord, timeMs: number, hangs = false): void {
    post(this.sums.of(timeMs, productId, currency).theirs, stake ?? 0, hangs ? 0 : (payout ?? 0));
  }

  private postOurs({ productId, currency, held, paid, hangs }: OurBet, timeMs: number): void {
    post(this.sums.of(timeMs, productId, currency).ours, held, hangs ? 0 : paid);
  }

  private report(types: readonly DifferenceType[], record: PlatformRecord | undefined, bet: OurBet | undefined): void {
    const named = bet ?? (record as PlatformRecord);
    const { username, productId, roundId, id, currency } = named;
    const theirs = record && theirSide(record, currency);
    this.onDifference({ types, username, productId, roundId, id, currency, theirs, ours: bet && ourSide(bet) });
  }
}

function differencesOf(record: PlatformRecord, bet: OurBet): DifferenceType[] {
  if (record.currency !== bet.currency) return ['currency'];
  if (!AGREEING[record.state].includes(bet.state)) return ['state'];
  const types: DifferenceType[] = [];
  if (record.stake !== undefined && record.stake !== bet.held) types.push('stake');
  if (record.payout !== undefined && record.payout !== bet.paid && !bet.hangs) types.push('payout');
  return types;
}

function theirSide({ line, state, stake, payout, timeMs, currency }: PlatformRecord, ourCurrency: string): TheirSide {
  return { line, state, stake, payout, timeMs, currency: currency === ourCurrency ? undefined : currency };
}

function ourSide({ state, held, paid, stake, hangs, updatedMs }: OurBet): OurSide {
  const isStanding = state !== 'VOID' && state !== 'CANCELLED';
  return { state, held, paid: hangs ? undefined : paid, timeMs: updatedMs, isUntaken: isStanding && held !== stake };
}

/** Keeps only the newest of several readings of the same item. */
function newest<T extends { readonly age: Age }>(all: readonly T[], keyOf: (one: T) => string): Map<string, T> {
  const found = new Map<string, T>();
  for (const one of all) {
    const key = keyOf(one);
    const other = found.get(key);
    if (other === undefined || isOlder(other.age, one.age)) found.set(key, one);
  }
  return found;
}

function isOlder(one: Age, other: Age): boolean {
  const differs = one.findIndex((part, i) => part !== other[i]);
  return differs !== -1 && (one[differs] as number) < (other[differs] as number);
}

/** Names may contain any character, so the key begins with their lengths. */
export function keyOfBet({ username, productId, id }: { username: string; productId: string; id: string }): string {
  return `${username.length} ${productId.length} ${username}${productId}${id}`;
}

export function keyOfCredit(credit: OurCredit): string {
  return `${credit.kind} ${keyOfBet(credit)}`;
}

export function keyOfRound(round: { username: string; productId: string; roundId: string }): string {
  const { username, productId, roundId } = round;
  return `${username.length} ${productId.length} ${username}${productId}${roundId}`;
}
