import { atEnd } from '../../test/support/clean-up.js';
import { freePort } from '../../test/support/free-port.js';
import type { RedisCluster } from '../../test/support/redis-cluster.js';
import { ROOT } from '../../test/support/root.js';
import { RoundRobin } from '../../test/support/round-robin.js';
import { startChild } from '../support/child.js';
import type { Server } from '../support/servers.js';
import type { BareNode } from './bare-node.js';
import { oneRedis, threeMasters } from './redis.js';
import { NODES, SHARDS, UNWATCHED } from './stage.js';
import type { Calm, Nodes } from './steady.js';

/** Bare nodes behind a load balancer, in the same setup as walletd's nodes. */
interface Bare extends Nodes {
  readonly each: readonly Server[];
}

type About = Omit<BareNode, 'at' | 'ports' | 'shards'> & { readonly nodes: number };

/** Starts the same setup as for walletd, but with bare nodes. */
export async function bareCalm(): Promise<Omit<Calm, 'rate' | 'seconds'>> {
  const one = await oneRedis();
  const [shared, alone] = [urlsOf(await threeMasters()), urlsOf(await threeMasters())];
  const three = await startBare({ nodes: NODES, masters: shared, waits: true });
  let gathered: Bare | undefined;
  return {
    three,
    solo: await startBare({ nodes: 1, masters: [one.url], waits: false }),
    soloAlike: await startBare({ nodes: 1, masters: alone, waits: true }),
    gather: async () => {
      gathered ??= await startBare({ nodes: NODES, masters: shared, waits: true, ownerOfAll: 0 });
      const { each, pids } = gathered;
      return { owner: each[0] as Server, other: each[1] as Server, pids };
    },
  };
}

function urlsOf({ masters }: RedisCluster): string[] {
  return masters.map(({ url }) => url);
}

async function startBare({ nodes, ...about }: About): Promise<Bare> {
  const ports: number[] = [];
  for (let i = 0; i < nodes; i++) ports.push(await freePort());
  const children = await Promise.all(
    ports.map((_, at) => {
      const BARE_NODE = JSON.stringify({ ...about, at, ports, shards: SHARDS } satisfies BareNode);
      return startChild(process.execPath, [`${ROOT}dist/bench/cluster/bare-node.js`], isReady, { BARE_NODE });
    }),
  );
  const urls = children.map(({ line }) => (JSON.parse(line) as { url: string }).url);
  const balancer = await RoundRobin.start();
  atEnd(() => balancer.close());
  balancer.targets = urls.map((url) => Number(new URL(url).port));
  return {
    server: serverOf(nodes === 1 ? 'a bare node' : `${nodes} bare nodes`, balancer.url),
    pids: children.map(({ process: { pid } }) => pid),
    each: urls.map((url, i) => serverOf(`bare node ${i}`, url)),
  };
}

function serverOf(name: string, url: string): Server {
  return { name, url, adminUrl: undefined, booksUrl: undefined, settings: undefined, process: UNWATCHED };
}

const isReady = (line: string): boolean => line.startsWith('{');
