import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { FaultyNetwork } from '../faults/faulty-network.js';
import { freePort } from './free-port.js';
import { RoundRobin } from './round-robin.js';
import { makeTempFolder } from './temp-folder.js';
import { until } from './until.js';
import { UNLAUNCHED, WalletdProcess } from './walletd-process.js';

export interface LocalClusterOptions {
  /** WALLETD_STORE and the other settings of all nodes. */
  readonly env: Readonly<Record<string, string>>;
  readonly nodes: number;
  readonly program?: readonly string[];
  /**
   * The port of the only Redis. If given, each node reaches Redis, and is reached by its peers, over a network that can
   * be cut.
   */
  readonly cuttable?: number;
  /** Ports of the load balancers; 0 selects free ports. */
  readonly callbackPort?: number;
  readonly adminPort?: number;
}

/** The answer of `GET /v1/cluster`. */
export interface SeenCluster {
  readonly nodes: readonly { readonly name: string; readonly state: string; readonly shards: number }[];
  readonly shards: readonly {
    readonly shard: number;
    readonly owner: string | null;
    readonly planned: string | null;
    readonly followers: readonly string[];
  }[];
  readonly plan: { readonly why: string } | null;
}

/** Networks of one node in a `LocalCluster`. */
interface Networks {
  /** Network over which the node reaches Redis. */
  readonly store: FaultyNetwork;
  /** Network over which the node's peers connect. */
  readonly peers: FaultyNetwork;
  /** The node's actual port for peers. */
  readonly peerPort: number;
}

/** Real walletd processes that share a store behind a round-robin load balancer, all on this machine. */
export class LocalCluster {
  readonly nodes: (WalletdProcess | undefined)[] = [];
  private readonly networks = new Map<number, Networks>();
  private readonly folder = makeTempFolder();

  private constructor(
    private readonly options: LocalClusterOptions,
    private readonly callbacks: RoundRobin,
    private readonly admin: RoundRobin,
  ) {}

