import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import { feedEventsOf } from '../../src/feed/events-of.js';
import type { FeedRequest, LostEntries } from '../../src/feed/request.js';
import { FeedConsumers } from '../../src/node/jobs/feed/feed-consumers.js';
import { compareLsn, LSN_ZERO, type Lsn, tryLsn } from '../../src/ports/lsn.js';
import { IMMEDIATE } from '../../src/snapshot/snapshotter.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import type { Store } from '../../src/store/store.js';
import { Feeds } from '../../src/tools/feed/feeds.js';
import type { StoreReader } from '../../src/tools/store-reader.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import { Random } from '../simulation/random.js';
import { commands } from '../support/domain.js';
import { TestHost } from '../support/test-host.js';
import type { RecordsUnderTest } from './feed-records-contract.js';
import type { StoreUnderTest } from './store-under-test.js';

type Parts = Pick<Store, 'wal' | 'snapshots' | 'feeds'>;
type UnderTest = StoreUnderTest & RecordsUnderTest;
interface Limits {
  readonly bytesMax: number;
  readonly ageMaxMs: number;
}

const SHARDS = 4;
const STEPS = 40;
/** Redis trims whole pieces of a log, of up to 100 entries. */
const MANY = 220;
const TRIMMED_MIN = 100;
const HOUR_MS = 3_600_000;
const GENEROUS: Limits = { bytesMax: 1e12, ageMaxMs: 1e12 };
const NEVER = new AbortController().signal;

/** A shard host and one feed on the same store, and every event that the log ever had. */
class World {
  readonly delivered = new Set<string>();
  readonly lost: LostEntries[] = [];
  /** Each event that the log ever had, with its entry. */
  readonly written = new Map<string, { readonly shard: number; readonly lsn: Lsn }>();
  private host: TestHost | undefined;
  private feeds: Feeds | undefined;
  private nowMs = 1_700_000_000_000;
  private readonly newest = new Map<number, Lsn>();
  private readonly funded = new Set<number>();
  private bets = 0;
  freeBytes = 1e12;

  constructor(
    private readonly storeId: string,
    private parts: Parts,
    private readonly limits: Limits,
  ) {}

  /** Starts a new owner of all shards, after the former one has ended. `reopen` returns the store anew. */
  async start(reopen?: () => Promise<Parts>): Promise<void> {
    await this.close();
    if (reopen !== undefined) this.parts = await reopen();
    const { parts } = this;
    const { reader } = this;
    const room = async () => ({ usedBytes: 1e12, freeBytes: this.freeBytes });
    this.host = new TestHost({
      shards: SHARDS,
      store: { ...parts, storeId: this.storeId },
      policy: { keep: 1, forConsumers: this.limits },
      consumers: new FeedConsumers({ feeds: parts.feeds, room }, reader),
    });
    this.host.clock.nowMs = this.nowMs;
    await this.host.start();
    this.feeds = new Feeds({
      reader,
      records: parts.feeds,
      now: () => this.nowMs,
      monotonicMs: () => this.nowMs,
      newId: () => 'id',
      pause: async () => {},
    });
    await this.look();
  }

  async ask(request: FeedRequest) {
    return await (this.feeds as Feeds).answer(request, NEVER);
  }

  async play(shard: number): Promise<void> {
    const username = `player-${shard}`;
    if (!this.funded.has(shard)) await this.host?.fund(username, 1_000_000, shard);
    this.funded.add(shard);
    await this.host?.execute(commands.place([{ id: `bet-${++this.bets}` }], { username }), shard);
    await this.look();
  }

  async snapshot(): Promise<void> {
    const results = await (this.host as TestHost).host.takeSnapshots(IMMEDIATE);
    assert.ok(
      results.every(({ type }) => type !== 'abandoned'),
      JSON.stringify(results),
    );
  }

  advance(ms: number): void {
    this.nowMs += ms;
    if (this.host !== undefined) this.host.clock.nowMs = this.nowMs;
  }

  /** Reads a page. Returns the position after the page. */
  async read(limit: number): Promise<{ readonly next: string; readonly count: number }> {
    const answer = await this.ask({ type: 'read', name: 'crm', after: undefined, limit, waitMs: 0 });
    assert.ok(answer.type === 'page', JSON.stringify(answer));
    const page = JSON.parse(answer.json) as { events: FeedEvent[]; next: string; lost?: LostEntries[] };
    for (const { id } of page.events) this.delivered.add(id);
    this.lost.push(...(page.lost ?? []));
    return { next: page.next, count: page.events.length };
  }

  async acknowledge(position: string): Promise<void> {
    assert.equal((await this.ask({ type: 'acknowledge', name: 'crm', position })).type, 'feed');
  }

  /** The number of entries that the logs have. */
  async entries(): Promise<number> {
    let count = 0;
    for (let shard = 0; shard < SHARDS; shard++) count += (await this.parts.wal.read(shard, LSN_ZERO, 100_000)).length;
    return count;
  }

