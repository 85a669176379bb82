import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import type { StoredSnapshot } from '../../src/ports/snapshot-store.js';
import type { Append } from '../../src/ports/wal.js';
import type { LogsAndSnapshots, MakeStore, StoreUnderTest } from './store-under-test.js';
import { one, Writer } from './writer.js';

const CHUNK_BYTES = 128 * 1024;
const MANIFEST = Buffer.from('a manifest');

/** A contract that every `SnapshotStore` driver must fulfil. */
export function snapshotContract(driver: string, make: MakeStore): void {
  const contract = (sentence: string, run: (store: StoreUnderTest, log: Writer) => Promise<void>) =>
    test(sentence, async () => {
      const store = await make();
      try {
        const log = new Writer(store.wal, store.storeId);
        await log.append(0);
        await run(store, log);
      } finally {
        await store.destroy();
      }
    });

  describe(`the snapshot contract, ${driver}`, () => {
    contract('a new store has no snapshots, and no chunks', async ({ snapshots }) => {
      assert.deepEqual(await snapshots.snapshots(0), []);
      assert.deepEqual(await snapshots.readChunks(0, newId(), 0, 2), [undefined, undefined]);
    });

    contract('a snapshot is unfinished from its beginning until it is published', async ({ snapshots }, { nonce }) => {
      const id = newId();
      assert.equal(await snapshots.beginSnapshot(0, nonce, id), true);
      assert.deepEqual(await snapshots.snapshots(0), [{ id, manifest: undefined }]);
      assert.equal(await snapshots.writeChunk(0, nonce, id, 0, MANIFEST), true);
      assert.deepEqual(await snapshots.snapshots(0), [{ id, manifest: undefined }]);
      assert.equal(await snapshots.publishSnapshot(0, nonce, id, MANIFEST), true);
      assert.deepEqual(await snapshots.snapshots(0), [{ id, manifest: MANIFEST }]);
    });

    contract('any chunk comes back byte for byte, a missing one as undefined', async (store, log) => {
      const { snapshots } = store;
      const chunks = [everyByte(), ...[1, 4096, 70_000, CHUNK_BYTES, 500_000].map((length) => randomBytes(length))];
      const id = await begin(store, log);
      for (const [index, bytes] of chunks.entries()) {
        assert.equal(await snapshots.writeChunk(0, log.nonce, id, index * 100, bytes), true);
      }
      for (const [index, bytes] of chunks.entries()) {
        assert.deepEqual(await snapshots.readChunks(0, id, index * 100, 2), [bytes, undefined]);
      }
      const read = await snapshots.readChunks(0, id, 299, 3);
      await writeSnapshot(store, log, 20);
      assert.deepEqual(read, [undefined, chunks[3], undefined], 'what was read does not change when more is written');
    });

    contract('a repeated call succeeds and changes nothing', async (store, log) => {
      const { snapshots } = store;
      const id = await begin(store, log);
      const bytes = randomBytes(CHUNK_BYTES);
      for (let i = 0; i < 2; i++) assert.equal(await snapshots.writeChunk(0, log.nonce, id, 0, bytes), true);
      assert.equal(await snapshots.beginSnapshot(0, log.nonce, id), true);
      for (let i = 0; i < 2; i++) assert.equal(await snapshots.publishSnapshot(0, log.nonce, id, MANIFEST), true);
      assert.deepEqual(await snapshots.readChunks(0, id, 0, 2), [bytes, undefined]);
      assert.deepEqual(await snapshots.snapshots(0), [{ id, manifest: MANIFEST }]);
      for (let i = 0; i < 2; i++) assert.equal(await snapshots.deleteSnapshot(0, log.nonce, [], id), true);
      for (let i = 0; i < 2; i++) assert.equal(await snapshots.trimLog(0, log.nonce, [], log.head(0).lsn), true);
    });

    contract('a published snapshot accepts no chunk, no other manifest and no new beginning', async (store, log) => {
      const { snapshots } = store;
      const { id, chunks } = await writeSnapshot(store, log, 1);
      assert.equal(await snapshots.writeChunk(0, log.nonce, id, 0, MANIFEST), false);
      assert.equal(await snapshots.publishSnapshot(0, log.nonce, id, Buffer.from('another')), false);
      assert.equal(await snapshots.beginSnapshot(0, log.nonce, id), false);
      assert.deepEqual(await snapshots.readChunks(0, id, 0, 1), chunks);
      assert.deepEqual(await snapshots.snapshots(0), [{ id, manifest: MANIFEST }]);
    });

    contract('a snapshot that has not begun accepts no chunk and no manifest', async ({ snapshots }, { nonce }) => {
      const id = newId();
      assert.equal(await snapshots.writeChunk(0, nonce, id, 0, MANIFEST), false);
      assert.equal(await snapshots.publishSnapshot(0, nonce, id, MANIFEST), false);
      assert.deepEqual(await snapshots.snapshots(0), []);
      assert.deepEqual(await snapshots.readChunks(0, id, 0, 1), [undefined]);
    });

    contract('only the owner of the log may act; fenced owners may not', async (store, log) => {
      const whole = await writeSnapshot(store, log, 2);
      const unfinished = await begin(store, log);
      await store.snapshots.writeChunk(0, log.nonce, unfinished, 0, MANIFEST);
      await appendTo(log, 300);
      const strangers = [randomBytes(8).toString('hex'), log.nonce];
      const other = new Writer((await store.openAgain()).wal, store.storeId);
      other.take(0, log.head(0));
      other.newEpoch();
      await other.append(0);
      const before = await contentOf(store);
      for (const nonce of strangers) {
        for (const { snapshots } of [store, await store.openAgain()]) {
          assert.equal(await snapshots.beginSnapshot(0, nonce, newId()), false, 'begin');
          assert.equal(await snapshots.beginSnapshot(0, nonce, unfinished), false, 'begin again');
          assert.equal(await snapshots.writeChunk(0, nonce, unfinished, 0, randomBytes(9)), false, 'write');
          assert.equal(await snapshots.publishSnapshot(0, nonce, unfinished, MANIFEST), false, 'publish');
          assert.equal(await snapshots.publishSnapshot(0, nonce, whole.id, MANIFEST), false, 'publish again');
          assert.equal(await snapshots.deleteSnapshot(0, nonce, [], whole.id), false, 'delete');
          assert.equal(await snapshots.deleteSnapshot(0, nonce, [], newId()), false, 'delete nothing');
          assert.equal(await snapshots.trimLog(0, nonce, [], log.head(0).lsn), false, 'trim');
        }
      }
      assert.deepEqual(await contentOf(store), before, 'nothing has changed');
      assert.deepEqual(await store.snapshots.readChunks(0, unfinished, 0, 1), [MANIFEST]);
      assert.equal(await store.snapshots.publishSnapshot(0, other.nonce, unfinished, MANIFEST), true, 'the owner can');
    });

    contract('deletions and trims must name the kept snapshots byte for byte', async (store, log) => {
      const { snapshots } = store;
      const old = await writeSnapshot(store, log, 2);
      const kept = await writeSnapshot(store, log, 2);
      await appendTo(log, 300);
      const isThere: StoredSnapshot = { id: kept.id, manifest: MANIFEST };
      const before = await contentOf(store);
      for (const wrong of [
        { id: newId(), manifest: MANIFEST },
        { id: kept.id, manifest: Buffer.from('A manifest') },
        { id: kept.id, manifest: Buffer.from('a manifest, and more') },
        { id: kept.id, manifest: undefined },
      ]) {
        for (const all of [[wrong], [isThere, wrong], [wrong, isThere]]) {
          assert.equal(await snapshots.deleteSnapshot(0, log.nonce, all, old.id), false);
          assert.equal(await snapshots.trimLog(0, log.nonce, all, log.head(0).lsn), false);
        }
      }
      assert.deepEqual(await contentOf(store), before, 'nothing has changed');
      assert.equal(await snapshots.deleteSnapshot(0, log.nonce, [isThere], old.id), true);
      assert.equal(await snapshots.trimLog(0, log.nonce, [isThere], log.head(0).lsn), true);
      assert.deepEqual(await snapshots.snapshots(0), [isThere]);
    });

    contract('a deletion removes all of its snapshot, even unfinished, and no other', async (store, log) => {
      const { snapshots } = store;
      const kept = await writeSnapshot(store, log, 3);
      const whole = await writeSnapshot(store, log, 100);
      const unfinished = await begin(store, log);
      for (let index = 0; index < 70; index++) await snapshots.writeChunk(0, log.nonce, unfinished, index, MANIFEST);
      for (const id of [whole.id, unfinished]) {
        assert.equal(await snapshots.deleteSnapshot(0, log.nonce, [{ id: kept.id, manifest: MANIFEST }], id), true);
        assert.deepEqual(await snapshots.readChunks(0, id, 0, 100), Array(100).fill(undefined));
      }
      assert.deepEqual(await snapshots.snapshots(0), [{ id: kept.id, manifest: MANIFEST }]);
      assert.deepEqual(await snapshots.readChunks(0, kept.id, 0, 3), kept.chunks);
      assert.equal(await snapshots.beginSnapshot(0, log.nonce, whole.id), true, 'the id is free');
      assert.deepEqual(await snapshots.readChunks(0, whole.id, 0, 1), [undefined]);
    });

    contract(
      'a trimmed log keeps its entries from the given one, and accepts more',
      async ({ wal, snapshots }, log) => {
        const entries = [...(await wal.read(0, LSN_ZERO, 1)), ...(await appendTo(log, 700))];
        const { lsn } = log.format.decode(entries[600] as Buffer);
        assert.equal(await snapshots.trimLog(0, log.nonce, [], lsn), true);
        const left = await wal.read(0, LSN_ZERO, 1000);
        assert.ok(left.length >= 100 && left.length < 400, `${left.length} of ${entries.length} are left`);
        assert.deepEqual(left, entries.slice(-left.length));
        assert.deepEqual(await wal.read(0, { ...lsn, sequence: lsn.sequence - 1 }, 1000), entries.slice(600));
        const { bytes } = await log.append(0);
        assert.deepEqual((await wal.read(0, LSN_ZERO, 1000)).at(-1), bytes);
      },
    );

    contract('the newest entry survives every trim, even one in another epoch', async ({ wal, snapshots }, log) => {
      await appendTo(log, 400);
      log.newEpoch();
      const newest = await log.append(0);
      const { lsn } = newest.head;
      for (const before of [
        lsn,
        { epoch: lsn.epoch, sequence: lsn.sequence + 1 },
        { epoch: lsn.epoch + 1, sequence: lsn.sequence + 1000 },
        { epoch: 2 ** 32 - 1, sequence: 2 ** 50 },
      ]) {
        assert.equal(await snapshots.trimLog(0, log.nonce, [], before), true);
        assert.deepEqual((await wal.read(0, LSN_ZERO, 1000)).at(-1), newest.bytes);
        assert.deepEqual(await wal.head(0), newest.head);
      }
      const next = await log.append(0);
      assert.deepEqual(await wal.read(0, lsn, 10), [next.bytes]);
    });

    contract('a trim compares sequences: an epoch that never existed removes nothing', async (store, log) => {
      const entries = await appendTo(log, 400);
      await store.snapshots.trimLog(0, log.nonce, [], { epoch: 9, sequence: 300 });
      const left = await store.wal.read(0, { epoch: 1, sequence: 299 }, 1000);
      assert.deepEqual(left, entries.slice(-left.length));
      assert.ok(left.length >= 102, `${left.length} are left`);
    });

    contract('a log without entries can be trimmed', async ({ storeId, wal, snapshots }) => {
      const { nonce } = new Writer(wal, storeId).genesis(1);
      assert.equal(await snapshots.trimLog(1, nonce, [], { epoch: 1, sequence: 5 }), true);
      assert.deepEqual(await wal.read(1, LSN_ZERO, 10), []);
    });

    contract('shards do not affect one another, even with the same id', async (store, log) => {
      const { snapshots } = store;
      const id = newId();
      const shards = [0, 1, 2];
      for (const shard of shards) {
        await appendTo(log, 300, shard);
        assert.equal(await snapshots.beginSnapshot(shard, log.nonce, id), true);
        assert.equal(await snapshots.writeChunk(shard, log.nonce, id, 0, Buffer.from(`of ${shard}`)), true);
        assert.equal(await snapshots.publishSnapshot(shard, log.nonce, id, Buffer.from(`manifest of ${shard}`)), true);
      }
      const before = await Promise.all([0, 2].map((shard) => contentOf(store, shard)));
      assert.equal(await snapshots.trimLog(1, log.nonce, [], log.head(1).lsn), true);
      assert.equal(await snapshots.deleteSnapshot(1, log.nonce, [], id), true);
      assert.deepEqual(await Promise.all([0, 2].map((shard) => contentOf(store, shard))), before);
      assert.deepEqual(await snapshots.snapshots(1), []);
      assert.deepEqual(await snapshots.readChunks(2, id, 0, 1), [Buffer.from('of 2')]);
    });

    contract('all changes survive closing and reopening the store', async (store, log) => {
      const { id, chunks } = await writeSnapshot(store, log, 5);
      const deleted = await writeSnapshot(store, log, 5);
      const unfinished = await begin(store, log);
      await store.snapshots.writeChunk(0, log.nonce, unfinished, 0, MANIFEST);
      await store.snapshots.deleteSnapshot(0, log.nonce, [], deleted.id);
      const { snapshots } = await store.reopen();
      assert.deepEqual(
        byId(await snapshots.snapshots(0)),
        byId([
          { id, manifest: MANIFEST },
          { id: unfinished, manifest: undefined },
        ]),
      );
      assert.deepEqual(await snapshots.readChunks(0, id, 0, 6), [...chunks, undefined]);
      assert.equal(await snapshots.writeChunk(0, log.nonce, unfinished, 1, MANIFEST), true, 'its owner may go on');
      assert.equal(await snapshots.publishSnapshot(0, log.nonce, unfinished, MANIFEST), true);
    });

    contract('appends go on while a snapshot is written and the log is trimmed', async (store, log) => {
      const { wal, snapshots } = store;
      await appendTo(log, 600);
      const trimmed = log.head(0).lsn;
      let isOver = false;
      const appending = (async () => {
        for (let i = 0; !isOver || i < 20; i++) await log.append(0);
      })();
      const old = await writeSnapshot(store, log, 40);
      const kept = await writeSnapshot(store, log, 40);
      const all = [{ id: kept.id, manifest: MANIFEST }];
      assert.equal(await snapshots.trimLog(0, log.nonce, all, trimmed), true);
      assert.equal(await snapshots.deleteSnapshot(0, log.nonce, all, old.id), true);
      isOver = true;
      await appending;
      const { head } = log.format.decode((await wal.read(0, LSN_ZERO, 10_000)).at(-1) as Buffer);
      assert.deepEqual(head, log.head(0));
      assert.deepEqual(await snapshots.readChunks(0, kept.id, 0, 40), kept.chunks);
    });

    contract('a write behind a pending append is made only if the append is', async (store, log) => {
      const { wal, snapshots } = store;
      const id = await begin(store, log);
      for (let index = 0; index < 50; index++) {
        const done = await Promise.all([log.append(0), snapshots.writeChunk(0, log.nonce, id, index, MANIFEST)]);
        assert.equal(done[1], true);
      }
      const other = new Writer((await store.openAgain()).wal, store.storeId);
      other.take(0, log.head(0));
      other.newEpoch();
      await other.append(0);
      const late: Append = { shard: 0, expected: log.head(0), entries: [log.next(0)] };
      const [outcome, isWritten, isDeleted, isTrimmed] = await Promise.all([
        one(wal, late),
        snapshots.writeChunk(0, log.nonce, id, 50, MANIFEST),
        snapshots.deleteSnapshot(0, log.nonce, [], id),
        snapshots.trimLog(0, log.nonce, [], log.head(0).lsn),
      ]);
      assert.deepEqual([outcome.type, isWritten, isDeleted, isTrimmed], ['conflict', false, false, false]);
      assert.deepEqual(await snapshots.readChunks(0, id, 49, 2), [MANIFEST, undefined]);
    });

    contract('concurrent writes are all made', async ({ snapshots }, log) => {
      const id = newId();
      const chunks = Array.from({ length: 10 }, () => randomBytes(1000));
      const done = await Promise.all([
        snapshots.beginSnapshot(0, log.nonce, id),
        ...chunks.map((bytes, index) => snapshots.writeChunk(0, log.nonce, id, index, bytes)),
        snapshots.publishSnapshot(0, log.nonce, id, MANIFEST),
        snapshots.writeChunk(0, log.nonce, id, 10, MANIFEST),
      ]);
      assert.deepEqual(done, [...Array(12).fill(true), false]);
      assert.deepEqual(await snapshots.readChunks(0, id, 0, 11), [...chunks, undefined]);
    });
  });
}

