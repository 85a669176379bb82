import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReadEntry, readLog } from '../../src/log/log-reader.js';
import { firstReplay, Replay } from '../../src/log/replay.js';
import { type Entry, isSameHead } from '../../src/ports/wal.js';
import { genesisHead } from '../../src/store/format/entry-codec.js';
import { imageOf } from '../../src/wallet/state/wallet-image.js';
import type { Wallets } from '../../src/wallet/state/wallets.js';
import { commands } from '../support/domain.js';
import { WrittenStore } from '../tools/written-store.js';

const { place } = commands;
const GENESIS = genesisHead('00000000-0000-4000-8000-00000000000e', 0);

/** Lets ann and bob play while a snapshot is taken. Ann's wallet is captured at its start, bob's at its end. */
async function fuzzyStore() {
  const store = new WrittenStore();
  await store.takeOver();
  for (const username of ['ann', 'bob']) await store.fund(username, 1000);
  const snapshot = await store.beginSnapshot();
  await snapshot.chunk(1);
  await play(store, 'during');
  await snapshot.chunk(1);
  const manifest = await snapshot.publish();
  await play(store, 'after');
  return { store, manifest };
}

async function play(store: WrittenStore, id: string): Promise<void> {
  for (const username of ['ann', 'bob']) await store.run(place([{ id, roundId: id }], { username }));
}

async function entriesAfter({ reader }: WrittenStore, { head }: Replay): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  for await (const page of readLog(0, head, reader)) entries.push(...page);
  return entries;
}

const images = (wallets: Wallets) => [...wallets].map(imageOf);

test('replay skips events that a wallet in the snapshot already contains', async () => {
  const { store, manifest } = await fuzzyStore();
  const replay = await Replay.ofSnapshot(manifest, store.reader);
  for (const read of await entriesAfter(store, replay)) replay.take(read);
  assert.deepEqual(images(replay.wallets), images(store.wallets[0] as Wallets));
  assert.deepEqual([replay.head, replay.batches, replay.events], [await store.wal.head(0), 4, 4]);
  assert.equal(replay.timeMs, store.nowMs);

  const single = await Replay.ofSnapshot(manifest, store.reader);
  const applied = (await entriesAfter(store, single)).flatMap(({ entry }) =>
    entry.events.map((event) => [event.username, single.apply(event, entry.lsn)]),
  );
  assert.deepEqual(applied, [
    ['ann', true],
    ['bob', false],
    ['ann', true],
    ['bob', true],
  ]);
  assert.deepEqual(images(single.wallets), images(store.wallets[0] as Wallets));
});

test('log time does not go back when an older entry is replayed', () => {
  const replay = Replay.ofNothing(GENESIS);
  const owner = { host: 'test', pid: 1, startedMs: 0 };
  for (const [sequence, timeMs] of [
    [1, 2000],
    [2, 1000],
  ] as const) {
    const lsn = { epoch: sequence, sequence };
    const entry: Entry = {
      shard: 0,
      lsn,
      nonce: GENESIS.nonce,
      head: { ...GENESIS, lsn },
      previousLsn: replay.head.lsn,
      previousChecksum: replay.head.checksum,
      owner,
      timeMs,
      events: [],
    };
    replay.take({ entry, bytes: Buffer.alloc(1) });
    assert.equal(replay.timeMs, 2000);
  }
});

test('a page is replayed up to the target, calling back before each entry', async () => {
  const { store, manifest } = await fuzzyStore();
  const replay = await Replay.ofSnapshot(manifest, store.reader);
  const page = await entriesAfter(store, replay);
  const target = page[1]?.entry.head;
  let yields = 0;
  const seen: [number, number][] = [];
  const yieldWhenDue = async () => void yields++;
  const look = ({ entry }: ReadEntry) => void seen.push([entry.lsn.sequence, replay.head.lsn.sequence]);
  assert.equal(await replay.takePage(page, target, yieldWhenDue, look), true);
  const start = manifest.start.lsn.sequence;
  assert.deepEqual(seen, [
    [start + 1, start],
    [start + 2, start + 1],
  ]);
  assert.equal(yields, 1);
  assert.equal(await replay.takePage(page.slice(2), undefined, yieldWhenDue, look), false);
  assert.ok(isSameHead(replay.head, await store.wal.head(0)));
});

test('an entry that replaced an entry in the snapshot is not applied', async () => {
  const { store, manifest } = await fuzzyStore();
  const lost = store.wal.entries(0).length - manifest.start.lsn.sequence;
  store.wal.loseTail(0, lost);
  await store.takeOver();
  const elsewhere = await Replay.ofSnapshot(manifest, store.reader);
  const [fence] = await entriesAfter(store, elsewhere);
  assert.ok(fence !== undefined && fence.entry.lsn.sequence <= manifest.end.lsn.sequence);
  assert.deepEqual([elsewhere.contradicts(fence.entry), elsewhere.mayHold(fence.entry.lsn)], [true, false]);
  const before = images(elsewhere.wallets);
  const [stranger] = await strangersOf(store);
  assert.ok(stranger !== undefined && stranger.entry.events.length > 0);
  elsewhere.take(stranger);
  assert.deepEqual(images(elsewhere.wallets), before);
  assert.equal(Replay.ofNothing(store.reader.genesis(0)).contradicts(fence.entry), false);
});

/** Reads the entries after the new owner's fence. */
async function strangersOf(store: WrittenStore): Promise<ReadEntry[]> {
  await store.write(0, { type: 'player-blocked', username: 'ann', version: 2, timeMs: store.nowMs });
  const head = await store.wal.head(0);
  const [bytes] = await store.wal.read(0, { epoch: head.lsn.epoch, sequence: head.lsn.sequence - 1 }, 1);
  assert.ok(bytes !== undefined);
  return [{ entry: store.format.decode(bytes), bytes }];
}

test('replay starts from the first undamaged snapshot and reports the damaged ones', async () => {
  const { store, manifest } = await fuzzyStore();
  const newer = await store.snapshot();
  store.wal.snapshotsOf(0).damageChunk(newer.id, 0);
  const reported: string[] = [];
  const replay = await firstReplay([newer, manifest], store.reader, ({ id }) => void reported.push(id));
  assert.deepEqual([replay?.manifest?.id, reported], [manifest.id, [newer.id]]);
  assert.equal(await firstReplay([newer], store.reader, () => {}), undefined);
  const snapshots = { ...store.reader.snapshots, readChunks: () => Promise.reject(new Error('the store is away')) };
  await assert.rejects(
    firstReplay([newer, manifest], { ...store.reader, snapshots }, () => {}),
    /the store is away/,
  );
});
