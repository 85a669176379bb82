import { freePort } from './free-port.js';
import { RedisServer } from './redis-server.js';
import { until } from './until.js';

const SLOTS = 16_384;
const NODE_TIMEOUT_MS = 1000;

export interface ClusterSize {
  readonly masters: number;
  /** Number of replicas per master. */
  readonly replicas: number;
}

/** A real Redis Cluster on free ports. Its first servers are the masters, each with an equal share of the slots. */
export class RedisCluster {
  private constructor(
    readonly servers: readonly RedisServer[],
    readonly size: ClusterSize,
  ) {}

  static async start(size: ClusterSize, settings: Readonly<Record<string, string>> = {}): Promise<RedisCluster> {
    const count = size.masters * (1 + size.replicas);
    const servers: RedisServer[] = [];
    const cluster = new RedisCluster(servers, size);
    try {
      for (let i = 0; i < count; i++) {
        servers.push(
          await RedisServer.start({
            'cluster-enabled': 'yes',
            'cluster-port': String(await freePort()),
            'cluster-node-timeout': String(NODE_TIMEOUT_MS),
            'cluster-require-full-coverage': 'no',
            'repl-diskless-sync-delay': '0',
            ...settings,
          }),
        );
      }
      await cluster.join();
      return cluster;
    } catch (error) {
      await cluster.destroy();
      throw error;
    }
  }

  get url(): string {
    return `redis+cluster://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  get masters(): readonly RedisServer[] {
    return this.servers.slice(0, this.size.masters);
  }

  /** The replicas initially assigned to one of the initial masters. */
  replicasOf(master: RedisServer): readonly RedisServer[] {
    const { size, servers, masters } = this;
    return servers.filter((_, i) => i >= size.masters && i % size.masters === masters.indexOf(master));
  }

  /** The current master of this slot, according to the server `asked`. */
  async masterOf(slot: number, asked = this.servers[0] as RedisServer): Promise<RedisServer> {
    const ranges = (await asked.call('CLUSTER', 'SLOTS')) as readonly [number, number, readonly [string, number]][];
    const port = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2][1];
    const master = this.servers.find((server) => server.port === port);
    if (master === undefined) throw new Error(`no master has slot ${slot}`);
    return master;
  }

  /** Moves a slot that is in use, key by key like `redis-cli --cluster reshard`. Calls `onKey` after each key. */
  async moveSlot(slot: number, to: RedisServer, onKey: () => Promise<void> = async () => {}): Promise<void> {
    const from = await this.masterOf(slot);
    const [fromId, toId] = [await idOf(from), await idOf(to)];
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    for (;;) {
      const [key] = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
      if (key === undefined) break;
      await from.call('MIGRATE', '127.0.0.1', to.port, key, 0, 5000);
      await onKey();
    }
    await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    for (const server of this.servers) {
      if (server !== to) await server.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId).catch(() => {});
    }
  }

  /** Waits until all replicas are in sync with their current masters and the cluster is complete. */
  async inStep(): Promise<void> {
    const { servers, size } = this;
    await until('all replicas are in step, and the cluster is whole', async () => {
      const infos = await Promise.all(servers.map((server) => server.call('CLUSTER', 'INFO')));
      if (!infos.every((info) => /cluster_state:ok/.test(String(info)))) return false;
      const reported = await Promise.all(servers.map((server) => server.call('INFO', 'replication')));
      const masters = reported.map(String).filter((info) => info.includes('role:master'));
      const online = (info: string) => [...info.matchAll(/state=online/g)].length;
      return masters.length === size.masters && masters.every((info) => online(info) === size.replicas);
    });
  }

  async destroy(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.destroy()));
  }

  private async join(): Promise<void> {
    const { masters, servers, size } = this;
    const [first] = servers;
    for (const [i, master] of masters.entries()) {
      const from = Math.floor((i * SLOTS) / masters.length);
      const to = Math.floor(((i + 1) * SLOTS) / masters.length) - 1;
      await master.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
      await master.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    }
    for (const server of servers) {
      if (server === first) continue;
      await server.call(
        'CLUSTER',
        'MEET',
        '127.0.0.1',
        Number(first?.port),
        Number(await busPortOf(first as RedisServer)),
      );
    }
    await until('each server knows all others', async () => {
      const known = await Promise.all(servers.map((server) => server.call('CLUSTER', 'NODES')));
      return known.every((text) => String(text).trim().split('\n').length === servers.length);
    });
    for (const [i, replica] of servers.slice(size.masters).entries()) {
      const master = masters[i % masters.length] as RedisServer;
      const id = await idOf(master);
      await until('a replica knows its master', async () => {
        return await replica.call('CLUSTER', 'REPLICATE', id).then(
          () => true,
          () => false,
        );
      });
    }
    await this.inStep();
  }
}

async function idOf(server: RedisServer): Promise<string> {
  return String(await server.call('CLUSTER', 'MYID'));
}

async function busPortOf(server: RedisServer): Promise<string> {
  const [, port = ''] = (await server.call('CONFIG', 'GET', 'cluster-port')) as string[];
  return port;
}
