import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Put, ShardArchive } from '../../src/archive/shard-archive.js';
import { systemTimers } from '../../src/base/timers.js';
import type { Shard } from '../../src/engine/shard.js';
import type { Lsn } from '../../src/ports/lsn.js';
import type { Request } from '../../src/ports/request.js';
import { Archiver } from '../../src/upkeep/archiver.js';
import { SpareTime } from '../../src/upkeep/spare-time.js';
import type { ArchivablePlayer } from '../../src/wallet/query.js';
import { turns } from '../support/test-host.js';

const MEMORY_MS = 8000;
const PLAYERS = 100;
const TIMERS_MS = 20;
const DAY_MS = 86_400_000;

/** A shard in which each player has one archivable round. Records what is submitted. */
class FakeShard {
  readonly playerCount = PLAYERS;
  readonly durableHead = { lsn: { epoch: 1, sequence: 1 } };
  source = { head: { nonce: 'a fence' } };
  looked = 0;
  left = 0;

  now(): number {
    return 0;
  }

  submit(request: Request): void {
    if (request.type === 'command') {
      this.left++;
    } else if (request.query.type === 'list-archivable') {
      const { from, count } = request.query;
      const end = Math.min(from.position + count, PLAYERS);
      this.looked += end - from.position;
      const players = Array.from({ length: end - from.position }, (_, i) => playerOf(from.position + i));
      const next = { position: end === PLAYERS ? 0 : end, rounds: 0 };
      request.replier.reply({ type: 'archivable', players, next });
    }
  }
}

function playerOf(n: number): ArchivablePlayer {
  const names = { productId: 'P', roundId: 'r' };
  const round = { ...names, image: Buffer.alloc(0), updatedMs: 0, transactions: [], remembers: false };
  return { username: `p${n}`, rounds: [round] };
}

