import { setTimeout as delay } from 'node:timers/promises';
import { LocalCluster, nameOf } from '../../support/local-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import { RealWire } from '../wire.js';
import { errorsOf, OneProcess } from './one-process.js';
import type { Deployment, Setting } from './setting.js';

const SENDERS = 96;
const NODES = 3;
const SHARDS = 6;
const MOVE_EVERY_MS = 200;

function redis(name: string, env: Readonly<Record<string, string>>): Setting {
  return {
    name,
    senders: SENDERS,
    pauseMs: 0,
    start: async () => {
      const server = await RedisServer.start();
      const process = new OneProcess(env);
      const close = async () => {
        await process.close();
        await server.destroy();
      };
      try {
        await process.startOn(server.url);
      } catch (error) {
        await close();
        throw error;
      }
      return { wire: process.wire, errors: () => process.errors(), close };
    },
  };
}

/** Three nodes between which shards are moved back and forth. Callbacks are sent to the nodes in turn. */
const CLUSTER: Setting = {
  name: 'redis-cluster-moves',
  senders: SENDERS,
  pauseMs: 0,
  start: async () => {
    const server = await RedisServer.start();
    const env = { WALLETD_STORE: server.url, WALLETD_SHARDS: String(SHARDS) };
    const cluster = await LocalCluster.start({ env, nodes: NODES }).catch(async (error) => {
      await server.destroy();
      throw error;
    });
    return new MovingCluster(cluster, server);
  },
};

class MovingCluster implements Deployment {
  readonly wire = new RealWire();
  disturbances = 0;

  constructor(
    private readonly cluster: LocalCluster,
    private readonly server: RedisServer,
  ) {
    const callbackUrls = cluster.living.map(({ callbackUrl }) => callbackUrl);
    this.wire.moveTo(callbackUrls, cluster.node(0).adminUrl);
  }

  async disturb(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const shard = this.disturbances % SHARDS;
      // Chosen so that, over time, each shard is moved to every node.
      const node = (this.disturbances + Math.floor(this.disturbances / SHARDS)) % NODES;
      await this.cluster.ask(`/v1/cluster/shards/${shard}/move`, { node: nameOf(node) });
      this.disturbances++;
      await delay(MOVE_EVERY_MS);
    }
  }

  errors(): readonly string[] {
    return this.cluster.living.flatMap(errorsOf);
  }

  async close(): Promise<void> {
    this.wire.close();
    await this.cluster.close();
    await this.server.destroy();
  }
}

export const REDIS_SETTINGS: readonly Setting[] = [
  redis('redis-inline', {}),
  redis('redis-workers', { WALLETD_WORKERS: '2' }),
  CLUSTER,
];
