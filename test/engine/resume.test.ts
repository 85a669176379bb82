import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { LSN_ZERO, type Lsn } from '../../src/ports/lsn.js';
import { commands } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { TestHost, turns } from '../support/test-host.js';

const { place } = commands;
const TAG = 'abcdef01';

/** Lets a thread answer requests and die, so that a new thread of the same process can replace it. */
async function deathOfAThread(): Promise<{ wal: MemoryWal; reported: ReadonlyMap<number, Lsn>; next: TestHost }> {
  const wal = new MemoryWal(randomUUID(), 2);
  const first = await TestHost.started({ wal, ownerTag: TAG });
  await first.fund('ann', 100);
  for (let i = 0; i < 3; i++) await first.execute(place([{ id: `t${i}` }]));
  return { wal, reported: new Map(first.host.durable()), next: new TestHost({ wal, ownerTag: TAG }) };
}

test('a replacement thread has all entries that its predecessor acknowledged', async () => {
  const { reported, next } = await deathOfAThread();
  await next.host.resume(reported);
  assert.equal(await next.balance('ann'), 70);
});

test('a replacement thread stops a shard whose log lacks acknowledged entries', async () => {
  const { wal, reported, next } = await deathOfAThread();
  wal.loseTail(0, 1);
  await next.host.resume(reported);
  const [short, whole] = next.host.status();
  assert.match(String(short?.reason), /the log of shard 0 ends at 1-4, but lacks 1-5, which was acknowledged/);
  assert.equal(whole?.state, 'serving');
  assert.deepEqual(await next.ask({ type: 'read-player', username: 'ann' }), { type: 'failed', failure: 'stopped' });
});

test('a replacement thread gives way to another owner', async () => {
  const { wal, reported, next } = await deathOfAThread();
  const other = await TestHost.started({ wal });
  await next.host.resume(reported);
  assert.deepEqual(next.fenced.map(({ shard }) => shard).sort(), [0, 1]);
  assert.match(String(next.host.status()[0]?.reason), /no longer belongs to this process/);
  assert.equal(await other.balance('ann'), 70);
});

test("the dead thread's last append may arrive before the replacement's fence", async () => {
  const { wal, reported, next } = await deathOfAThread();
  const late = new TestHost({ wal, ownerTag: TAG });
  const head = wal.head.bind(wal);
  let looks = 0;
  wal.head = async (shard) => {
    const found = await head(shard);
    if (shard === 1 && ++looks === 1) await late.start();
    return found;
  };
  await next.host.resume(reported);
  assert.equal(await next.balance('ann'), 70);
  assert.deepEqual(next.fenced, []);
});

test('a resume during an outage loses nothing and may be repeated', async () => {
  const { wal, reported, next } = await deathOfAThread();
  const head = wal.head.bind(wal);
  const before = await wal.read(0, LSN_ZERO, 100);
  wal.head = async () => {
    throw new Error('the store is away');
  };
  const resumed = next.host.resume(reported);
  await turns(3);
  wal.head = head;
  await resumed;
  assert.deepEqual((await wal.read(0, LSN_ZERO, 100)).slice(0, before.length), before);
  assert.equal(await next.balance('ann'), 70);
});
