import type { CallbackAnswer } from '../../src/callback/callback-codec.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { Position } from '../../src/ports/wal.js';
import { STORE_FORMAT } from '../../src/store/format/format-gate.js';
import { shardOf } from '../../src/threads/placement.js';
import type { Command, Endpoint } from '../../src/wallet/command.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Answer } from '../../src/wallet/decision.js';
import { codecOn } from '../support/host-deps.js';
import { settingsWith } from '../support/settings.js';
import { Bettors } from './bettors.js';
import type { ForgettingTimes } from './forgetting.js';
import { Network } from './network.js';
import { Random } from './random.js';
import { type ArchiveState, NOTHING_ROTTEN, SimulatedArchive } from './simulated-archive.js';
import type { SharedFeed } from './simulated-feeds.js';
import { SimulatedNode } from './simulated-node.js';
import { SimulatedStore } from './simulated-store.js';
import { SimulatedTable } from './simulated-table.js';
import { VirtualTime } from './virtual-time.js';

export interface WorldSettings {
  readonly seed: number;
  readonly nodes: number;
  readonly shards: number;
  readonly servers: number;
  readonly players: number;
  readonly followers: number;
  /** Number of members that the first assignment waits for. */
  readonly expect?: number;
  readonly snapshotEntries?: number;
  /** The newest storage format that nodes read by default. */
  readonly format?: number;
  /** Lag of the replicas in milliseconds. If undefined, answers wait for the replicas. */
  readonly replicasBehindMs?: number;
  /** Settings that affect decisions and differ from their defaults, by path. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** How long closed rounds stay in memory; undefined if there is no archive. */
  readonly memoryMs?: number | undefined;
  /** True if the nodes serve the event feed. */
  readonly hasFeed?: boolean;
}

/** Modifies the seed for a separate random stream, so that the seed's other draws stay the same. */
const FEED_CHANCE = 0x165667b1;
const STORE_ID = '11111111-2222-3333-4444-555555555555';
const TIMEOUT_MS = 3000;
/** Maximum time that a platform waits for an answer. */
const GIVE_UP_MS = TIMEOUT_MS + 500;
const LOG_LINES_MAX = 400;
/** The time needed to connect to a different archive. */
const ARCHIVE_AWAY_MS = 50;
/** Maximum number of times that one timer fires in one leap. */
const SWEEPS_MAX = 10;
/** Raised, because the reference wallet does not have this limit. */
const NO_LIMITS = { 'tips.unknownMax': 1_000_000 };

/** A node's files, which outlive its process. */
interface Folder {
  readonly acknowledged: Map<number, Position>;
  confirmedMs: number | undefined;
}

/** Nodes on one store, with their callers. */
export class World {
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly network: Network;
  readonly store: SimulatedStore;
  readonly table: SimulatedTable;
  readonly archive = new SimulatedArchive();
  /** A server without shards, which delivers calls to the archive. */
  readonly archiveServer: SimulatedStore;
  /** The records of the event feed, which are on the first server; undefined if no node serves it. */
  readonly feed: SharedFeed | undefined;
  readonly nodes: (SimulatedNode | undefined)[] = [];
  readonly bettors: Bettors;
  /** Newest log lines, to be printed after a failure. */
  readonly lines: string[] = [];
  /** Hook for each log line when it is written. */
  onLine: (line: string) => void = () => {};
  /** Maximum time by which a clock has been behind the true time. */
  private stampsBehindMs = 0;
  /** Maximum time by which an unconfirmed clock has been ahead of the true time. */
  private confirmedAheadMs = 0;
  /** Shards with a snapshot that has been damaged. */
  private readonly damaged = new Set<number>();
  private readonly folders: Folder[] = [];
  private readonly clock = { now: () => this.time.wallMs(), monotonicMs: () => this.time.passedMs };
  private readonly answers = codecOn(this.clock);
  private readonly rules: Rules;
  /** Rules used by the nodes. */
  nodeRules: Rules;

