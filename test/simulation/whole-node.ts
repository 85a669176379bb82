import assert from 'node:assert/strict';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { shardOf } from '../../src/threads/placement.js';
import type { Event } from '../../src/wallet/event.js';
import { reportMoves } from '../../src/wallet/ledger.js';
import { Digest } from './digest.js';
import { happen } from './faults.js';
import { Gambler, type Table } from './gambler.js';
import type { Plan } from './plan.js';
import { Random } from './random.js';
import { SimulatedConsumer } from './simulated-consumer.js';
import { World } from './world.js';

/** Result of a run; `failure` is undefined if the run passed. */
export interface Outcome {
  readonly failure: Error | undefined;
  readonly operations: number;
  /** Number of faults of each kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** The digest of the whole run. */
  readonly digest: string;
  readonly tookMs: number;
}

/** Plants a bug in a world before the run begins. */
export type Plant = (world: World) => void;

const PLAY_MAX_MS = 60_000;
const CALM_MAX_MS = 120_000;
/** Modifies the seed for a separate random stream, so that the seed's other draws stay the same. */
const CONSUMER_CHANCE = 0x27d4eb2f;

/** Executes one run. The same plan gives the same digest and the same failure. */
export async function simulate(plan: Plan, plant: Plant = () => {}): Promise<Outcome> {
  return await new Run(plan, plant).play();
}

class Run {
  private readonly world: World;
  private readonly digest = new Digest();
  private readonly random: Random;
  private readonly playing = new Set<Gambler>();
  /** Final balances of players who have left; undefined if lost answers leave the balance uncertain. */
  private readonly gone = new Map<string, number | undefined>();
  private readonly happened = new Map<string, number>();
  private operations = 0;
  private came = 0;
  private isOver = false;
  private failure: Error | undefined = undefined;
  private readonly table: Table;
  private readonly consumer: SimulatedConsumer | undefined;

  constructor(
    private readonly plan: Plan,
    plant: Plant,
  ) {
    const { seed, nodes, shards, servers, followers, snapshotEntries, settings, memoryMs, retentionDays, hasConsumer } =
      plan;
    const retention = retentionDays === undefined ? {} : { 'retention.transactions': retentionDays };
    const all = { ...settings, ...retention };
    const base = { seed, nodes, shards, servers, followers, snapshotEntries, settings: all, memoryMs, players: 0 };
    this.world = new World({ ...base, hasFeed: hasConsumer });
    this.random = new Random(seed ^ 0x5bd1e995);
    this.watch();
    plant(this.world);
    this.consumer = hasConsumer ? new SimulatedConsumer(this.world, new Random(seed ^ CONSUMER_CHANCE)) : undefined;
    this.table = {
      world: this.world,
      settings,
      thinkMs: plan.thinkMs,
      messages: plan.messages,
      onAnswered: ({ player }, { number }, { code, before, after }) => {
        this.operations++;
        this.isOver ||= this.operations >= plan.operations;
        this.digest.note(this.world.time.nowMs, `${player.username} ${number} ${code} ${before} ${after}`);
      },
      onPauses: () => {
        if (!this.isOver) this.come();
      },
      onLeft: (gambler) => this.left(gambler),
      onWrong: (error) => {
        this.failure ??= error;
      },
    };
  }

  async play(): Promise<Outcome> {
    const { world } = this;
    try {
      await world.begin();
      await this.consume();
      this.schedule();
      for (let i = 0; i < this.plan.gamblers; i++) this.come();
      const endMs = world.time.nowMs + PLAY_MAX_MS;
      await this.until('the play is over', () => this.isOver || world.time.nowMs >= endMs, PLAY_MAX_MS);
      this.isOver = true;
      for (const gambler of this.playing) gambler.leave();
      world.heal();
      const isAtRest = () => this.playing.size === 0 && world.servedOnce();
      await this.until('all messages are answered, and all shards are served', isAtRest, CALM_MAX_MS);
      this.touchEachShard();
      await this.until('each shard has appended once more', () => this.playing.size === 0, CALM_MAX_MS);
      this.consumer?.finish();
      await this.until('the consumer has read everything', () => this.consumer?.isDone ?? true, CALM_MAX_MS);
      if (this.failure === undefined) this.check();
    } catch (error) {
      this.failure ??= error as Error;
    }
    const { failure, operations, happened: faults, digest } = this;
    if (failure !== undefined) failure.message += `\n${world.describe()}`;
    return { failure, operations, faults, digest: digest.toString(), tookMs: world.time.nowMs };
  }

