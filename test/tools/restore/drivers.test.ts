import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { restoreTargetOf } from '../../../src/cli/restore-target.js';
import { openFormats } from '../../../src/store/format/store-formats.js';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.js';
import type { StoreMeta } from '../../../src/store/meta.js';
import { parseRedisAddress, type RedisAddress } from '../../../src/store/redis/redis-address.js';
import { RedisStore } from '../../../src/store/redis/redis-store.js';
import type { Store } from '../../../src/store/store.js';
import { checkBackup, framesOfFile } from '../../../src/tools/backup/backup-reader.js';
import { writeNewBackup } from '../../../src/tools/backup/backup-writer.js';
import type { Frame, Frames } from '../../../src/tools/frame.js';
import { restoreFrames } from '../../../src/tools/restore/restore.js';
import { ToolError } from '../../../src/tools/store-reader.js';
import { RedisServer } from '../../support/redis-server.js';
import { makeTempFolder } from '../../support/temp-folder.js';
import { framesOf, IMMEDIATE, logsOf, META, recordedHistory, SHARDS, walletsOf } from '../recorded-store.js';

let server: RedisServer;

before(async () => {
  server = await RedisServer.start();
});

after(async () => {
  await server.destroy();
});

async function withStores(
  run: (open: {
    lmdb: (name: string) => LmdbStore;
    redis: (prefix: string) => RedisStore;
    path: string;
  }) => Promise<void>,
): Promise<void> {
  const folder = makeTempFolder();
  const stores: Store[] = [];
  const opened = <T extends Store>(store: T): T => {
    stores.push(store);
    return store;
  };
  const address = parseRedisAddress(server.url) as RedisAddress;
  const options = { address, durability: { type: 'fsync' }, trustConfig: false } as const;
  try {
    await run({
      path: folder.path,
      lmdb: (name) => opened(LmdbStore.open(`${folder.path}/${name}`)),
      redis: (prefix) => opened(new RedisStore({ ...options, prefix })),
    });
  } finally {
    for (const store of stores) await store.close();
    folder.remove();
  }
}

const restoreInto = (store: Store, frames: Frames) =>
  restoreFrames(frames, restoreTargetOf(store), { openFormats, retryPolicy: IMMEDIATE });

async function throughFile(path: string, frames: Frames): Promise<Frames> {
  await (await writeNewBackup(path, frames, new AbortController().signal)).close();
  return framesOfFile(path, await checkBackup(path));
}

async function chunksOf(store: Store): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    for (const snapshot of await store.snapshots.snapshots(shard)) {
      all.push(snapshot, await store.snapshots.readChunks(shard, snapshot.id, 0, 3));
    }
  }
  return all;
}

test('copies through LMDB, a file, Redis and back are byte-for-byte equal', () =>
  withStores(async ({ lmdb, redis, path }) => {
    const wal = await recordedHistory();
    const wallets = await walletsOf(wal);
    const first = lmdb('first');
    await restoreInto(first, framesOf(wal));
    const [logs, chunks] = [await logsOf(first.wal), await chunksOf(first)];
    assert.ok(logs.every((log) => log.length > 0) && chunks.length > 0);

    const second = redis('second');
    await restoreInto(second, await throughFile(`${path}/1.backup`, framesOf(first)));
    const third = lmdb('third');
    await restoreInto(third, await throughFile(`${path}/2.backup`, framesOf(second)));
    const fourth = redis('fourth');
    await restoreInto(fourth, framesOf(third));
    for (const store of [first, second, third, fourth]) {
      const { timelines, ...meta } = (await store.meta.tryRead()) as StoreMeta;
      assert.deepEqual(meta, META);
      assert.equal(timelines?.length, 1);
      assert.deepEqual(await logsOf(store.wal), logs);
      assert.deepEqual(await chunksOf(store), chunks);
      assert.deepEqual(await walletsOf(store), wallets);
      for (let shard = 0; shard < SHARDS; shard++) assert.deepEqual(await store.wal.head(shard), await wal.head(shard));
    }
  }));

test('a store that is not empty is refused and left unchanged', () =>
  withStores(async ({ lmdb, redis }) => {
    for (const store of [lmdb('there'), redis('there')]) {
      assert.ok(await store.meta.create(META));
      await assert.rejects(restoreInto(store, framesOf(await recordedHistory())), /requires an empty store/);
      assert.equal((await store.wal.head(0)).lsn.sequence, 0);
      assert.deepEqual(await store.meta.tryRead(), META);
    }
  }));

test('remains of a store that was emptied by hand are refused', () =>
  withStores(async ({ redis }) => {
    await server.call('HSET', 'spent:{1}:snapshots', 'aaaaaaaaaaaaaaaa', '');
    const snapshots = restoreInto(redis('spent'), framesOf(await recordedHistory()));
    await assert.rejects(
      snapshots,
      /requires an empty store, and this one still has snapshots of shard 1: empty it completely/,
    );
    await server.call('XADD', 'gone:{0}:wal', '1-1', 'e', 'an entry');
    const log = restoreInto(redis('gone'), framesOf(await recordedHistory()));
    await assert.rejects(log, /requires an empty store, and this one still has a log of shard 0: empty it completely/);
    await assert.rejects(redis('gone').meta.tryRead(), /not finished/);
  }));

test('an interrupted restore leaves a store that even a second restore refuses', () =>
  withStores(async ({ lmdb, redis }) => {
    for (const store of [lmdb('half'), redis('half')]) {
      const cut = async function* (): AsyncGenerator<Frame> {
        for await (const frame of framesOf(await recordedHistory())) {
          if (frame.type === 'end') throw new ToolError('the power went out');
          yield frame;
        }
      };
      await assert.rejects(restoreInto(store, cut()), /the power went out/);
      await assert.rejects(
        store.meta.tryRead(),
        /the restore of this store was not finished: empty it and restore again/,
      );
      await assert.rejects(restoreInto(store, framesOf(await recordedHistory())), /requires an empty store/);
      assert.equal(await store.meta.create(META), false);
    }
  }));

test('a short Redis outage during a restore does not stop it', () =>
  withStores(async ({ redis }) => {
    const store = redis('weather');
    const wal = await recordedHistory();
    let isOut = false;
    const frames = async function* (): AsyncGenerator<Frame> {
      for await (const frame of framesOf(wal)) {
        if (frame.type === 'end' || (frame.type === 'chunk' && !isOut)) {
          isOut = true;
          await server.end();
          await server.start();
        }
        yield frame;
      }
    };
    const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const retryPolicy = { ...IMMEDIATE, attemptsMax: 10, delay };
    await restoreFrames(frames(), restoreTargetOf(store), { openFormats, retryPolicy });
    assert.deepEqual(await walletsOf(store), await walletsOf(wal));
  }));
