import { isPastLoss } from '../ports/lsn.js';
import type { Claim, Plan } from '../ports/table.js';
import type { Head, Position } from '../ports/wal.js';
import { newReplica, type Replica } from '../replica/replica.js';
import type { ShardStatus } from '../threads/shards.js';
import type { Routed } from './routed.js';

/** The head of a log, as read by this node. Times are on the monotonic clock. */
export interface SeenHead {
  readonly head: Head;
  readonly sinceMs: number;
  /** The time of the first successful read of the log since its last failed read. */
  readonly reachedMs: number;
  readonly seenMs: number;
}

/**
 * Assigned owner of a shard, and since when on the wall clock. The time is undefined if it is from before this process
 * first read the registry.
 */
export interface Planned extends Pick<Plan, 'why' | 'by'> {
  readonly tag: string;
  readonly sinceMs: number | undefined;
}

/**
 * Everything that the main thread of a node knows about one shard of the cluster. Only the file that is named above a
 * field changes it.
 */
export interface ClusterShard {
  readonly shard: number;

  // ownership.ts
  replica: Replica;

  // watch.ts
  /** The newest head that was read; undefined if the last read failed. */
  seenHead: SeenHead | undefined;

  /**
   * The newest entry that any member may have acknowledged, as far as this node knows. A log that ends before that entry
   * has lost entries. Changed by `noteAcknowledged`.
   */
  acknowledged: Position | undefined;

  // follower-lag.ts
  /** Since when the follower here has been behind, and the sequence that it must reach to have caught up. */
  behind: { readonly sinceMs: number; readonly sequence: number } | undefined;

  // routes.ts
  /** Owner in the registry's ownership record. */
  claimed: string | undefined;
  /** The epochs of the members that announce the shard, by tag. */
  readonly announced: Map<string, number>;

  // parking.ts
  /** Requests that wait for an owner, earliest deadline first. */
  parked: Routed[];

  // planner.ts
  /** The assigned owner that is not serving yet, and since when. */
  unserved: { readonly owner: string; readonly sinceMs: number } | undefined;

  // move-history.ts
  /** The newest owner in the registry, with its name at that time. */
  owner: { readonly name: string; readonly claim: Claim } | undefined;
  planned: Planned | undefined;
}

/** `acknowledged` contains positions from this node's record file. */
export function newClusterShards(
  count: number,
  nowMs: number,
  acknowledged: ReadonlyMap<number, Position> = new Map(),
): ClusterShard[] {
  return Array.from({ length: count }, (_, shard) => ({
    shard,
    replica: newReplica(shard, nowMs),
    seenHead: undefined,
    acknowledged: acknowledged.get(shard),
    behind: undefined,
    claimed: undefined,
    announced: new Map(),
    parked: [],
    unserved: undefined,
    owner: undefined,
    planned: undefined,
  }));
}

/** Notes that a member may have acknowledged all entries up to this position. */
export function noteAcknowledged(shard: ClusterShard, position: Position): void {
  const known = shard.acknowledged;
  if (known === undefined || isPastLoss(position.lsn, known.lsn)) {
    shard.acknowledged = position;
    return;
  }
  // Compare only the sequences, because they continue across epochs except after an accepted loss.
  const { sequence } = position.lsn;
  const isKnownBetter = sequence === known.lsn.sequence && position.checksum === undefined;
  const isOlder = sequence < known.lsn.sequence || isPastLoss(known.lsn, position.lsn);
  if (!isOlder && !isKnownBetter) shard.acknowledged = position;
}

/**
 * Notes the heads of the shards that this node serves, and what its threads acknowledged before they ended. `shards` and
 * `statuses` are in the order of the shards.
 */
export function noteServed(shards: readonly ClusterShard[], statuses: readonly ShardStatus[]): void {
  for (const { shard, state, head, acknowledged: lsn } of statuses) {
    const one = shards[shard] as ClusterShard;
    if (state === 'serving' && head !== undefined) noteAcknowledged(one, head);
    if (lsn !== undefined) noteAcknowledged(one, { lsn, checksum: undefined });
  }
}