  /** Records every event. */
  private watch(): void {
    const { world, digest } = this;
    const note = (what: string) => digest.note(world.time.nowMs, what);
    world.onLine = note;
    world.network.onSent = (from, to, message) => note(`${from} ${to} ${message.type}`);
    world.store.onAppend = ({ shard, entries }) => {
      for (const { head } of entries) note(`${shard} ${head.lsn.sequence} ${head.nonce} ${head.checksum}`);
    };
  }

  /** Begins to read the feed before the first player arrives. */
  private async consume(): Promise<void> {
    const { consumer } = this;
    if (consumer === undefined) return;
    consumer.run().catch((error: Error) => {
      this.failure ??= error;
    });
    await this.until('the feed exists', () => consumer.hasBegun, CALM_MAX_MS);
  }

  private schedule(): void {
    for (const { atMs, kind, seed } of this.plan.faults) {
      this.world.time.after(atMs, () => {
        if (this.isOver) return;
        this.happened.set(kind, (this.happened.get(kind) ?? 0) + 1);
        happen(kind, this.world, new Random(seed));
      });
    }
  }

  private come(): void {
    const gambler = new Gambler(`gambler-${this.came++}`, this.table, this.random.fork());
    this.playing.add(gambler);
    gambler.begin();
  }

  /**
   * Opens an account in each shard. The appends are needed because an owner notices only at its next append that a
   * failover has lost entries.
   */
  private touchEachShard(): void {
    const { plan, table, random, playing } = this;
    const left = new Set(Array.from({ length: plan.shards }, (_, shard) => shard));
    for (let n = 0; left.size > 0; n++) {
      const username = `last-${n}`;
      if (!left.delete(shardOf(username, plan.shards))) continue;
      const gambler = new Gambler(username, table, random.fork());
      playing.add(gambler);
      gambler.begin();
      gambler.leave();
    }
  }

  private left(gambler: Gambler): void {
    this.playing.delete(gambler);
    this.gone.set(gambler.player.username, gambler.balance);
    // A new player replaces the one who left.
    if (!this.isOver && !gambler.hasReturned) this.come();
  }

  private async until(what: string, isSo: () => boolean, withinMs: number): Promise<void> {
    await this.world.time.until(what, () => this.failure !== undefined || isSo(), withinMs + 1000);
  }

  /** Checks that the answers to the players, the wallets and the log totals agree. */
  private check(): void {
    const { world, plan } = this;
    const books = new Books();
    const owners = new Map(world.living.flatMap((node) => node.serving.map((shard) => [shard, node])));
    for (let shard = 0; shard < plan.shards; shard++) {
      for (const event of eventsOf(world, shard)) books.post(event);
    }
    for (const [username, balance] of this.gone) {
      const shard = shardOf(username, plan.shards);
      const inLog = books.balances.get(username);
      assert.equal(
        owners.get(shard)?.wallet(shard, username)?.balance,
        inLog,
        `${username}: the wallet is not what its log adds up to`,
      );
      if (balance !== undefined) assert.equal(inLog, balance, `${username}: the log differs from the answers`);
    }
    this.consumer?.check(books.balances);
  }
}

/** Totals of all logs, computed by code that does not depend on the wallets. */
class Books {
  readonly balances = new Map<string, number>();
  private readonly versions = new Map<string, number>();

  post(event: Event): void {
    const { username, version } = event;
    assert.equal(version, (this.versions.get(username) ?? 0) + 1, `${username}: events follow each other`);
    this.versions.set(username, version);
    let balance = this.balances.get(username) ?? 0;
    reportMoves(event, {
      moved: (_, amount) => {
        balance += amount;
      },
    });
    this.balances.set(username, balance);
  }
}

function* eventsOf(world: World, shard: number): Iterable<Event> {
  const codec = new EntryCodec(world.store.storeId);
  for (const { bytes } of world.store.history(shard)) yield* codec.decode(bytes).events;
}
