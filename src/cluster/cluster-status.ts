import { formatLsn } from '../ports/lsn.js';
import type { RegistryView } from '../ports/table.js';
import type { ClusterShard } from './cluster-shard.js';
import { NO_OWNER } from './plan.js';
import type { Routes } from './routes.js';
import type { Watch } from './watch.js';

export type NodeState = 'up' | 'draining' | 'leaving' | 'gone';

/** A node, as seen by the node that answers the request. */
export interface NodeStatus {
  readonly name: string;
  readonly tag: string;
  readonly host: string;
  readonly port: number;
  readonly zone: string;
  readonly version: string;
  readonly state: NodeState;
  /** True for the node that answers the request. */
  readonly isThis: boolean;
  /** True if the answering node has a link to it; always true for the answering node itself. */
  readonly isLinked: boolean;
  readonly isFull: boolean;
  /** Number of shards that the node is known to serve. */
  readonly shards: number;
}

export interface ClusterShardStatus {
  readonly shard: number;
  /** Names of the shard's owner and of its assigned owner; null if there is none. */
  readonly owner: string | null;
  readonly planned: string | null;
  readonly followers: readonly string[];
  /** The newest entry that any node may have acknowledged. */
  readonly lsn: string | null;
}

export interface ClusterStatus {
  readonly name: string;
  /** False if the registry has not answered for a while. This status is then as old as the registry's last answer. */
  readonly seesTable: boolean;
  readonly nodes: readonly NodeStatus[];
  readonly shards: readonly ClusterShardStatus[];
  /** The reason, author and format of the newest assignment; null if there is none. */
  readonly plan: { readonly why: string; readonly by: string; readonly format: number } | null;
}

export interface StatusFacts {
  readonly tag: string;
  readonly seesTable: boolean;
  readonly view: RegistryView;
  readonly watch: Watch;
  readonly shards: readonly ClusterShard[];
  readonly routes: Routes;
  readonly isLinked: (tag: string) => boolean;
  readonly nowMs: number;
}

export function clusterStatus(facts: StatusFacts): ClusterStatus {
  const { tag: here, view, watch, routes, isLinked, nowMs } = facts;
  const { members, plan, drained } = view;
  const nameOf = (tag: string | undefined) => {
    if (tag === undefined || tag === NO_OWNER) return null;
    return members.get(tag)?.name ?? tag;
  };
  const shards = facts.shards.map(({ shard, acknowledged }) => ({
    shard,
    owner: nameOf(routes.of(shard)),
    planned: nameOf(plan?.owners[shard]),
    followers: (plan?.followers[shard] ?? []).map((tag) => nameOf(tag) as string),
    lsn: acknowledged === undefined ? null : formatLsn(acknowledged.lsn),
  }));
  const nodes = [...members].map(([tag, { name, host, port, zone, version, isLeaving, isFull }]): NodeStatus => {
    const isThis = tag === here;
    const isGone = !isThis && watch.isGone(tag, nowMs);
    const state = isGone ? 'gone' : isLeaving ? 'leaving' : drained.has(tag) ? 'draining' : 'up';
    const served = shards.filter(({ shard }) => routes.of(shard) === tag);
    const about = { name, tag, host, port, zone, version, state, isThis, isFull } as const;
    return { ...about, isLinked: isThis || isLinked(tag), shards: served.length };
  });
  nodes.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    name: nameOf(here) ?? here,
    seesTable: facts.seesTable,
    nodes,
    shards,
    plan: plan === undefined ? null : { why: plan.why, by: plan.by, format: plan.format },
  };
}
