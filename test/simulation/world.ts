import assert from 'node:assert/strict';
import type { CallbackAnswer } from '../../src/callback/callback-codec.js';
import type { Position } from '../../src/shard/log/wal.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { STORE_FORMAT } from '../../src/store/format/format-gate.js';
import type { Command, Endpoint } from '../../src/wallet/command.js';
import type { Answer } from '../../src/wallet/decision.js';
import { shardOf } from '../../src/worker/placement.js';
import { codecOn } from '../support/host-deps.js';
import { Network } from './network.js';
import { Random } from './random.js';
import { SimulatedArchive } from './simulated-archive.js';
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
  /** Members that a first plan waits for. */
  readonly expect?: number;
  readonly snapshotEntries?: number;
  /** The newest stored format that nodes read, unless said otherwise. */
  readonly format?: number;
  /** Answers wait for another node, and not for replicas, which are so far behind (milliseconds). */
  readonly replicasBehindMs?: number;
  /** How long closed rounds stay in memory; without it there is no archive. */
  readonly memoryMs?: number | undefined;
}

const STORE_ID = '11111111-2222-3333-4444-555555555555';
/** In units of the log: a ten-thousandth. */
const BET = 10_000;
const BALANCE = 100_000_000 * BET;
const PATIENCE_MS = 3000;
/** A platform that has no answer sends again, to whichever node. */
/** Every so many bets somebody asks for a balance. */
const ASKED_EVERY = 4;
const GIVE_UP_MS = PATIENCE_MS + 500;
const RETRY_MS = 50;
const RETRIES_MAX = 2000;
const LOG_LINES_MAX = 400;

/** Where a node keeps what it has acknowledged, over its lives. */
type Folder = Map<number, Position>;

/** Nodes on one store, players who bet, and a dumb account of all that was told. */
export class World {
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly network: Network;
  readonly store: SimulatedStore;
  readonly table: SimulatedTable;
  readonly archive = new SimulatedArchive();
  /** It has no shards: it brings calls to the archive. */
  readonly archiveServer: SimulatedStore;
  readonly nodes: (SimulatedNode | undefined)[] = [];
  /** The newest lines, for who has to find out why. */
  readonly lines: string[] = [];
  /** Balances that somebody was told when asking, and the lowest balance that anybody has heard of, by player. */
  asked = 0;
  private readonly lowest = new Map<string, number>();
  /** First answers, by id of the bet. */
  readonly told = new Map<string, { readonly before: number; readonly after: number }>();
  /** How long each answered callback took, with all of its attempts. Milliseconds. */
  readonly tookMs: number[] = [];
  /** Callbacks that nobody has answered. */
  unanswered = 0;
  /** Attempts that were answered with something else than success. */
  readonly failures = new Map<string, number>();
  /** For who wants each line as it is written. */
  onLine: (line: string) => void = () => {};
  /** Shards one of whose snapshots was damaged. */
  private readonly damaged = new Set<number>();
  private readonly folders: Folder[] = [];
  private readonly clock = { now: () => this.time.wallMs(), monotonicMs: () => this.time.nowMs };
  private readonly answers = codecOn(this.clock);
  private readonly codec = new EntryCodec(STORE_ID);
  private bets = 0;

  constructor(readonly settings: WorldSettings) {
    const { seed, nodes, shards, servers } = settings;
    const { time } = this;
    this.random = new Random(seed);
    this.network = new Network(time, this.random.fork());
    this.store = new SimulatedStore(STORE_ID, shards, servers, time, this.random.fork(), settings.replicasBehindMs);
    this.table = new SimulatedTable(this.random.fork());
    // With chance of its own: what happens without an archive stays what it was.
    this.archiveServer = new SimulatedStore(STORE_ID, 0, 1, time, new Random(~seed));
    for (let i = 0; i < nodes; i++) this.folders.push(new Map());
  }

  /** Starts all nodes, and gives the players their money. */
  async begin(): Promise<void> {
    for (let i = 0; i < this.settings.nodes; i++) this.startNode(i);
    await this.time.until('all shards are served', () => this.servedOnce());
    const { players } = this.settings;
    let funded = 0;
    for (let player = 0; player < players; player++) {
      const username = nameOf(player);
      const shard = shardOf(username, this.settings.shards);
      const command = { type: 'import-player', id: 'fund', username, currency: 'THB', balance: BALANCE } as const;
      const [node] = this.living;
      node?.cluster.router.execute(shard, command, Number.POSITIVE_INFINITY, {
        reply: ({ type }) => {
          assert.equal(type, 'accepted');
          funded++;
        },
      });
    }
    await this.time.until('all players have their money', () => funded === players);
  }

  get living(): SimulatedNode[] {
    return this.nodes.filter((node) => node !== undefined);
  }

