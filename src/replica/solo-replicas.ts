import type { Clock } from '../base/clock.js';
import type { ShardStatus } from '../threads/shards.js';
import { type Explanation, explain } from './explain.js';
import type { Facts } from './facts.js';
import { newReplica, type Replica } from './replica.js';
import { transition } from './transition.js';

/**
 * Replicas of a node without a cluster: every shard is assigned to this node, and there are no peers. The threads take
 * their shards over on their own, so the effects are dropped. The replicas explain the shards to operators.
 */
export class SoloReplicas {
  /** In the order of the shards. */
  private replicas: readonly Replica[] = [];

  constructor(
    private readonly status: () => readonly ShardStatus[],
    private readonly clock: Clock,
  ) {}

  /** Must be called periodically, because a state counts from the first call that observes it. */
  tick(): void {
    const nowMs = this.clock.monotonicMs();
    this.replicas = this.status().map((local, i) =>
      soloTick(this.replicas[i] ?? newReplica(local.shard, nowMs), local, nowMs),
    );
  }

  /** The explanation of each shard. */
  get explanations(): readonly Explanation[] {
    this.tick();
    const nowMs = this.clock.monotonicMs();
    const aheadMs = this.clock.now() - nowMs;
    return this.replicas.map((replica) => explain(replica, nowMs, aheadMs, (tag) => tag));
  }
}

/** Computes a replica after a tick on a node without a cluster. No command runs. */
export function soloTick(replica: Replica, local: Facts['local'], nowMs: number): Replica {
  const [next] = transition(
    replica,
    { type: 'tick' },
    {
      nowMs,
      me: '',
      isPlanned: true,
      role: 'owner',
      local,
      holder: 'me',
      head: undefined,
      holderName: '',
      isLogIdle: false,
      acknowledged: undefined,
      recorded: undefined,
      newOwner: undefined,
      hasOtherTaker: false,
      isUnserved: false,
      isOwnerSuspect: false,
      loadsOwn: false,
      isClockSane: true,
      mayHandOver: false,
    },
  );
  return { ...next, command: undefined };
}