  constructor(readonly settings: WorldSettings) {
    const { seed, nodes, shards, servers } = settings;
    const { time } = this;
    this.random = new Random(seed);
    this.network = new Network(time, this.random.fork());
    this.store = new SimulatedStore(STORE_ID, shards, servers, time, this.random.fork(), settings.replicasBehindMs);
    this.table = new SimulatedTable(this.random.fork());
    this.bettors = new Bettors(this, settings.players);
    // Use a separate random stream, so that runs without an archive stay the same.
    this.archiveServer = new SimulatedStore(STORE_ID, 0, 1, time, new Random(~seed));
    if (settings.hasFeed) this.feed = { records: new Map(), random: new Random(seed ^ FEED_CHANCE) };
    // An archive that several nodes share is on a server, which has its own clock.
    if (nodes > 1) this.archive.serverMs = () => time.wallMs();
    this.rules = rulesOf(settingsWith({ ...NO_LIMITS, ...settings.settings }));
    this.nodeRules = this.rules;
    for (let i = 0; i < nodes; i++) this.folders.push({ acknowledged: new Map(), confirmedMs: undefined });
  }

  /** Starts all nodes and imports the bettors' balances. */
  async begin(): Promise<void> {
    for (let i = 0; i < this.settings.nodes; i++) this.startNode(i);
    await this.time.until('all shards are served', () => this.servedOnce());
    await this.bettors.fund();
  }

  get living(): SimulatedNode[] {
    return this.nodes.filter((node) => node !== undefined);
  }

  startNode(i: number, format = this.settings.format ?? STORE_FORMAT): void {
    const { followers, expect = 1, snapshotEntries = 0, memoryMs } = this.settings;
    const folder = this.folders[i] as Folder;
    const node = new SimulatedNode(this.surroundings(), {
      name: `node-${i}`,
      followers,
      expect,
      acknowledged: new Map(folder.acknowledged),
      snapshotEntries,
      format,
      memoryMs,
      rules: this.nodeRules,
      timeRecord: {
        confirmedMs: folder.confirmedMs,
        write: (confirmedMs) => {
          folder.confirmedMs = confirmedMs;
        },
      },
      onUnwitnessed: (aheadMs) => {
        this.confirmedAheadMs = Math.max(this.confirmedAheadMs, aheadMs);
      },
    });
    this.nodes[i] = node;
    const { process, cluster } = node;
    // Record acknowledged positions once a second, as the recorder does.
    process.every(1000, () => {
      for (const [shard, position] of cluster.acknowledged) folder.acknowledged.set(shard, position);
      if (!node.needsRestart || this.nodes[i] !== node) return;
      this.kill(i);
      this.startNode(i);
    });
    const start = () => node.start().catch(() => void (process.isDead || process.after(500, start)));
    start();
  }

  get retentionMs(): number {
    return this.rules.retentionMs;
  }

  get forgettingTimes(): ForgettingTimes {
    const { time, retentionMs, stampsBehindMs, confirmedAheadMs } = this;
    return { nowMs: time.wallMs(), retentionMs, stampsBehindMs, confirmedAheadMs };
  }

  setClock(node: SimulatedNode, aheadMs: number): void {
    node.process.aheadMs = aheadMs;
    this.stampsBehindMs = Math.max(this.stampsBehindMs, -aheadMs);
  }

  /** Replaces the correct archive by a different one and breaks all connections. Restores the correct archive later. */
  replaceArchive(other: ArchiveState, afterMs: number, forMs: number): void {
    const { time, archive, archiveServer } = this;
    const change = (replace: () => void) => {
      archiveServer.failOver(0, ARCHIVE_AWAY_MS);
      replace();
    };
    time.after(afterMs, () => change(() => archive.rollBack(other)));
    time.after(afterMs + forMs, () => change(() => archive.mend()));
  }

  /** Makes all clocks leap `ms` ahead at once. */
  leap(ms: number): void {
    this.time.leapedMs += ms;
    for (const { process } of this.living) process.leapt(ms, SWEEPS_MAX);
  }

