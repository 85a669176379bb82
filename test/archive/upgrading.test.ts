import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost } from '../support/test-host.js';
import { until } from '../support/until.js';

const MEMORY_MS = 1000;

test('a callback is refused while a node cannot read restored rounds', async () => {
  const archive = new MemoryArchive();
  const test = await TestHost.started({ archive, memoryMs: MEMORY_MS, shards: 1 });
  await test.fund('ann', 100);
  const reward = commands.reward([{ id: 'w' }], { username: 'ann' });
  await test.execute(reward);
  const balance = await test.balance('ann');
  test.clock.nowMs += 2 * MEMORY_MS;
  await until('the round has left', () => {
    test.clock.nowMs += MEMORY_MS / 10;
    return test.host.measures()[0]?.transactions === 0;
  });
  const { format } = test.deps;
  // Simulate a cluster with a member that cannot read restored rounds.
  format.canWrite = ({ type }) => type !== 'rounds-restored';
  const again = () => test.execute(reward);
  assert.deepEqual(await again(), { type: 'failed', failure: 'upgrading' });
  assert.equal(await test.balance('ann'), balance);
  format.canWrite = () => true;
  const answer = await again();
  assert.ok('isRepeat' in answer && answer.isRepeat);
  assert.equal(await test.balance('ann'), balance);
});