  startNode(i: number, format = this.settings.format ?? STORE_FORMAT): void {
    const { followers, expect = 1, snapshotEntries = 0, replicasBehindMs, memoryMs } = this.settings;
    const folder = this.folders[i] as Folder;
    const node = new SimulatedNode(this.surroundings(), {
      name: `node-${i}`,
      followers,
      expect,
      acknowledged: new Map(folder),
      snapshotEntries,
      format,
      isCopied: replicasBehindMs !== undefined,
      memoryMs,
    });
    this.nodes[i] = node;
    const { process, cluster } = node;
    // As the recorder does.
    process.every(1000, () => {
      for (const [shard, position] of cluster.acknowledged) folder.set(shard, position);
    });
    const start = () => node.start().catch(() => void (process.isDead || process.after(500, start)));
    start();
  }

  kill(i: number): void {
    this.nodes[i]?.kill();
    this.nodes[i] = undefined;
  }

  /** SIGTERM; resolves when it has ended. */
  async end(i: number, drainMs = 25_000): Promise<void> {
    const node = this.nodes[i];
    await node?.end(drainMs);
    if (this.nodes[i] === node) this.nodes[i] = undefined;
  }

  /** Places so many bets a second for a while, through nodes in turn. */
  bet(perSecond: number, forMs: number): void {
    const untilMs = this.time.nowMs + forMs;
    const next = () => {
      if (this.time.nowMs >= untilMs) return;
      this.betOnce();
      this.time.after(1000 / perSecond, next);
    };
    next();
  }

  betOnce(): void {
    const id = `b${this.bets++}`;
    const username = nameOf(this.random.below(this.settings.players));
    const text = JSON.stringify({
      id: `r-${id}`,
      timestampMillis: 1,
      productId: 'P',
      currency: 'THB',
      username,
      txns: [{ id, status: 'OPEN', roundId: `o-${id}`, betAmount: 1, gameCode: 'g', playInfo: 'p' }],
    });
    this.unanswered++;
    this.attempt(id, username, text, this.time.nowMs, 0);
    if (this.bets % ASKED_EVERY === 0) this.ask(username);
  }

  /**
   * Sends a callback to one of the nodes. `done` gets its answer, undefined when there is none in time, and then perhaps one
   * that is late.
   */
  send(endpoint: Endpoint, text: string, done: (answer: CallbackAnswer | undefined) => void): void {
    const node = this.maybeOpenNode();
    const stopWaiting = this.time.after(GIVE_UP_MS, () => done(undefined));
    node?.carryOut({ endpoint, text, isTraced: false }, PATIENCE_MS, ({ answer }) => {
      stopWaiting();
      done(answer);
    });
  }

  /** A command of the operator, in the same way. */
  command(command: Command, done: (answer: Answer | undefined) => void): void {
    const node = this.maybeOpenNode();
    const stopWaiting = this.time.after(GIVE_UP_MS, () => done(undefined));
    node?.execute(shardOf(command.username, this.settings.shards), command, PATIENCE_MS, (answer) => {
      stopWaiting();
      done(answer);
    });
  }

  private maybeOpenNode(): SimulatedNode | undefined {
    const open = this.living.filter(({ isOpen }) => isOpen);
    return open.length === 0 ? undefined : this.random.pick(open);
  }

  /** Everything is in order again. */
  heal(): void {
    this.network.mend();
    this.store.calm();
    this.archiveServer.calm();
    for (const node of this.living) node.process.goOn();
    for (const [i, node] of this.nodes.entries()) if (node === undefined) this.startNode(i);
  }

  /** Everything is in order again, and everybody has come to rest. */
  async calm(): Promise<void> {
    this.heal();
    const isCalm = () => this.unanswered === 0 && this.servedOnce();
    await this.time.until('every callback is answered, and all shards are served', isCalm, 120_000);
  }

  /** Each shard is served by one node, and no more. */
  servedOnce(): boolean {
    const serving = this.living.flatMap((node) => node.serving);
    return serving.length === this.settings.shards && new Set(serving).size === serving.length;
  }

  /** Each answered bet is in the log once; balances are what the logs add up to. */
  check(): void {
    const placed = new Map<string, number>();
    const ids = new Set<string>();
    for (let shard = 0; shard < this.settings.shards; shard++) {
      for (const { bytes } of this.store.history(shard)) {
        for (const event of this.codec.decode(bytes).events) {
          if (event.type !== 'callback-applied') continue;
          for (const { id } of event.changes as readonly { readonly id: string }[]) {
            assert.ok(!ids.has(id), `${id} is in the log twice`);
            ids.add(id);
          }
          placed.set(event.username, (placed.get(event.username) ?? 0) + 1);
        }
      }
    }
    for (const id of this.told.keys()) assert.ok(ids.has(id), `${id} was told, and is not in the log`);
    for (let player = 0; player < this.settings.players; player++) {
      const username = nameOf(player);
      const shard = shardOf(username, this.settings.shards);
      const [owner] = this.living.filter((node) => node.serving.includes(shard));
      const balance = BALANCE - BET * (placed.get(username) ?? 0);
      assert.equal(owner?.wallet(shard, username)?.balance, balance, username);
      const lowest = this.lowest.get(username) ?? BALANCE;
      assert.ok(lowest >= balance, `${username} was told ${lowest}, which the log never had`);
    }
  }

