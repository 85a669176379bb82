import type { Exact } from '../json.js';

/* Types of the API's answers about a cluster. */
export interface Node {
  readonly name: string;
  readonly host: string;
  readonly port: Exact;
  readonly zone: string;
  readonly version: string;
  readonly state: 'up' | 'draining' | 'leaving' | 'gone';
  readonly isThis: boolean;
  readonly isFull: boolean;
  readonly isLinked: boolean;
  readonly shards: Exact;
}

export interface ClusterShard {
  readonly shard: Exact;
  readonly owner: string | null;
  readonly planned: string | null;
  readonly followers: readonly string[];
  readonly lsn: string | null;
}

export interface Cluster {
  readonly name: string;
  readonly seesTable: boolean;
  readonly nodes: readonly Node[];
  readonly shards: readonly ClusterShard[];
  readonly plan: { readonly why: string; readonly by: string } | null;
}
