import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Follower, Taking } from '../log/follower.js';
import type { Recovered, RecoveryDeps } from '../log/recovery.js';
import type { TakeOverDeps } from '../log/take-over.js';
import type { Head } from '../ports/wal.js';
import type { HostObserver } from './host-observer.js';
import type { HostedShard } from './hosted-shard.js';

export interface TakeShardDeps extends RecoveryDeps, TakeOverDeps {
  readonly log: Logger;
  /** The machine's own clock, without corrections. Restart budgets measure real time, not the time of the logs. */
  readonly realClock: Clock;
  readonly observer: HostObserver;
  /** Called once the shard serves. `wasStandby`: this node had followed the log of another owner. */
  readonly onTaken: (hosted: HostedShard, recovered: Recovered, wasStandby: boolean) => void;
}

/**
 * The one door to ownership: fences the log that the follower has read, and serves the shard. A start, a restart after
 * a failed assertion, the replacement of a thread and a take-over in a cluster all pass here. They differ in `taking`.
 * Resolves to the fence. Rejects as `Follower.takeOver` does; the follower can then be used again.
 */
export async function takeShard(
  hosted: HostedShard,
  follower: Follower,
  taking: Taking,
  deps: TakeShardDeps,
): Promise<Head> {
  const { shard } = hosted;
  const standby = shard.currentFollower;
  const { recovered, healed } = await follower.takeOver(taking, deps, deps.yieldTurn);
  reportHealed(shard.id, healed, deps);
  if (shard.currentFollower !== standby) throw new Error('the shard was unloaded while it was being taken over');
  shard.open(recovered);
  hosted.restarts.recovered(deps.realClock.monotonicMs());
  deps.onTaken(hosted, recovered, standby !== undefined);
  return recovered.head;
}

/** Reports entries that the log had lost and that were appended again. */
export function reportHealed(shard: number, lost: number, { observer, log }: TakeShardDeps): void {
  if (lost === 0) return;
  observer.healed(shard, lost);
  log.warn({ code: 'entries-reappended', shard, lost }, 'store lost acknowledged entries, appending them again');
}
