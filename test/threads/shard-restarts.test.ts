import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeOver } from '../../src/log/take-over.js';
import { RecoveryError } from '../../src/ports/recovery-error.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { commands } from '../support/domain.js';
import type { MemoryWal } from '../support/memory-wal.js';
import { TestHost } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place } = commands;
const stateOf = (node: TestHost) => node.host.status()[0]?.state;

/** Starts a node that serves shard 0 of a cluster. The log is damaged, so that its next recovery fails. */
async function damaged(): Promise<TestHost> {
  const node = new TestHost({ isShared: true });
  await node.host.start([]);
  await node.take();
  await node.fund('ann', 1000);
  node.wal.damage(0, 2);
  return node;
}

/** Fences shard 0 as another owner. */
async function fenceByOther(wal: MemoryWal): Promise<void> {
  const found = await wal.head(0);
  const lsn = { epoch: found.lsn.epoch + 1, sequence: found.lsn.sequence + 1 };
  const header = { shard: 0, lsn, nonce: 'f'.repeat(16), previous: found, timeMs: 0 };
  const fence = new EntryCodec(wal.storeId).encodeFence(header, { host: 'another node', pid: 1, startedMs: 0 });
  wal.intrude(0, { shard: 0, expected: found, entries: [fence] });
}

test('a shard is unloaded only after its failed recovery has ended', async () => {
  const node = await damaged();
  const { wal } = node;
  const head = wal.head.bind(wal);
  let reads = 0;
  let fail = () => {};
  // The third read of the head follows the failed recovery.
  wal.head = (shard) => {
    if (++reads !== 3) return head(shard);
    return new Promise((_, reject) => {
      fail = () => reject(new RecoveryError('the log is gone'));
    });
  };
  node.plantBug();
  await node.execute(place([{ id: 'a' }]));
  void node.host.move({ type: 'recover', shard: 0 });
  await until('the head is read', async () => reads === 3);
  await node.host.move({ type: 'leave', shard: 0 });
  assert.equal(stateOf(node), 'starting', 'another state would end with the recovery');
  fail();
  await until('it has stopped', async () => stateOf(node) === 'stopped');
  await node.host.move({ type: 'leave', shard: 0 });
  wal.damage(0, 2);
  await node.take();
  assert.equal(await node.balance('ann'), 1000);
});

test('a shard whose recovery another owner prevented is unloaded', async () => {
  const node = await damaged();
  const { wal } = node;
  const read = wal.read.bind(wal);
  wal.read = async (...range) => {
    wal.read = read;
    await fenceByOther(wal);
    return await read(...range);
  };
  node.plantBug();
  await node.execute(place([{ id: 'a' }]));
  assert.deepEqual(await node.host.move({ type: 'recover', shard: 0 }), { type: 'done' });
  assert.equal(node.fenced.length, 1);
  assert.equal(stateOf(node), 'away');
});

test('in a cluster, a failed shard waits for the order to recover', async () => {
  const node = new TestHost({ isShared: true });
  await node.host.start([]);
  await node.take();
  await node.fund('ann', 1000);
  node.plantBug();
  await node.execute(place([{ id: 'a' }]));
  assert.equal(stateOf(node), 'failing');
  const result = await node.host.move({ type: 'recover', shard: 0 });
  assert.equal(result.type, 'taken');
  assert.equal(await node.balance('ann'), 1000);
});

test('a failed shard that another node serves is unloaded without a fence', async () => {
  const node = new TestHost({ isShared: true });
  await node.host.start([]);
  await node.take();
  await node.fund('ann', 1000);
  const { lsn } = await node.wal.head(0);
  node.plantBug();
  await node.execute(place([{ id: 'a' }]));
  await node.host.move({ type: 'abandon', shard: 0 });
  await until('it is unloaded', async () => stateOf(node) === 'away');
  assert.deepEqual((await node.wal.head(0)).lsn, lsn);
});

/** Makes shard 0 restart after a bug, and waits until the restart has met another owner. */
async function restartIntoOther(node: TestHost): Promise<void> {
  node.plantBug();
  await node.execute(place([{ id: 'a' }]));
  const hasFailed = () => node.logLines.some(({ fields }) => fields.code === 'shard-recovery-failed');
  await until('the end', async () => node.fenced.length > 0 || stateOf(node) === 'serving' || hasFailed());
  assert.equal(node.fenced.length, 1);
}

test('a restart does not load a shard that another owner has taken', async () => {
  const node = await TestHost.started({ shards: 1 });
  await node.fund('ann', 1000);
  await fenceByOther(node.wal);
  node.logLines.length = 0;
  await restartIntoOther(node);
  assert.ok(!node.logLines.some(({ message }) => message === 'shard recovered'));
});

test('a restart does not fence an owner that takes the shard during the load', async () => {
  const node = await TestHost.started({ shards: 1 });
  const { wal } = node;
  await node.fund('ann', 1000);
  const read = wal.read.bind(wal);
  wal.read = async (...range) => {
    wal.read = read;
    await fenceByOther(wal);
    return await read(...range);
  };
  await restartIntoOther(node);
  assert.equal((await wal.head(0)).nonce, 'f'.repeat(16));
});

test("another owner's fence is reported even if the store then loses it", async () => {
  const node = await TestHost.started({ shards: 1 });
  const { wal } = node;
  await node.fund('ann', 1000);
  await fenceByOther(wal);
  const head = wal.head.bind(wal);
  let reads = 0;
  wal.head = async (shard) => {
    const found = await head(shard);
    // The first read looks for lost entries, and the second read begins the load.
    if (++reads === 2) wal.loseTail(0, 1);
    return found;
  };
  await restartIntoOther(node);
});

test("a start reports another owner's fence even if the next read fails", async () => {
  const node = new TestHost({ shards: 1 });
  const { wal } = node;
  const fences = await takeOver([0], node.deps);
  await fenceByOther(wal);
  const head = wal.head.bind(wal);
  let reads = 0;
  wal.head = async (shard) => {
    if (++reads > 1) throw new RecoveryError('the log is gone');
    return await head(shard);
  };
  await node.host.start(fences);
  await until('the fence is reported', async () => node.fenced.length === 1);
  assert.equal(stateOf(node), 'fenced', 'the process then ends with code 3');
});
