import type { NodeState } from './cluster-status.js';

/** The state of the cluster, as one node sees it. */
export interface ClusterMeasures {
  /** Number of members by state, including this one. */
  readonly members: Readonly<Record<NodeState, number>>;
  /** Names of members that disappeared without announcing their departure and have not come back. */
  readonly missing: readonly string[];
  /** Number of distinct walletd releases among the members. */
  readonly versions: number;
  readonly links: number;
  readonly seesTable: boolean;
  /** Shards without a known owner. */
  readonly unowned: number;
  /** Number of shards that should have a follower but have none in the assignment. */
  readonly unfollowed: number;
  /** Shards that this node follows: how many entries each one lacks, and for how long. */
  readonly following: readonly { readonly shard: number; readonly entriesBehind: number; readonly behindMs: number }[];
  /** Number of requests that wait until a node serves their shard. */
  readonly parked: number;
  readonly forwarded: number;
  readonly resent: number;
  /** How far this machine's clock is behind the median of all members' clocks, in ms. */
  readonly clockBehindMs: number;
}
