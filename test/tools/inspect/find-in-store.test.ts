import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOfName, hashOfPlayer } from '../../../src/archive/archive-hash.js';
import { formatLsn } from '../../../src/ports/lsn.js';
import { findInArchive, findInLog, type StoredHit } from '../../../src/tools/inspect/find-in-store.js';
import { serializeRound } from '../../../src/wallet/state/serialized-round.js';
import { commands } from '../../support/domain.js';
import { MemoryArchive } from '../../support/memory-archive.js';
import { WrittenStore } from '../written-store.js';

const { place, settle } = commands;

async function played(): Promise<WrittenStore> {
  const store = new WrittenStore(2);
  await store.takeOver();
  for (const username of ['ann', 'bob', 'eve']) {
    await store.fund(username, 100);
    const over = { username, id: `place-${username}` };
    await store.run(place([{ id: `bet-${username}`, roundId: `round-${username}` }], over));
    const payout = { id: `pay-${username}`, roundId: `round-${username}`, byRound: true };
    await store.run(settle([payout], { username, id: `settle-${username}` }));
  }
  return store;
}

async function all(hits: AsyncIterable<StoredHit>): Promise<StoredHit[]> {
  const found: StoredHit[] = [];
  for await (const hit of hits) found.push(hit);
  return found;
}

const seen = (hits: readonly StoredHit[]) => hits.map(({ username, kind, what }) => [username, kind, what]);

test('the log reveals which player has an id, whatever the id names', async () => {
  const store = await played();
  const find = async (id: string) => await all(findInLog(store.reader, id, [], () => {}));
  assert.deepEqual(seen(await find('bet-bob')), [
    ['bob', 'transaction', 'bet-placed'],
    ['bob', 'transaction', 'round-settled'],
  ]);
  assert.deepEqual(seen(await find('round-eve')), [
    ['eve', 'round', 'bet-placed'],
    ['eve', 'round', 'round-settled'],
  ]);
  assert.deepEqual(seen(await find('settle-ann')), [['ann', 'request', 'round-settled']]);
  assert.deepEqual(seen(await find('open-ann')), [['ann', 'operation', 'player-imported']]);
  assert.deepEqual(await find('bet'), []);
  const [hit] = await find('place-ann');
  assert.deepEqual(
    [hit?.shard, hit?.lsn && formatLsn(hit.lsn), hit?.productId, hit?.roundId, hit?.id],
    [store.shardOf('ann'), '1-3', 'P1', 'round-ann', 'bet-ann'],
  );
});

test('progress is monotonic and ends at 100 %', async () => {
  const store = await played();
  const shares: number[] = [];
  await all(findInLog(store.reader, 'nothing', [], (done, total) => shares.push(done / total)));
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
  assert.deepEqual([shares.length, shares.at(-1)], [11, 1]);
});

test('a trimmed log is reported', async () => {
  const store = await played();
  const shard = store.shardOf('ann');
  await store.snapshot(shard);
  await store.takeOver();
  await store.trim((await store.wal.head(shard)).lsn, shard);
  const notes: string[] = [];
  assert.deepEqual(await all(findInLog(store.reader, 'bet-ann', notes, () => {})), []);
  assert.match(notes.join(), /the log has been trimmed: events before 2026-01-02T03:04:0.* are incomplete/);
});

test('damage is reported, and the rest of the log is still searched', async () => {
  const store = await played();
  const shard = store.shardOf('ann');
  const [damaged] = await store.wal.read(shard, { epoch: 1, sequence: 1 }, 1);
  damaged?.writeUInt8(damaged.readUInt8(80) ^ 1, 80);
  const notes: string[] = [];
  assert.equal((await all(findInLog(store.reader, 'place-ann', notes, () => {}))).length, 1);
  assert.match(notes.join(), /is damaged/);
});

test('the archive reveals which player has an id, newest day first, each round once', async () => {
  const store = await played();
  const archive = new MemoryArchive();
  const put = async (username: string, roundId: string, day: number) => {
    const shard = store.shardOf(username);
    const wallet = store.wallets[shard]?.get(username);
    const round = wallet?.round('P1', roundId);
    if (wallet === undefined || round === undefined) throw new Error('it was played');
    const name = { player: hashOfPlayer(username), round: hashOfName('P1', round.id), ids: [] };
    const image = serializeRound(wallet, round);
    await archive.put([{ shard, day, ...name, lsn: { epoch: 1, sequence: day }, index: 0, image }]);
  };
  await store.run(place([{ id: 'twice', roundId: 'r' }], { username: 'ann' }));
  await put('ann', 'r', 1);
  await store.run(settle([{ id: 'twice', roundId: 'r' }], { username: 'ann' }));
  await put('ann', 'r', 2);
  await put('bob', 'round-bob', 1);
  const shares: number[] = [];
  const find = async (id: string) =>
    await all(findInArchive({ ...store.reader, archive }, id, [], (done, total) => shares.push(done / total)));
  assert.deepEqual(
    (await find('twice')).map(({ what, state, lsn }) => [what, state, lsn]),
    [['bet', 'SETTLED', undefined]],
  );
  assert.deepEqual(shares, [0.25, 0.5, 0.75, 1]);
  assert.deepEqual(seen(await find('round-bob')), [['bob', 'round', 'round']]);
  assert.deepEqual(await find('round'), []);
});

test('a store without an archive is reported', async () => {
  const notes: string[] = [];
  const { reader } = await played();
  assert.deepEqual(await all(findInArchive(reader, 'bet-ann', notes, () => {})), []);
  assert.deepEqual(notes, ['this store has no archive: all rounds are in memory']);
});
