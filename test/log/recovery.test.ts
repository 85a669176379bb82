import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { TestHost, turns } from '../support/test-host.js';

const { place } = commands;

async function logWithEntries(): Promise<MemoryWal> {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000e', 2);
  const host = await TestHost.started({ wal });
  await host.fund('ann', 1000);
  for (let i = 0; i < 5; i++) await host.execute(place([{ id: `t${i}` }]));
  return wal;
}

/** Changes the pages of a log as they are read. */
function reading(wal: MemoryWal, change: (pages: readonly Buffer[]) => readonly Buffer[]): MemoryWal {
  const read = wal.read.bind(wal);
  wal.read = async (shard, after, limit) => {
    const page = await read(shard, after, limit);
    // Do not change reads of a single entry, which only fetch the newest time.
    return shard === 0 && limit > 1 ? change(page) : page;
  };
  return wal;
}

/** Expects one shard to stay stopped for this reason and the other one to serve. */
async function recoveryFails(wal: MemoryWal, reason: RegExp): Promise<void> {
  const host = await TestHost.started({ wal });
  const [stopped, other] = host.host.status();
  assert.equal(stopped?.state, 'stopped');
  assert.match(stopped?.reason ?? '', reason);
  assert.equal(other?.state, 'serving');
}

test('recovery rebuilds all durable entries of several owners', async () => {
  const wal = await logWithEntries();
  for (let i = 0; i < 3; i++) {
    const next = await TestHost.started({ wal });
    assert.equal(await next.balance('ann'), 950 - i * 10);
    await next.execute(place([{ id: `again${i}` }]));
  }
});

test('a log with a gap stops its shard, and the message names the position', async () => {
  const wal = reading(await logWithEntries(), (page) => page.filter((_, i) => i !== 2));
  await recoveryFails(wal, /entry 1-4 of shard 0 does not follow 1-2/);
});

test('a log that ends before its head stops its shard', async () => {
  const sequenceOf = (bytes: Buffer) => bytes.readUInt32BE(12);
  const wal = reading(await logWithEntries(), (page) => page.filter((bytes) => sequenceOf(bytes) <= 3));
  await recoveryFails(wal, /the log of shard 0 ends at 1-3, before its head 2-8/);
});

test('a repeated or misplaced entry stops its shard', async () => {
  await recoveryFails(
    reading(await logWithEntries(), (page) => page.flatMap((one, i) => (i === 2 ? [one, one] : [one]))),
    /does not follow/,
  );
  const swapped = reading(await logWithEntries(), ([a, b, c, ...rest]) => [a, c, b, ...rest] as Buffer[]);
  await recoveryFails(swapped, /does not follow/);
});

test('a damaged entry stops its shard', async () => {
  const wal = reading(await logWithEntries(), (page) =>
    page.map((bytes, i) => {
      if (i !== 3) return bytes;
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(100) ^ 1, 100);
      return damaged;
    }),
  );
  await recoveryFails(wal, /damaged/);
});

test('a fence whose answer was lost is followed only by another fence', async () => {
  const wal = await logWithEntries();
  wal.faultMode = 'answer-lost';
  const host = new TestHost({ wal });
  const started = host.start();
  setTimeout(() => {
    wal.faultMode = 'fine';
  }, 50);
  await started;
  assert.equal(await host.balance('ann'), 950);
  assert.ok(wal.entries(0).filter((entry) => entry.owner !== undefined).length > 2);
});

test('of two simultaneous starts, one serves all shards and the other none', async () => {
  for (let round = 0; round < 10; round++) {
    const wal = await logWithEntries();
    const hosts = [new TestHost({ wal }), new TestHost({ wal })];
    await Promise.all(hosts.map((host) => host.start()));
    const balances = await Promise.all(hosts.map((host) => host.balance('ann')));
    assert.deepEqual(
      balances.filter((balance) => balance !== undefined),
      [950],
    );
    const winner = balances.findIndex((balance) => balance !== undefined);
    assert.equal(
      (await hosts[winner]?.ask({ type: 'read-player', username: 'x' }, 1))?.type,
      'player',
      'the other shard too',
    );
    await turns(5);
    assert.deepEqual(hosts[winner]?.fenced, []);
    assert.ok(hosts[1 - winner]?.fenced.some(({ shard }) => shard === 0));
  }
});

test('a busy owner loses all its shards to a new one in one step', async () => {
  const wal = await logWithEntries();
  const busy = await TestHost.started({ wal });
  const load = (async () => {
    for (let i = 0; ; i++) {
      const answer = await busy.execute(place([{ id: `load${i}`, betAmount: 1, roundId: `load${i}` }]));
      if (answer.type === 'failed') return answer.failure;
    }
  })();
  const next = await TestHost.started({ wal });
  assert.equal((await next.ask({ type: 'read-player', username: 'x' }, 1)).type, 'player');
  assert.equal(typeof (await next.balance('ann')), 'number');
  assert.equal(await load, 'unsure');
  await turns(5);
  assert.equal(busy.fenced.length, 1);
  assert.deepEqual(next.fenced, []);
});
