import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { SpareTime } from '../../src/upkeep/spare-time.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost, turns } from '../support/test-host.js';
import { until } from '../support/until.js';

const { settle, void: voided } = commands;
const MEMORY_MS = 1000;
/** Number of rounds, more than one scan returns. */
const ROUNDS = 70;

/** Blocks the work that follows a scan with rounds, until the test opens the gate. */
function heldAfterFirstScan(test: TestHost) {
  const { archiver } = test.host as unknown as { archiver: { deps: { spareTime: Pick<SpareTime, 'run'> } } };
  const { spareTime } = archiver.deps;
  const run = spareTime.run.bind(spareTime);
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let hasAnswered = false;
  const gate = { isWaiting: false, open: () => open() };
  spareTime.run = async (work) => {
    if (hasAnswered) {
      gate.isWaiting = true;
      await opened;
    }
    const result = await run(work);
    const { players = [] } = (result ?? {}) as { players?: readonly unknown[] };
    hasAnswered ||= players.length > 0;
    return result;
  };
  return gate;
}

test('archive records from before a shard moved away do not override newer ones', async () => {
  const archive = new MemoryArchive();
  const shared = { shards: 1, isShared: true, archive, memoryMs: MEMORY_MS };
  const first = new TestHost(shared);
  const second = new TestHost({ ...shared, wal: first.wal });
  for (const { host } of [first, second]) await host.start([]);
  const gate = heldAfterFirstScan(first);
  assert.equal((await first.take()).type, 'taken');
  await first.fund('ann', 100_000);
  const txns = Array.from({ length: ROUNDS }, (_, i) => ({ id: `t${i}`, roundId: `r${i}`, isSingleState: true }));
  assert.equal((await first.execute(settle(txns))).type, 'accepted');
  await until('a scan has told of some', () => {
    first.clock.nowMs += MEMORY_MS / 10;
    return gate.isWaiting;
  });
  second.clock.nowMs = first.clock.nowMs;
  await first.handOver(second);
  const request = voided([{ id: 't0', roundId: 'r0', payoutAmount: 15 }]);
  const answer = await second.execute(request);
  assert.equal(answer.type, 'accepted');
  await until('all has left at the second node', () => {
    second.clock.nowMs += MEMORY_MS / 10;
    return second.host.measures()[0]?.transactions === 0;
  });
  first.clock.nowMs = second.clock.nowMs;
  await second.handOver(first);
  gate.open();
  await delay(200);
  await turns(50);
  assert.deepEqual(await first.execute(request), { ...answer, isRepeat: true });
});
