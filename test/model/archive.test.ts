import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { Client } from 'pg';
import { FAILURES } from '../../src/callback/failures.js';
import { loadSettings } from '../../src/config/load.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { Archive, ArchiveRecord } from '../../src/ports/archive.js';
import type { Append } from '../../src/ports/wal.js';
import { type ReferenceAnswer, ReferenceWallet } from '../../src/simulate/model/reference-wallet.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { META_VERSION } from '../../src/store/meta.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import type { Store } from '../../src/store/store.js';
import type { HostObserver } from '../../src/threads/host-observer.js';
import type { CallbackCommand } from '../../src/wallet/command.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Answer } from '../../src/wallet/decision.js';
import type { TransactionView } from '../../src/wallet/query.js';
import type { LogsAndSnapshots } from '../contract/store-under-test.js';
import { cleanUp } from '../support/clean-up.js';
import { DEAF } from '../support/host-deps.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { MemoryWal } from '../support/memory-wal.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { RedisServer } from '../support/redis-server.js';
import { newTempFolder } from '../support/temp-folder.js';
import { TestHost } from '../support/test-host.js';
import { arbitraryStep, type Step, USERNAMES, varied } from './arbitrary-commands.js';

/*
 * Random histories with different stores and archives, using the settings in config/tiny.json. The process ends between
 * any two steps of archiving a round. Each history is compared with the naive reference wallet and with a host that
 * keeps everything in memory. MODEL_RUNS lengthens the run.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 3000);
const OPENING_BALANCE = 100;
const ARCHIVE_ID = '00000000-0000-4000-8000-00000000000a';
const TINY = loadSettings({ WALLETD_CONFIG: fileURLToPath(new URL('../../../config/tiny.json', import.meta.url)) });
const MEMORY_MS = TINY.retention.memorySeconds * 1000;
/** Rules whose limit on tombstones is too high for histories to reach, because archived tombstones are not counted. */
const RULES: Rules = { ...rulesOf(TINY), tombstonesMax: 1000 };
/** Interval after which unused wallets hibernate, so that only a few wallets stay awake. */
const IDLE_MS = 1;

const STEPS_PER_MOVE = 4;
const STEPS_PER_GROUP = 8;
const GROUPS = 3;

/** The last step of archiving that the process reaches: the process ends before or after this step. */
type End = 'before-put' | 'behind-put' | 'before-event' | 'behind-event' | 'in-order';

const arbitraryEnd = fc.constantFrom<End>('before-put', 'behind-put', 'before-event', 'behind-event', 'in-order');

/** The durable parts of walletd, which outlive a process: logs, snapshots and archive. */
interface Place extends LogsAndSnapshots {
  readonly storeId: string;
  readonly archive: Archive;
  close(): Promise<void>;
}

/** A `Place` as one process sees it. Once that process has ended, its calls do nothing. */
class OneLife {
  end: End = 'in-order';
  private isOver = false;

  constructor(private readonly place: Place) {}

  get options(): Pick<NonNullable<ConstructorParameters<typeof TestHost>[0]>, 'store' | 'archive'> {
    const { wal, snapshots, storeId, archive } = this.place;
    const put = (records: readonly ArchiveRecord[]) => this.step('put', () => archive.put(records));
    const append = (appends: readonly Append[]) => this.step('event', () => wal.append(appends));
    const close = async () => {};
    return {
      store: { wal: this.mortal(wal, { append }), snapshots: this.mortal(snapshots, {}), storeId },
      archive: this.mortal(archive, { put, close }),
    };
  }

  kill(): void {
    this.isOver = true;
  }

  private mortal<T extends object>(part: T, instead: Partial<T>): T {
    return new Proxy(part, {
      get: (_, name) => {
        const replaced = instead[name as keyof T];
        if (replaced !== undefined) return replaced;
        const value = part[name as keyof T];
        if (typeof value !== 'function') return value;
        return this.isOver && name !== 'appendQueueOf' ? never : value.bind(part);
      },
    });
  }

