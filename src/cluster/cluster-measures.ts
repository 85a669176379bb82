import type { NodeState } from './cluster-status.js';

/** How the cluster is doing, as one node sees it. */
export interface ClusterMeasures {
  /** Members by state, this one too. */
  readonly members: Readonly<Record<NodeState, number>>;
  /** Names of members that went without a word, and have not come back. */
  readonly missing: readonly string[];
  /** Releases of walletd among them. */
  readonly versions: number;
  readonly links: number;
  readonly seesTable: boolean;
  /** Shards that nobody is known to serve. */
  readonly unowned: number;
  /** Shards that the plan has no follower for, though it should. */
  readonly unfollowed: number;
  /** Shards of others that are followed here: entries that are not here yet, and since when. */
  readonly following: readonly { readonly shard: number; readonly entriesBehind: number; readonly behindMs: number }[];
  /** Requests that wait until somebody serves their shard. */
  readonly parked: number;
  readonly forwarded: number;
  readonly resent: number;
  /** This machine's clock, compared with the middle of all. Milliseconds. */
  readonly clockBehindMs: number;
}