  async close(): Promise<void> {
    await this.host?.host.close();
    this.host = undefined;
  }

  /** Asserts that each event was delivered or is inside a lost range. */
  assertNothingSilent(seed: number): void {
    for (const [id, { shard, lsn }] of this.written) {
      if (this.delivered.has(id)) continue;
      const isNamed = this.lost.some(({ shard: one, from, to }) => {
        return one === shard && compareLsn(tryLsn(from) as Lsn, lsn) < 0 && compareLsn(lsn, tryLsn(to) as Lsn) <= 0;
      });
      assert.ok(isNamed, `seed ${seed}: ${id} was neither delivered nor named as lost`);
    }
  }

  private get reader(): StoreReader {
    const { storeId, parts } = this;
    return {
      ...parts,
      storeId,
      shards: SHARDS,
      scales: new ScaleTable({ default: 4, byCurrency: {} }),
      format: new EntryCodec(storeId),
      snapshotFormat: new SnapshotCodec(storeId),
      genesis: (shard) => genesisHead(storeId, shard),
      shardOf: () => 0,
      yieldTurn: async () => {},
    };
  }

  /** Notes the events of new entries, before any of them is trimmed. */
  private async look(): Promise<void> {
    const { format, storeId } = this.reader;
    const source = { storeId, currencyOf: () => 'THB', scaleOf: () => 4 };
    for (let shard = 0; shard < SHARDS; shard++) {
      for (const bytes of await this.parts.wal.read(shard, this.newest.get(shard) ?? LSN_ZERO, 1000)) {
        const entry = format.decode(bytes);
        for (const { event } of feedEventsOf(entry, source)) this.written.set(event.id, { shard, lsn: entry.lsn });
        this.newest.set(shard, entry.lsn);
      }
    }
  }
}

/** Tests the promises of a store to a consumer that is slow or away. */
export function feedRetentionContract(name: string, open: () => Promise<UnderTest>): void {
  async function withWorld(limits: Limits, run: (world: World, store: UnderTest) => Promise<void>): Promise<void> {
    const store = await open();
    const world = new World(store.storeId, store, limits);
    try {
      await world.start();
      assert.equal((await world.ask({ type: 'create', name: 'crm', from: 'start', filter: {} })).type, 'feed');
      await run(world, store);
    } finally {
      await world.close();
      await store.destroy();
    }
  }

  const cases: readonly (readonly [Limits, string])[] = [
    [GENEROUS, 'generous limits'],
    [{ ...GENEROUS, bytesMax: 2000 }, 'few bytes'],
    [{ ...GENEROUS, ageMaxMs: HOUR_MS }, 'an hour'],
  ];
  for (const [limits, called] of cases) {
    test(`${name}: with ${called}, every event is delivered or named as lost`, async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const random = new Random(seed);
      await withWorld(limits, async (world, store) => {
        for (let step = 0; step < STEPS; step++) {
          const draw = random.below(20);
          if (step === STEPS / 2) await world.start(async () => (await store.reopen()) as unknown as Parts);
          if (draw < 12) await world.play(random.below(SHARDS));
          else if (draw < 15) await world.snapshot();
          else if (draw < 16) await world.start();
          else if (draw < 17) world.advance(random.below(HOUR_MS));
          else if (draw < 18) await world.read(1 + random.below(5));
          else await world.acknowledge((await world.read(1 + random.below(5))).next);
        }
        for (let count = 1; count > 0; ) {
          const page = await world.read(1000);
          await world.acknowledge(page.next);
          count = page.count;
        }
        world.assertNothingSilent(seed);
        if (limits === GENEROUS) assert.deepEqual(world.lost, [], `seed ${seed}`);
      });
    });
  }

  test(`${name}: the log is kept for a feed that reads nothing, and trimmed once it is deleted`, async () => {
    await withWorld(GENEROUS, async (world) => {
      for (let i = 0; i < MANY; i++) await world.play(0);
      await world.snapshot();
      const kept = await world.entries();
      assert.ok(kept > MANY, `${kept} entries`);
      await world.ask({ type: 'remove', name: 'crm' });
      await world.play(0);
      await world.snapshot();
      assert.ok((await world.entries()) < kept - TRIMMED_MIN, `${await world.entries()} of ${kept} entries`);
    });
  });

  test(`${name}: a store that fills up is trimmed despite a feed that reads nothing`, async () => {
    await withWorld(GENEROUS, async (world) => {
      for (let i = 0; i < MANY; i++) await world.play(0);
      await world.snapshot();
      const kept = await world.entries();
      assert.ok(kept > MANY, `${kept} entries`);
      world.freeBytes = 1e10;
      await world.play(0);
      await world.snapshot();
      assert.ok((await world.entries()) < kept - TRIMMED_MIN, `${await world.entries()} of ${kept} entries`);
      await world.read(1000);
      assert.deepEqual(
        world.lost.map(({ shard, reason }) => [shard, reason]),
        [[0, 'trimmed']],
      );
      world.assertNothingSilent(0);
    });
  });
}