  private async step<T>(name: 'put' | 'event', run: () => Promise<T>): Promise<T> {
    if (this.isOver || this.end === `before-${name}`) return await never();
    const result = await run().catch((error: unknown) => {
      // The last process may still be writing while the stores are closed.
      if (this.isOver) return never();
      throw error;
    });
    return this.end === `behind-${name}` ? await never() : result;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

async function listed(host: TestHost, username: string): Promise<object[]> {
  const result = await host.ask({ type: 'list-transactions', username, limit: 1000, after: undefined });
  assert.ok(result.type === 'transactions' && result.page !== undefined, JSON.stringify(result));
  return result.page.items
    .map(({ createdMs, updatedMs, ...view }: TransactionView) => view)
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function reported(answer: Answer): ReferenceAnswer {
  return answer.type === 'accepted'
    ? { code: 0, before: answer.before, after: answer.after }
    : { code: FAILURES[answer.failure].statusCode };
}

/**
 * The command that the step sends. The commands sometimes switch to different rounds, and later return to the first
 * ones.
 */
function maybeCommand(step: Step, n: number, past: readonly CallbackCommand[]): CallbackCommand | undefined {
  if (step.type === 'again') return past[past.length - step.back];
  if (step.type === 'vary') {
    const earlier = past[past.length - step.back];
    return earlier && varied(earlier, step.element, step.change);
  }
  if (step.type !== 'callback') return undefined;
  const group = Math.floor(n / STEPS_PER_GROUP) % GROUPS;
  const txns = step.command.txns.map((txn) => ({ ...txn, id: `${txn.id}${group}`, roundId: `${txn.roundId}${group}` }));
  return { ...step.command, txns } as CallbackCommand;
}

/**
 * Plays a history. The process ends repeatedly, in the given ways, one after another. Resolves to the number of rounds
 * that left memory.
 */
async function play(place: Place, steps: readonly Step[], ends: readonly End[], hosts: TestHost[]): Promise<number> {
  let moved = 0;
  const common = { shards: 1, limits: TINY.limits, rules: RULES };
  const observer: HostObserver = { ...DEAF, archived: (_, rounds) => (moved += rounds) };
  const begin = async (life: OneLife) => {
    const options = { ...common, ...life.options, memoryMs: MEMORY_MS, idleMs: IDLE_MS, observer };
    const host = await TestHost.started(options);
    hosts.push(host);
    return host;
  };
  let life = new OneLife(place);
  let moving = await begin(life);
  const still = await TestHost.started(common);
  hosts.push(still);
  const reference = new ReferenceWallet(RULES);
  for (const username of USERNAMES) {
    for (const host of [moving, still]) await host.fund(username, OPENING_BALANCE);
    reference.create(username, 'THB', OPENING_BALANCE);
  }
  const past: CallbackCommand[] = [];
  let ended = 0;
  for (const [n, step] of steps.entries()) {
    const command = maybeCommand(step, n, past);
    if (command !== undefined) {
      past.push(command);
      const expected = reference.answer(command, moving.clock.nowMs);
      const [actual, unmoved] = await Promise.all([moving.execute(command), still.execute(command)]);
      assert.deepEqual(reported(actual), expected);
      assert.deepEqual(actual, unmoved);
    }
    if (step.type !== 'restart' && n % STEPS_PER_MOVE > 0) continue;
    moving.clock.nowMs += 2 * MEMORY_MS;
    still.clock.nowMs = moving.clock.nowMs;
    life.end = ends[ended++ % ends.length] as End;
    const isOver = life.end !== 'in-order' || step.type === 'restart';
    // Archiving has begun. The end of the process may interrupt archiving; without the delay, archiving overlaps with
    // the next callbacks.
    if (isOver || ended % 2 === 0) await delay(45);
    if (!isOver) continue;
    const { clock } = moving;
    if (life.end === 'in-order') await moving.host.close();
    else life.kill();
    life = new OneLife(place);
    moving = await begin(life);
    moving.clock.nowMs = clock.nowMs;
  }
  life.end = 'in-order';
  for (const username of USERNAMES) {
    assert.equal(await moving.balance(username), reference.players.get(username)?.balance);
    assert.deepEqual(await listed(moving, username), await listed(still, username));
  }
  life.kill();
  return moved;
}

function histories(name: string, runs: number, open: () => Promise<Place>): void {
  test(`${name}: random histories match the reference when a process ends during archiving`, async () => {
    const hosts: TestHost[] = [];
    let moved = 0;
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(arbitraryStep, { minLength: 20, maxLength: 80, size: 'max' }),
          fc.array(arbitraryEnd, { minLength: 1, maxLength: 8 }),
          async (steps, ends) => {
            const place = await open();
            moved += await play(place, steps, ends, hosts);
            await place.close();
          },
        ),
        { numRuns: runs },
      );
    } finally {
      await Promise.all(hosts.map(({ host }) => host.close()));
    }
    assert.ok(moved > 0, `no round moved in ${runs} histories`);
  });
}

/** Creates the meta record of a new store with one shard. */
async function created<T extends Store>(store: T): Promise<T & { readonly storeId: string }> {
  const scales = { default: 4, byCurrency: {} };
  const storeId = randomUUID();
  await store.meta.create({ storeId, formatVersion: META_VERSION, shards: 1, hash: 'h', scales, createdMs: 0 });
  return Object.assign(store, { storeId });
}

histories('log and archive in memory', RUNS / 200, async () => {
  const wal = new MemoryWal(randomUUID(), 1);
  return { wal, snapshots: wal, storeId: wal.storeId, archive: new MemoryArchive(), close: async () => {} };
});

histories('LMDB, and the archive beside it', RUNS / 300, async () => {
  const folder = newTempFolder();
  const store = await created(LmdbStore.open(folder));
  const archive = LmdbArchive.open(`${folder}/archive`, ARCHIVE_ID);
  const { wal, snapshots, storeId } = store;
  const close = async () => {
    await archive.close();
    await store.close();
  };
  return { wal, snapshots, storeId, archive, close };
});

const noPostgres = whyNoPostgres();
if (noPostgres !== undefined) {
  test('Redis, and the archive in PostgreSQL', { skip: noPostgres }, () => {});
} else {
  const server = startPostgres(tmpdir());
  const redis = await RedisServer.start();
  after(async () => {
    await cleanUp();
    await redis.destroy();
  });
  let databases = 0;
  const newDatabase = async () => {
    const name = `model${databases++}`;
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return server.url.replace('/postgres?', `/${name}?`);
  };
  histories('Redis, and the archive in PostgreSQL', RUNS / 300, async () => {
    const address = parseRedisAddress(redis.url) as RedisAddress;
    const store = await created(
      new RedisStore({ address, prefix: randomUUID(), durability: { type: 'fsync' }, trustConfig: false }),
    );
    const archive = new PostgresArchive(await newDatabase(), ARCHIVE_ID);
    const { wal, snapshots, storeId } = store;
    const close = async () => {
      await archive.close();
      await store.close();
    };
    return { wal, snapshots, storeId, archive, close };
  });
}
