import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecoveryError } from '../../src/ports/recovery-error.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { commands } from '../support/domain.js';
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

test('a shard is unloaded only after its failed recovery has ended', async () => {
  const node = await damaged();
  const { wal } = node;
  const head = wal.head.bind(wal);
  let reads = 0;
  let fail = () => {};
  // The second read of the head follows the failed recovery.
  wal.head = (shard) => {
    if (++reads !== 2) return head(shard);
    return new Promise((_, reject) => {
      fail = () => reject(new RecoveryError('the log is gone'));
    });
  };
  node.plantBug();
  await node.execute(place([{ id: 'a' }]));
  await until('the head is read', async () => reads === 2);
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
    const found = await wal.head(0);
    const lsn = { epoch: found.lsn.epoch + 1, sequence: found.lsn.sequence + 1 };
    const header = { shard: 0, lsn, nonce: 'f'.repeat(16), previous: found, timeMs: 0 };
    const fence = new EntryCodec(wal.storeId).encodeFence(header, { host: 'another node', pid: 1, startedMs: 0 });
    wal.intrude(0, { shard: 0, expected: found, entries: [fence] });
    return await read(...range);
  };
  node.plantBug();
  await node.execute(place([{ id: 'a' }]));
  await until('the fence is reported', async () => node.fenced.length === 1);
  assert.equal(stateOf(node), 'away');
});
