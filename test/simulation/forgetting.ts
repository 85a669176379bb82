import { startOfDay } from '../../src/base/time.js';
import type { Message } from '../../src/tools/simulate/message.js';
import type { ReferencePlayer } from '../../src/tools/simulate/model/reference-wallet.js';

/** True time and the worst clock errors of a run, as far as they affect forgetting. Milliseconds. */
export interface ForgettingTimes {
  readonly nowMs: number;
  readonly retentionMs: number;
  /** Most that the stamp of a change may be too early. */
  readonly stampsBehindMs: number;
  /** Most that the confirmed time may be ahead. */
  readonly confirmedAheadMs: number;
}

/** Name of a round; all messages have the same product. */
type Round = string;

/**
 * Decides which ids of one player an operator must still know. A round may be forgotten when nothing in it is open and
 * its last change is older than the retention. By docs/decisions.md section 3 it goes as a whole, at an unspecified
 * time.
 */
export class Forgetting {
  /** Time at which each message was first sent, by its number. */
  private readonly sentMs: number[] = [];
  private firstMs: number | undefined = undefined;

  constructor(private readonly times: () => ForgettingTimes) {}

  sent({ number }: Message): void {
    const { nowMs } = this.times();
    this.sentMs[number] ??= nowMs;
    this.firstMs ??= nowMs;
  }

  /** Whether a change by the message's first attempt may be forgotten already. */
  isOld({ number }: Message): boolean {
    return this.isExpired(this.sentMs[number] ?? 0);
  }

  /** Whether a change at this time may be forgotten already. */
  isExpired(timeMs: number): boolean {
    return timeMs < this.expiredBeforeMs();
  }

  /** States in which the operator has forgotten some of the rounds that these messages name. */
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

/** The rounds that hold something under these names. */
function namedRounds(world: ReferencePlayer, messages: readonly Message[]): Set<Round> {
  const rounds = new Set<Round>();
  for (const { txns } of messages) {
    for (const { id, refId, roundId } of txns) {
      if (typeof roundId === 'string') rounds.add(roundId);
      // A movement is in the round of its own name.
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

/** The player without the round, as if it had never been, but with the money that it has moved. */
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
