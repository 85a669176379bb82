import { setTimeout as delay } from 'node:timers/promises';
import { atEnd } from '../../test/support/clean-up.js';
import { LocalCluster, nameOf } from '../../test/support/local-cluster.js';
import type { RedisCluster } from '../../test/support/redis-cluster.js';
import { until } from '../../test/support/until.js';
import type { WalletdProcess } from '../../test/support/walletd-process.js';
import { type Server, verify } from '../support/servers.js';
import type { Serving } from '../support/vitals.js';
import { threeMasters } from './redis.js';

export const NODES = 3;
export const SHARDS = 12;
/** Maximum wait before the next node restarts; see docs/cluster-operations.md. */
const BACK_MS = 15_000;
const POLL_MS = 100;

export const UNWATCHED: Serving = {
  residentBytes: async () => Number.NaN,
  cpuMs: async () => Number.NaN,
  ownBytes: async () => Number.NaN,
  collectionsBetween: () => ({ fullCollections: undefined, longestPauseMs: 0 }),
};

/** Three nodes on a Redis Cluster of three masters with two replicas each. Every answer waits for a replica. */
export class Stage {
  private constructor(
    readonly redis: RedisCluster,
    readonly cluster: LocalCluster,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly followers: number,
  ) {}

  /** `followers` is the number of followers of each shard. */
  static async open(followers = 1): Promise<Stage> {
    const redis = await threeMasters();
    const settings = { WALLETD_STORE: redis.url, WALLETD_DURABILITY: 'replicas:1', WALLETD_SHARDS: String(SHARDS) };
    const env = {
      ...settings,
      WALLETD_CLUSTER_FOLLOWERS: String(followers),
      // Same value as in config/kubernetes. Without this setting, the first assignment would be made after 2 s.
      WALLETD_CLUSTER_EXPECT: String(NODES),
    };
    const cluster = await LocalCluster.start({ nodes: NODES, env });
    atEnd(() => cluster.close());
    const stage = new Stage(redis, cluster, settings, followers);
    await stage.warm();
    return stage;
  }

  /** The nodes behind the load balancer, as one server. */
  get server(): Server {
    return this.serverOf('three nodes', this.cluster);
  }

  /** One of the nodes, as a server. */
  serverAt(i: number): Server {
    return this.serverOf(nameOf(i), this.cluster.node(i));
  }

  get pids(): number[] {
    return this.cluster.living.map(({ pid }) => pid);
  }

  async ownerOf(shard: number): Promise<number> {
    const owner = (await this.cluster.owners())[shard];
    return this.indexOf(owner ?? '');
  }

  async followerOf(shard: number): Promise<number> {
    const seen = await this.cluster.seen();
    return this.indexOf(seen?.shards[shard]?.followers[0] ?? '');
  }

  /** Moves a shard. Resolves when the target node serves it. */
  async move(shard: number, to: number): Promise<void> {
    await this.cluster.ask(`/v1/cluster/shards/${shard}/move`, { node: nameOf(to) });
    await until(`shard ${shard} is at ${nameOf(to)}`, async () => (await this.ownerOf(shard)) === to);
  }

  /** Moves all shards to the first node. */
  async gather(): Promise<void> {
    for (let shard = 0; shard < SHARDS; shard++) await this.move(shard, 0);
    await this.warm();
  }

  /** Waits until every shard is served by its assigned owner and all assigned followers are complete. */
  async warm(): Promise<void> {
    await this.cluster.settled();
    await until('every shard is followed', async () => {
      const states = (await Promise.all(this.cluster.living.map(statesOf))).flat();
      const count = (wanted: string) => states.filter((state) => state === wanted).length;
      return count('serving') === SHARDS && count('following') === SHARDS * this.followers;
    });
  }

  /** Waits until the restarted node owns shards again. A peer that stops earlier would not wait for this node. */
  async back(i: number): Promise<void> {
    for (const endMs = Date.now() + BACK_MS; Date.now() < endMs; await delay(POLL_MS)) {
      if ((await this.cluster.owners()).includes(nameOf(i))) return;
    }
  }

  /** Runs `walletd verify` on the store, comparing it with one node's state. Throws an error with the findings. */
  verify(): void {
    // Query the node directly, because the load balancer runs in this process, which the command blocks.
    verify({ ...this.serverAt(0), settings: this.settings });
  }

  private serverOf(name: string, { callbackUrl, adminUrl }: Pick<WalletdProcess, 'callbackUrl' | 'adminUrl'>): Server {
    return { name, url: callbackUrl, adminUrl, booksUrl: adminUrl, settings: undefined, process: UNWATCHED };
  }

  private indexOf(name: string): number {
    return this.cluster.nodes.findIndex((node, i) => node !== undefined && nameOf(i) === name);
  }
}

async function statesOf({ adminUrl }: WalletdProcess): Promise<string[]> {
  const response = await fetch(`${adminUrl}/readyz`);
  const { shards } = (await response.json()) as { shards: readonly { readonly state: string }[] };
  return shards.map(({ state }) => state);
}