function newId(): string {
  return randomBytes(8).toString('hex');
}

function everyByte(): Buffer {
  return Buffer.from(Array.from({ length: 256 }, (_, i) => i));
}

function byId(snapshots: readonly StoredSnapshot[]): StoredSnapshot[] {
  return [...snapshots].sort((a, b) => (a.id < b.id ? -1 : 1));
}

async function appendTo(log: Writer, count: number, shard = 0): Promise<Buffer[]> {
  const entries: Buffer[] = [];
  for (let i = 0; i < count; i++) entries.push((await log.append(shard)).bytes);
  return entries;
}

async function begin({ snapshots }: LogsAndSnapshots, { nonce }: Writer): Promise<string> {
  const id = newId();
  assert.equal(await snapshots.beginSnapshot(0, nonce, id), true);
  return id;
}

async function writeSnapshot(
  store: LogsAndSnapshots,
  log: Writer,
  count: number,
): Promise<{ id: string; chunks: Buffer[] }> {
  const id = await begin(store, log);
  const chunks = Array.from({ length: count }, () => randomBytes(CHUNK_BYTES));
  for (const [index, bytes] of chunks.entries()) {
    assert.equal(await store.snapshots.writeChunk(0, log.nonce, id, index, bytes), true);
  }
  assert.equal(await store.snapshots.publishSnapshot(0, log.nonce, id, MANIFEST), true);
  return { id, chunks };
}

/** Reads all snapshot data that the store contains for a shard. */
async function contentOf(store: LogsAndSnapshots, shard = 0): Promise<unknown> {
  const stored = byId(await store.snapshots.snapshots(shard));
  const chunks = await Promise.all(stored.map(({ id }) => store.snapshots.readChunks(shard, id, 0, 3)));
  return { stored, chunks, entries: await store.wal.read(shard, LSN_ZERO, 10_000) };
}
