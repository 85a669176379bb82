import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOfName, hashOfPlayer } from '../../../src/archive/archive-hash.js';
import { systemClock } from '../../../src/base/clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import type { ArchiveRecord } from '../../../src/ports/archive.js';
import { formatLsn } from '../../../src/ports/lsn.js';
import type { AcceptLossDeps } from '../../../src/tools/loss/accept-loss.js';
import { acceptArchiveLoss, findArchiveLoss } from '../../../src/tools/loss/archive-loss.js';
import { formatMark } from '../../../src/wallet/archive-mark.js';
import { ByteWriter } from '../../../src/wallet/records/byte-writer.js';
import { MemoryArchive } from '../../support/memory-archive.js';
import { WrittenStore } from '../written-store.js';

const ALL = { keptSinceMs: 0, roundsMax: 1000, isOther: false };

/** Creates a log whose rounds have left memory, one archive record each. The archive holds the first `kept` records. */
async function archived(rounds: number, kept = 0) {
  const store = new WrittenStore();
  const archive = new MemoryArchive();
  await store.takeOver();
  await store.fund('ann', 1000);
  await store.snapshot();
  for (let i = 0; i < rounds; i++) {
    const mark = { ...(await store.wal.head(0)).lsn, index: 0 };
    const [productId, roundId] = ['P', `r${i}`];
    if (i < kept) await archive.put([recordOf(roundId, mark)]);
    const stamp = { username: 'ann', version: i + 2, timeMs: store.nowMs };
    await store.write(0, { type: 'rounds-archived', ...stamp, rounds: [{ productId, roundId }], mark });
  }
  const deps: AcceptLossDeps & { archive: MemoryArchive } = {
    ...store.reader,
    wal: store.wal,
    snapshots: store.wal,
    archive,
    clock: systemClock,
    log: silentLogger,
    delay: async () => {},
    attemptsMax: 1,
    recentBytesMax: 0,
    acknowledged: () => undefined,
    owner: { host: 'test', pid: 1, startedMs: 0 },
    newNonce: () => store.newId(),
    policy: { everyEntries: 0, everyMs: 0, keep: 3, historyBytesMax: 0 },
    newId: () => store.newId(),
    keepEntries: async () => 'a file',
  };
  return { store, archive, deps };
}

function recordOf(
  roundId: string,
  { epoch, sequence, index }: { epoch: number; sequence: number; index: number },
): ArchiveRecord {
  const name = { player: hashOfPlayer('ann'), round: hashOfName('P', roundId) };
  return { shard: 0, day: 1, ...name, lsn: { epoch, sequence }, index, ids: [], image: imageOf(roundId) };
}

/** The part of a serialized round that contains its name; see src/wallet/state/serialized-round.ts. */
function imageOf(roundId: string): Buffer {
  const writer = new ByteWriter();
  writer.text('ann');
  for (const number of [1, 0, 0]) writer.number(number);
  writer.text('P');
  writer.text(roundId);
  return writer.copied();
}

test('an archive that has every record that the log relies on has no loss', async () => {
  const { deps } = await archived(3, 3);
  assert.deepEqual(await findArchiveLoss([0], deps, ALL), { shards: [], missingDays: [] });
});

test("rounds after an outdated archive's mark are named", async () => {
  const { deps } = await archived(3, 1);
  const [loss] = (await findArchiveLoss([0], deps, ALL)).shards;
  assert.deepEqual([formatMark(loss?.required), formatMark(loss?.mark)], ['1-4.0', '1-2.0']);
  assert.deepEqual([loss?.rounds.map(({ roundId }) => roundId), loss?.more], [['r1', 'r2'], 0]);
  assert.equal(loss?.knownFrom, undefined);
});

test('lost rounds beyond the limit are counted instead of named', async () => {
  const { deps } = await archived(5);
  const [loss] = (await findArchiveLoss([0], deps, { ...ALL, roundsMax: 2 })).shards;
  assert.deepEqual([loss?.rounds.map(({ roundId }) => roundId), loss?.more], [['r0', 'r1'], 3]);
});

test('rounds past their retention do not count as lost', async () => {
  const { deps, store } = await archived(2);
  const [loss] = (await findArchiveLoss([0], deps, { ...ALL, keptSinceMs: store.nowMs + 1 })).shards;
  assert.deepEqual([loss?.rounds, loss?.more], [[], 0]);
});

test('the loss report of a trimmed log names its oldest entry', async () => {
  const { deps, store } = await archived(3);
  await store.trim({ epoch: 1, sequence: 3 });
  const [loss] = (await findArchiveLoss([0], deps, ALL)).shards;
  assert.ok(loss?.knownFrom !== undefined);
  assert.equal(formatLsn(loss.knownFrom.lsn), '1-3');
  assert.equal(loss.rounds.length, 3);
});

test('an accepted loss leaves a fence and raised marks, and is not reported again', async () => {
  const { deps, archive, store } = await archived(2);
  const loss = await findArchiveLoss([0], deps, ALL);
  const heads = await acceptArchiveLoss(loss, archive, deps);
  assert.deepEqual(await archive.mark(0), loss.shards[0]?.required);
  const [bytes] = await store.wal.read(0, { epoch: 2, sequence: 0 }, 1);
  assert.ok(bytes !== undefined);
  const fence = store.format.decode(bytes);
  assert.deepEqual([fence.owner?.acceptsArchiveLoss, fence.head], [true, heads.get(0)]);
  assert.deepEqual(await findArchiveLoss([0], deps, ALL), { shards: [], missingDays: [] });
});

test('a run that ends before it raises the marks finds the same loss again', async () => {
  const { deps, archive } = await archived(2);
  const loss = await findArchiveLoss([0], deps, ALL);
  archive.isAway = true;
  await assert.rejects(acceptArchiveLoss(loss, archive, deps), /the archive is away/);
  archive.isAway = false;
  const again = await findArchiveLoss([0], deps, ALL);
  assert.deepEqual(again.shards[0]?.rounds, loss.shards[0]?.rounds);
  await assert.rejects(acceptArchiveLoss(loss, archive, deps), /has been written to since it was examined/);
  await acceptArchiveLoss(again, archive, deps);
  assert.deepEqual(await findArchiveLoss([0], deps, ALL), { shards: [], missingDays: [] });
});

test('marks from a different archive do not prove that a round exists', async () => {
  const { deps, archive } = await archived(3, 3);
  const other = { ...ALL, isOther: true };
  assert.deepEqual((await findArchiveLoss([0], deps, other)).shards, [], 'it has all of them');
  archive.records = archive.records.filter(({ round }) => round !== hashOfName('P', 'r1'));
  assert.deepEqual((await findArchiveLoss([0], deps, ALL)).shards, []);
  const [loss] = (await findArchiveLoss([0], deps, other)).shards;
  assert.deepEqual(
    loss?.rounds.map(({ roundId }) => roundId),
    ['r1'],
  );
});
