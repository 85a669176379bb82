import type { Clock } from '../base/clock.js';
import type { ShardStatus } from '../threads/shards.js';
import { type Explanation, explain } from './explain.js';
import { stateOf } from './observe.js';
import { become, waitFor } from './outcome.js';
import { type Cause, newReplica, type Replica, type ReplicaState } from './replica.js';

const CAUSES: Partial<Record<ReplicaState, Cause>> = { recovering: 'recovery', stopped: 'operator' };

/**
 * Replicas of a node without a cluster. Their threads act on their own, so the states are only observed, for operators.
 */
export class SoloReplicas {
  private readonly replicas = new Map<number, Replica>();

  constructor(
    private readonly status: () => readonly ShardStatus[],
    private readonly clock: Clock,
  ) {}

  /** Must be called periodically, because a state counts from the first call that observes it. */
  tick(): void {
    const nowMs = this.clock.monotonicMs();
    for (const { shard, state: local, reason } of this.status()) {
      const replica = this.replicas.get(shard) ?? newReplica(shard, nowMs);
      const state = stateOf(local);
      const wait = waitFor(CAUSES[state] ?? 'nothing');
      this.replicas.set(shard, become(replica, state, nowMs, { wait, problem: reason }));
    }
  }

  /** The explanation of each shard. */
  get explanations(): readonly Explanation[] {
    this.tick();
    const nowMs = this.clock.monotonicMs();
    const aheadMs = this.clock.now() - nowMs;
    return [...this.replicas.values()].map((replica) => explain(replica, nowMs, aheadMs, (tag) => tag));
  }
}