  kill(i: number): void {
    this.nodes[i]?.kill();
    this.nodes[i] = undefined;
  }

  /** Sends SIGTERM. Resolves when the node has ended. */
  async end(i: number, drainMs = 25_000): Promise<void> {
    const node = this.nodes[i];
    await node?.end(drainMs);
    if (this.nodes[i] === node) this.nodes[i] = undefined;
  }

  /**
   * Sends a callback to one of the nodes. Calls `done` with its answer. If none arrives in time, calls `done` with
   * undefined, and possibly again with a late answer.
   */
  send(endpoint: Endpoint, text: string, done: (answer: CallbackAnswer | undefined) => void): void {
    const node = this.maybeOpenNode();
    const stopWaiting = this.time.after(GIVE_UP_MS, () => done(undefined));
    node?.carryOut({ endpoint, text, isSigned: true, isTraced: false }, TIMEOUT_MS, ({ answer }) => {
      stopWaiting();
      done(answer);
    });
  }

  /** Sends an operator command in the same way as `send` sends a callback. */
  command(command: Command, done: (answer: Answer | undefined) => void): void {
    const node = this.maybeOpenNode();
    const stopWaiting = this.time.after(GIVE_UP_MS, () => done(undefined));
    node?.execute(shardOf(command.username, this.settings.shards), command, TIMEOUT_MS, (answer) => {
      stopWaiting();
      done(answer);
    });
  }

  /** True if at least one node accepts callbacks. */
  get isOpen(): boolean {
    return this.living.some(({ isOpen }) => isOpen);
  }

  private maybeOpenNode(): SimulatedNode | undefined {
    const open = this.nodes.filter((node) => node?.isOpen);
    return open.length === 0 ? undefined : this.random.pick(open);
  }

  /** Ends all faults. */
  heal(): void {
    this.network.mend();
    this.store.calm();
    this.archiveServer.calm();
    this.archive.mend();
    this.archive.isRotten = NOTHING_ROTTEN;
    for (const node of this.living) node.process.goOn();
    for (const [i, node] of this.nodes.entries()) if (node === undefined) this.startNode(i);
  }

  /** Ends all faults, and waits until all nodes are idle. */
  async calm(): Promise<void> {
    this.heal();
    const isCalm = () => this.bettors.unanswered === 0 && this.servedOnce();
    await this.time.until('every callback is answered, and all shards are served', isCalm, 120_000);
  }

  /** True if each shard is served by exactly one node. */
  servedOnce(): boolean {
    const serving = this.living.flatMap((node) => node.serving);
    return serving.length === this.settings.shards && new Set(serving).size === serving.length;
  }

  /** A human-readable report: the newest lines of all nodes, and the location of each shard. */
  describe(): string {
    const states = this.living.map((node) => `${node.settings.name} ${node.tag}: ${node.states().join(' ')}`);
    return [...this.lines.slice(-60), ...states].join('\n');
  }

  /**
   * Flips a byte in a shard's newest snapshot. Does so only once per shard, and only if the shard has an older
   * snapshot.
   */
  damageSnapshot(shard: number): void {
    const { snapshots } = this.store.shard(shard);
    const whole = snapshots.list().filter(({ manifest }) => manifest !== undefined);
    const newest = whole.at(-1);
    if (whole.length < 2 || newest === undefined || this.damaged.has(shard)) return;
    if (snapshots.chunk(newest.id, 0) === undefined) return;
    this.damaged.add(shard);
    snapshots.damageChunk(newest.id, 0);
  }

  private surroundings() {
    const { time, random, network, store, table, archive, archiveServer, feed, answers: codec } = this;
    const log = (name: string, level: string, message: string, fields: object) => {
      if (level === 'debug') return;
      const line = `${(time.nowMs / 1000).toFixed(3)} ${name} ${level} ${message} ${JSON.stringify(fields)}`;
      this.lines.push(line);
      this.onLine(line);
      if (this.lines.length > LOG_LINES_MAX) this.lines.shift();
    };
    return { time, random, network, store, table, archive, archiveServer, feed, codec, log };
  }
}
