import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { hashOfPlayer } from '../../src/archive/archive-hash.js';
import { HashSet } from '../../src/archive/hash-set.js';
import { collidingRoundIds, roundIdsOfOneHash } from '../support/colliding.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place, settle, void: voided } = commands;
const MEMORY_MS = 1000;
const BYTES_MAX = 16 * 1024;

function archiveOf(host: TestHost) {
  return host.host.measures()[0]?.archive;
}

async function allHaveLeft(host: TestHost): Promise<void> {
  await until('all rounds have left memory', () => {
    host.clock.nowMs += MEMORY_MS / 10;
    return host.host.measures()[0]?.transactions === 0;
  });
}

/** Starts a host and archives these rounds of ann, each with one bet. */
async function withArchived(archive: MemoryArchive, roundIds: readonly string[]): Promise<TestHost> {
  const host = await TestHost.started({ shards: 1, archive, memoryMs: MEMORY_MS });
  await host.fund('ann', 100_000);
  const txns = roundIds.map((roundId, i) => ({ id: `t${i}`, roundId, isSingleState: true }));
  assert.equal((await host.execute(settle(txns))).type, 'accepted');
  await allHaveLeft(host);
  return host;
}

test('a shard keeps serving after colliding round ids, even after a restart', async () => {
  const { productId } = place([{ id: 'a', roundId: 'a' }]);
  const roundIds = collidingRoundIds(hashOfPlayer('ann'), productId, 2 ** 16, 100);
  const archive = new MemoryArchive();
  const first = await withArchived(archive, roundIds);
  const check = async (host: TestHost, id: string) => {
    const measures = archiveOf(host);
    assert.equal(measures?.names, roundIds.length * 2);
    assert.ok(measures.bytes <= BYTES_MAX, `${measures.bytes} bytes`);
    assert.equal((await host.execute(place([{ id, roundId: id }]))).type, 'accepted');
  };
  await check(first, 'new-1');
  await first.host.close();
  assert.equal(archive.saved.get(0)?.size, 1);
  const second = new TestHost({ shards: 1, archive, memoryMs: MEMORY_MS, wal: first.wal });
  second.clock.nowMs = first.clock.nowMs;
  await second.start();
  await until('the names are known', () => archiveOf(second)?.names === roundIds.length * 2);
  await check(second, 'new-2');
  assert.equal(
    (await second.execute(voided([{ id: 't0', roundId: roundIds[0] ?? '', payoutAmount: 15 }]))).type,
    'accepted',
  );
});

test('keys are looked up in the archive if their set cannot be built', async (t) => {
  const archive = new MemoryArchive();
  t.mock.method(HashSet.prototype, 'add', () => {
    throw new RangeError('Array buffer allocation failed');
  });
  const first = await withArchived(archive, ['r0', 'r1']);
  assert.equal(archiveOf(first)?.skipped, 1);
  const lines = first.logLines.filter(({ fields }) => (fields as { code?: string }).code === 'archive-names-skipped');
  assert.equal(lines.length, 1);
  const looked = archive.looked;
  assert.equal((await first.execute(place([{ id: 'new', roundId: 'new' }]))).type, 'accepted');
  assert.ok(archive.looked > looked, 'a new bet is looked up');
  await first.host.close();
  t.mock.restoreAll();
  assert.equal(archive.saved.size, 0);
  const second = new TestHost({ shards: 1, archive, memoryMs: MEMORY_MS, wal: first.wal });
  second.clock.nowMs = first.clock.nowMs;
  await second.start();
  await until('the names are known', () => archiveOf(second)?.names === 4);
  await delay(1);
  assert.equal(archiveOf(second)?.skipped, 0);
  const repeat = voided([{ id: 't0', roundId: 'r0', payoutAmount: 15 }]);
  assert.equal((await second.execute(repeat)).type, 'accepted');
});

test('a bet restores only its own round, even among equal stored hashes', async () => {
  const { productId } = place([{ id: 'a', roundId: 'a' }]);
  const roundIds = roundIdsOfOneHash(productId, 150);
  const archive = new MemoryArchive();
  const host = await withArchived(archive, roundIds);
  const [roundId = ''] = roundIds;
  assert.equal((await host.execute(place([{ id: 'new', roundId }]))).type, 'accepted');
  assert.equal(host.host.measures()[0]?.transactions, 2);
  // Check that the other rounds are still found, by round and by transaction.
  const last = roundIds.length - 1;
  const late = voided([{ id: `t${last}`, roundId: roundIds[last] ?? '', payoutAmount: 15 }]);
  assert.equal((await host.execute(late)).type, 'accepted');
  assert.equal(host.host.measures()[0]?.transactions, 3);
});