function archiving(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const thread = { nowMs: 0, expiredMs: undefined as number | undefined };
  const server = { ms: async (): Promise<number | undefined> => undefined };
  const asked: (number | undefined)[] = [];
  const dropped: number[] = [];
  const forgotten: number[] = [];
  const days = { drop: async (day: number): Promise<void> => void dropped.push(day) };
  const clock = { now: () => thread.nowMs, monotonicMs: () => thread.nowMs };
  const shard = new FakeShard();
  const archive = {
    put: async (_: Lsn, players: readonly ArchivablePlayer[]): Promise<Put> => ({ mark: undefined, players }),
    work: () => false,
    save: async () => {},
    check: async () => {},
    measures: { isBehind: false },
    dropBefore: (day: number) => void forgotten.push(day),
    close() {},
  };
  const spareTime = new SpareTime({
    monotonicMs: clock.monotonicMs,
    loopIdleMs: clock.monotonicMs,
    defer: setImmediate,
    isUrgent: () => false,
  });
  const archiver = new Archiver([[shard as unknown as Shard, archive as unknown as ShardArchive]], {
    clock,
    timers: systemTimers,
    spareTime,
    memoryMs: MEMORY_MS,
    dropBefore: (day) => days.drop(day),
    expiredBeforeMs: (serverMs) => {
      asked.push(serverMs);
      return thread.expiredMs;
    },
    serverMs: () => server.ms(),
  });
  archiver.start();
  /** Advances the time on an idle thread. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += TIMERS_MS) {
      thread.nowMs += TIMERS_MS;
      t.mock.timers.tick(TIMERS_MS);
      for (let turn = 0; turn < 10; turn++) {
        spareTime.offer();
        await turns(1);
      }
    }
  };
  return { shard, archive, archiver, pass, thread, server, asked, dropped, forgotten, days };
}

test('all archivable rounds leave memory within one eighth of memoryMs', async (t) => {
  const { shard, archiver, pass } = archiving(t);
  await pass(MEMORY_MS / 8);
  assert.ok(Math.abs(shard.looked - PLAYERS) <= 2, `${shard.looked} players`);
  assert.equal(shard.left, shard.looked);
  archiver.stop();
});

test('rounds stay in memory if the shard gets a new fence during their put', async (t) => {
  const { shard, archive, archiver, pass } = archiving(t);
  let puts = 0;
  archive.put = async (_, players) => {
    if (puts++ === 0) shard.source = { head: { nonce: 'a later fence' } };
    return { mark: undefined, players };
  };
  while (puts === 0) await pass(TIMERS_MS);
  assert.equal(shard.left, 0);
  while (puts === 1) await pass(TIMERS_MS);
  await pass(TIMERS_MS);
  assert.ok(shard.left > 0);
  archiver.stop();
});

test('expired days are dropped as a whole', async (t) => {
  const { archiver, thread, dropped, forgotten } = archiving(t);
  thread.expiredMs = 19_880 * DAY_MS + 1000;
  t.mock.timers.tick(60_000);
  await turns(3);
  // At first, the newest round of day 19,879 has not expired; a day later, that day is dropped as well.
  assert.deepEqual([dropped, forgotten], [[19_879], [19_879]]);
  archiver.stop();
});

test('keys of expired days stay until the archive has dropped the days', async (t) => {
  const { archiver, thread, days, forgotten } = archiving(t);
  thread.expiredMs = 19_880 * DAY_MS;
  days.drop = () => Promise.reject(new Error('the archive is away'));
  t.mock.timers.tick(60_000);
  await turns(3);
  assert.deepEqual(forgotten, []);
  let done = () => {};
  days.drop = () => new Promise((resolve) => (done = resolve));
  t.mock.timers.tick(60_000);
  await turns(3);
  assert.deepEqual(forgotten, []);
  done();
  await turns(3);
  assert.deepEqual(forgotten, [19_879]);
  archiver.stop();
});

test('no day is dropped while the archive is behind the log', async (t) => {
  const { archive, archiver, thread, dropped } = archiving(t);
  thread.expiredMs = 19_880 * DAY_MS;
  archive.check = async () => {
    archive.measures.isBehind = true;
  };
  t.mock.timers.tick(60_000);
  await turns(5);
  assert.deepEqual(dropped, []);
  archiver.stop();
});

test('memory keeps the keys that the archive has not dropped', async (t) => {
  const { archiver, thread, days } = archiving(t);
  thread.expiredMs = 19_880 * DAY_MS;
  assert.equal(archiver.droppedBeforeMs, Number.NEGATIVE_INFINITY);
  let done = () => {};
  days.drop = () => new Promise((resolve) => (done = resolve));
  t.mock.timers.tick(60_000);
  await turns(3);
  assert.equal(archiver.droppedBeforeMs, Number.NEGATIVE_INFINITY);
  done();
  await turns(3);
  assert.equal(archiver.droppedBeforeMs, 19_879 * DAY_MS);
  archiver.stop();
});

test('a round of a dropped day stays in memory', async (t) => {
  const { shard, archive, archiver, pass } = archiving(t);
  let players: readonly ArchivablePlayer[] = [];
  archive.put = async (_, leaving) => {
    players = [...players, ...leaving.slice(1)];
    return { mark: undefined, players: leaving.slice(1) };
  };
  await pass(MEMORY_MS / 8);
  assert.equal(shard.left, players.length);
  assert.ok(shard.left < shard.looked);
  archiver.stop();
});

test('no day is dropped until the time is confirmed', async (t) => {
  const { archiver, dropped } = archiving(t);
  t.mock.timers.tick(600_000);
  await turns(3);
  assert.deepEqual(dropped, []);
  archiver.stop();
});

test("the archive server's clock decides which days are dropped", async (t) => {
  const { archiver, thread, server, asked, dropped } = archiving(t);
  thread.expiredMs = 100 * DAY_MS;
  server.ms = async () => 7;
  t.mock.timers.tick(60_000);
  await turns(3);
  assert.deepEqual(asked, [undefined, 7]);
  assert.ok(dropped.length > 0);
  archiver.stop();
});

test('no day is dropped while the archive server does not answer', async (t) => {
  const { archiver, thread, server, dropped } = archiving(t);
  thread.expiredMs = 100 * DAY_MS;
  server.ms = () => Promise.reject(new Error('away'));
  t.mock.timers.tick(60_000);
  await turns(3);
  assert.deepEqual(dropped, []);
  archiver.stop();
});
