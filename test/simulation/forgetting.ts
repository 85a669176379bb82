import { startOfDay } from '../../src/base/time.js';
import type { Message } from '../../src/simulate/message.js';
import type { ReferencePlayer } from '../../src/simulate/model/reference-wallet.js';

/** The true time and the largest clock errors of a run that affect forgetting, in milliseconds. */
export interface ForgettingTimes {
  readonly nowMs: number;
  readonly retentionMs: number;
  /** Maximum time by which a change's timestamp may be too early. */
  readonly stampsBehindMs: number;
  /** Maximum time by which the confirmed time may be ahead. */
  readonly confirmedAheadMs: number;
}

/** The name of a round. All messages have the same product. */
type Round = string;

/**
 * Determines which of a player's IDs walletd must still know. A round may be forgotten if nothing in it is open and its
 * last change is older than the retention period. According to docs/decisions.md section 3, a round is forgotten as a
 * whole, at an unspecified time.
 */
export class Forgetting {
  /** The time at which each message was first sent, by message number. */
  private readonly sentMs: number[] = [];
  private firstMs: number | undefined = undefined;

  constructor(private readonly times: () => ForgettingTimes) {}

  sent({ number }: Message): void {
    const { nowMs } = this.times();
    this.sentMs[number] ??= nowMs;
    this.firstMs ??= nowMs;
  }

  /** True if a change by the message's first attempt may already be forgotten. */
  isOld({ number }: Message): boolean {
    return this.isExpired(this.sentMs[number] ?? 0);
  }

  /** True if a change made at this time may already be forgotten. */
  isExpired(timeMs: number): boolean {
    return timeMs < this.expiredBeforeMs();
  }

  /** Possible states after walletd has forgotten some of the rounds that these messages name. */
  worldsOf(world: ReferencePlayer, messages: readonly Message[]): readonly ReferencePlayer[] {
    const beforeMs = this.expiredBeforeMs();
    if ((this.firstMs ?? 0) >= beforeMs) return [];
    let worlds: readonly ReferencePlayer[] = [world];
    for (const round of namedRounds(world, messages)) {
      if (!this.mayBeForgotten(world, round, beforeMs)) continue;
      worlds = [...worlds, ...worlds.map((one) => without(one, round))];
    }
    return worlds.slice(1);
  }

  private expiredBeforeMs(): number {
    const { nowMs, retentionMs, stampsBehindMs, confirmedAheadMs } = this.times();
    return startOfDay(nowMs + confirmedAheadMs - retentionMs) + stampsBehindMs;
  }

  private mayBeForgotten(world: ReferencePlayer, round: Round, beforeMs: number): boolean {
    const own = partOf(world, round);
    if (own.bets.some(({ state }) => state === 'OPEN' || state === 'WAITING')) return false;
    const requests = [
      ...[...own.bets, ...own.settlements, ...own.rewards, ...own.movements].flatMap(({ entries }) => entries),
      ...own.closings,
      ...own.rollbacks,
    ];
    return requests.every(({ request }) => (this.sentMs[Number(request.slice(1))] ?? 0) < beforeMs);
  }
}

/** Rounds that contain something under these names. */
function namedRounds(world: ReferencePlayer, messages: readonly Message[]): Set<Round> {
  const rounds = new Set<Round>();
  for (const { txns } of messages) {
    for (const { id, refId, roundId } of txns) {
      if (typeof roundId === 'string') rounds.add(roundId);
      // A movement belongs to a round with the movement's own name.
      if (typeof refId === 'string') rounds.add(refId);
      for (const one of [...world.bets, ...world.rewards]) if (one.id === id) rounds.add(one.round);
    }
  }
  return rounds;
}

function partOf(world: ReferencePlayer, round: Round) {
  const isOf = (one: { readonly round: string }) => one.round === round;
  return {
    bets: world.bets.filter(isOf),
    settlements: world.settlements.filter(isOf),
    rewards: world.rewards.filter(isOf),
    closings: world.closings.filter(isOf),
    rollbacks: world.rollbacks.filter(isOf),
    movements: world.movements.filter(({ ref }) => ref === round),
  };
}

/** The player as if the round had never existed, except for the money that it moved. */
function without(world: ReferencePlayer, round: Round): ReferencePlayer {
  const isKept = (one: { readonly round: string }) => one.round !== round;
  return {
    ...world,
    bets: world.bets.filter(isKept),
    settlements: world.settlements.filter(isKept),
    rewards: world.rewards.filter(isKept),
    closings: world.closings.filter(isKept),
    rollbacks: world.rollbacks.filter(isKept),
    marks: world.marks.filter(isKept),
    undone: world.undone.filter(isKept),
    remembered: world.remembered.filter(isKept),
    movements: world.movements.filter(({ ref }) => ref !== round),
    endedRounds: world.endedRounds.filter((key) => (JSON.parse(key) as [string, string])[1] !== round),
  };
}