  /** For people: the newest lines of all nodes, and where each shard is. */
  describe(): string {
    const states = this.living.map((node) => `${node.settings.name} ${node.tag}: ${node.states().join(' ')}`);
    return [...this.lines.slice(-60), ...states].join('\n');
  }

  /** A byte of a shard's newest snapshot is turned: once, and where there is an older one to fall back on. */
  damageSnapshot(shard: number): void {
    const { snapshots } = this.store.shard(shard);
    const whole = snapshots.list().filter(({ manifest }) => manifest !== undefined);
    const newest = whole.at(-1);
    if (whole.length < 2 || newest === undefined || this.damaged.has(shard)) return;
    if (snapshots.chunk(newest.id, 0) === undefined) return;
    this.damaged.add(shard);
    snapshots.damageChunk(newest.id, 0);
  }

  /** Balances only fall here: one that is above what somebody has heard already is of an owner of the past. */
  private ask(username: string): void {
    const open = this.living.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return;
    const node = this.random.pick(open);
    const heard = this.lowest.get(username) ?? BALANCE;
    const text = JSON.stringify({ id: 'q', timestampMillis: 1, productId: 'P', currency: 'THB', username });
    node.carryOut({ endpoint: 'checkBalance', text, isTraced: false }, PATIENCE_MS, ({ answer }) => {
      if (answer.type !== 'accepted') return;
      this.asked++;
      assert.ok(answer.after <= heard, `${username} was told ${answer.after} after ${heard}`);
      this.noteBalance(username, answer.after);
    });
  }

  private noteBalance(username: string, balance: number): void {
    this.lowest.set(username, Math.min(balance, this.lowest.get(username) ?? BALANCE));
  }

  private attempt(id: string, username: string, text: string, sinceMs: number, attempts: number): void {
    const { random, time } = this;
    const open = this.living.filter(({ isOpen }) => isOpen);
    if (open.length === 0) {
      time.after(100, () => this.attempt(id, username, text, sinceMs, attempts));
      return;
    }
    const node = random.pick(open);
    let isOver = false;
    const again = () => {
      if (isOver) return;
      isOver = true;
      if (attempts >= RETRIES_MAX)
        throw new Error(`nobody answers ${id}: ${JSON.stringify([...this.failures])}\n${this.describe()}`);
      time.after(RETRY_MS, () => this.attempt(id, username, text, sinceMs, attempts + 1));
    };
    // A platform waits no longer; the process may be gone, or stopped.
    const stopWaiting = time.after(GIVE_UP_MS, again);
    node.carryOut({ endpoint: 'placeBets', text, isTraced: false }, PATIENCE_MS, ({ answer }) => {
      stopWaiting();
      if (answer.type === 'accepted') {
        this.noteBalance(username, answer.after);
        this.noteAnswer(id, answer.before, answer.after, sinceMs, isOver);
        isOver = true;
      } else {
        this.failures.set(answer.failure, (this.failures.get(answer.failure) ?? 0) + 1);
        again();
      }
    });
  }

  /** An answer that comes late counts as well: somebody may have heard it. */
  private noteAnswer(id: string, before: number, after: number, sinceMs: number, isLate: boolean): void {
    const first = this.told.get(id);
    if (first === undefined) {
      this.told.set(id, { before, after });
      this.tookMs.push(this.time.nowMs - sinceMs);
      this.unanswered--;
      return;
    }
    void isLate;
    assert.deepEqual({ before, after }, first, `${id} has two answers`);
  }

  private surroundings() {
    const { time, random, network, store, table, archive, archiveServer, answers: codec } = this;
    const log = (name: string, level: string, message: string, fields: object) => {
      if (level === 'debug') return;
      const line = `${(time.nowMs / 1000).toFixed(3)} ${name} ${level} ${message} ${JSON.stringify(fields)}`;
      this.lines.push(line);
      this.onLine(line);
      if (this.lines.length > LOG_LINES_MAX) this.lines.shift();
    };
    return { time, random, network, store, table, archive, archiveServer, codec, log };
  }
}

function nameOf(player: number): string {
  return `player-${player}`;
}