  static async start(options: LocalClusterOptions): Promise<LocalCluster> {
    const { callbackPort, adminPort, nodes } = options;
    const cluster = new LocalCluster(options, await RoundRobin.start(callbackPort), await RoundRobin.start(adminPort));
    try {
      await Promise.all(Array.from({ length: nodes }, (_, i) => cluster.startNode(i)));
      await cluster.settled();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** Load balancer URL for callbacks and operator requests. */
  get callbackUrl(): string {
    return this.callbacks.url;
  }

  get adminUrl(): string {
    return this.admin.url;
  }

  /** The operator API token, if the nodes require one. */
  get token(): string | undefined {
    return this.options.env.WALLETD_ADMIN_TOKEN;
  }

  /** Always 0, because a cluster has several processes. */
  readonly pid = 0;

  async startNode(i: number, changes: Readonly<Record<string, string>> = {}): Promise<WalletdProcess> {
    const { env, nodes, program = UNLAUNCHED } = this.options;
    const node = await WalletdProcess.start(
      {
        WALLETD_INIT: 'auto',
        WALLETD_WORKERS: '0',
        WALLETD_CLUSTER_PORT: '0',
        WALLETD_CLUSTER_NAME: nameOf(i),
        WALLETD_CLUSTER_EXPECT: String(nodes),
        WALLETD_NODE_FOLDER: this.nodeFolder(i),
        ...env,
        ...(await this.networkSettings(i)),
        ...changes,
      },
      [],
      program,
    );
    this.nodes[i] = node;
    this.balance();
    return node;
  }

  nodeFolder(i: number): string {
    return `${this.folder.path}/${nameOf(i)}`;
  }

  node(i: number): WalletdProcess {
    const node = this.nodes[i];
    if (node === undefined) throw new Error(`${nameOf(i)} does not run`);
    return node;
  }

  get living(): WalletdProcess[] {
    return this.nodes.filter((node) => node !== undefined);
  }

  /**
   * Sends a signal that ends the node. Resolves to its exit code or signal. The load balancer keeps sending to the node
   * until it refuses connections.
   */
  async end(i: number, signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    const how = await this.node(i).end(signal);
    this.nodes[i] = undefined;
    this.balance();
    return how;
  }

  /** Waits for a node that ends on its own. Resolves to its exit code or signal. */
  async gone(i: number): Promise<number | NodeJS.Signals | null> {
    const { child } = this.node(i);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    this.nodes[i] = undefined;
    this.balance();
    return child.exitCode ?? child.signalCode;
  }

  signal(i: number, signal: NodeJS.Signals): void {
    process.kill(this.node(i).pid, signal);
  }

  /** A node's networks, in a cluster whose networks can be cut. */
  network(i: number): Networks {
    const networks = this.networks.get(i);
    if (networks === undefined) throw new Error('the cluster is not cuttable');
    return networks;
  }

  /** The cluster as seen by one of these nodes; undefined if none responds. */
  async seen(by: readonly WalletdProcess[] = this.living): Promise<SeenCluster | undefined> {
    for (const { adminUrl } of by) {
      const asked = { headers: this.authorization, signal: AbortSignal.timeout(1000) };
      const seen = await fetch(`${adminUrl}/v1/cluster`, asked).then(
        (response) => (response.ok ? (response.json() as Promise<SeenCluster>) : undefined),
        () => undefined,
      );
      if (seen !== undefined) return seen;
    }
    return undefined;
  }

  async owners(by?: readonly WalletdProcess[]): Promise<readonly (string | null)[]> {
    return (await this.seen(by))?.shards.map(({ owner }) => owner) ?? [];
  }

  /** Waits until each shard is served by its assigned owner and has its followers. */
  async settled(): Promise<void> {
    await until('every shard is where it should be', async () => {
      const seen = await this.seen();
      const names = this.nodes.flatMap((node, i) => (node === undefined ? [] : [nameOf(i)]));
      return seen?.shards.every(({ owner, planned }) => owner !== null && owner === planned && names.includes(owner));
    });
  }

  /**
   * Waits until other nodes serve all shards. Does not query this node, because a node that is cut off may not have
   * noticed.
   */
  async servedWithout(i: number): Promise<void> {
    await until('all its shards are served by others', async () => {
      const owners = await this.owners(this.living.filter((node) => node !== this.nodes[i]));
      return owners.length > 0 && owners.every((owner) => owner !== null && owner !== nameOf(i));
    });
  }

  /** Sends a POST request to any node's operator API. */
  async ask(path: string, body?: object): Promise<void> {
    const response = await fetch(`${this.living[0]?.adminUrl}${path}`, {
      method: 'POST',
      headers: { ...this.authorization, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }

  async close(): Promise<void> {
    this.callbacks.close();
    this.admin.close();
    // Send SIGKILL, because a process stopped by SIGSTOP reacts to no other signal.
    await Promise.all(this.living.map((node) => node.end('SIGKILL')));
    for (const { store, peers } of this.networks.values()) {
      store.close();
      peers.close();
    }
    await delay(0);
    this.folder.remove();
  }

  private get authorization(): Record<string, string> {
    return this.token === undefined ? {} : { Authorization: `Bearer ${this.token}` };
  }

  private balance(): void {
    const portOf = (url: string) => Number(new URL(url).port);
    this.callbacks.targets = this.living.map(({ callbackUrl }) => portOf(callbackUrl));
    this.admin.targets = this.living.map(({ adminUrl }) => portOf(adminUrl));
  }

  private async networkSettings(i: number): Promise<Record<string, string>> {
    const { cuttable } = this.options;
    if (cuttable === undefined) return {};
    let networks = this.networks.get(i);
    if (networks === undefined) {
      const peerPort = await freePort();
      networks = { store: await FaultyNetwork.start(cuttable), peers: await FaultyNetwork.start(peerPort), peerPort };
      this.networks.set(i, networks);
    }
    return {
      WALLETD_STORE: networks.store.url,
      WALLETD_CLUSTER_PORT: String(networks.peerPort),
      WALLETD_CLUSTER_ADVERTISE: `127.0.0.1:${networks.peers.port}`,
    };
  }
}

export function nameOf(i: number): string {
  return `node-${i}`;
}
