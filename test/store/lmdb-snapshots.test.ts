import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from 'node:process';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Append, AppendOutcome } from '../../src/ports/wal.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { META_VERSION } from '../../src/store/meta.js';
import { one, Writer } from '../contract/writer.js';
import { makeTempFolder } from '../support/temp-folder.js';

const CHUNKS = 200;
const CHUNK = randomBytes(2000);
const MIB = 1024 * 1024;

/** Runs with a store whose shard 0 has an owner and a complete snapshot. */
async function withSnapshot(run: (store: LmdbStore, log: Writer, id: string, folder: string) => Promise<void>) {
  const folder = makeTempFolder();
  const store = LmdbStore.open(folder.path);
  try {
    const storeId = randomUUID();
    const scales = { default: 4, byCurrency: {} };
    await store.meta.create({ storeId, formatVersion: META_VERSION, shards: 4, hash: 'h', scales, createdMs: 0 });
    const log = new Writer(store.wal, storeId);
    await log.append(0);
    const id = '00000000000000aa';
    await store.snapshots.beginSnapshot(0, log.nonce, id);
    await Promise.all(Array.from({ length: CHUNKS }, (_, i) => store.snapshots.writeChunk(0, log.nonce, id, i, CHUNK)));
    assert.equal(await store.snapshots.publishSnapshot(0, log.nonce, id, Buffer.from('manifest')), true);
    await run(store, log, id, folder.path);
  } finally {
    await store.close();
    folder.remove();
  }
}

const isPublished = async (store: LmdbStore) => (await store.snapshots.snapshots(0))[0]?.manifest !== undefined;

test('a deletion interrupted by another owner leaves an unfinished snapshot that can be deleted', async () => {
  await withSnapshot(async (store, log, id) => {
    const deleting = store.snapshots.deleteSnapshot(0, log.nonce, [], id);
    while (await isPublished(store)) await turn();
    await log.fence(0);
    assert.equal(await deleting, false);
    assert.deepEqual(await store.snapshots.snapshots(0), [{ id, manifest: undefined }]);
    const left = (await store.snapshots.readChunks(0, id, 0, CHUNKS)).filter((chunk) => chunk !== undefined).length;
    assert.ok(left > 0 && left < CHUNKS, `${left} chunks are left`);
    assert.equal(await store.snapshots.deleteSnapshot(0, log.nonce, [], id), true);
    assert.deepEqual(await store.snapshots.snapshots(0), []);
    assert.deepEqual(await store.snapshots.readChunks(0, id, 0, CHUNKS), Array(CHUNKS).fill(undefined));
  });
});

test('a store that is closed during a deletion rejects the rest of the work', async () => {
  await withSnapshot(async (store, log, id, folder) => {
    const deleting = assert.rejects(
      store.snapshots.deleteSnapshot(0, log.nonce, [], id),
      /^Error: the store is closed$/,
    );
    const waiting = assert.rejects(
      store.snapshots.trimLog(0, log.nonce, [], log.head(0).lsn),
      /^Error: the store is closed$/,
    );
    while (await isPublished(store)) await turn();
    await store.close();
    await Promise.all([deleting, waiting]);
    const again = LmdbStore.open(folder);
    assert.deepEqual(await again.snapshots.snapshots(0), [{ id, manifest: undefined }]);
    assert.equal(await again.snapshots.deleteSnapshot(0, log.nonce, [], id), true);
    assert.deepEqual(await again.snapshots.readChunks(0, id, 0, CHUNKS), Array(CHUNKS).fill(undefined));
    await again.close();
  });
});

/** Limits the size of files that this process writes. Undefined removes the limit. */
function limitFiles(bytes: number | undefined): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes ?? 'unlimited'}:`]);
}

const LINUX_ONLY = { skip: platform === 'linux' ? false : 'prlimit is of Linux' };

/** Appends entries one by one, and returns the first one that is refused. */
async function appendUntilRefused(store: LmdbStore, log: Writer): Promise<[Append, AppendOutcome]> {
  for (;;) {
    const entry = log.seal(0, log.head(0), 'x'.repeat(60_000));
    const append: Append = { shard: 0, expected: log.head(0), entries: [entry] };
    const outcome = await one(store.wal, append);
    if (outcome.type !== 'ok') return [append, outcome];
    log.take(0, entry.head);
  }
}

/** Makes a write beyond the limit fail with an error, instead of a signal that ends the process. */
async function withLimits(run: () => Promise<void>): Promise<void> {
  const ignore = () => {};
  process.on('SIGXFSZ', ignore);
  try {
    await run();
  } finally {
    limitFiles(undefined);
    process.off('SIGXFSZ', ignore);
  }
}

test('a full disk refuses chunks and appends until space is free again', LINUX_ONLY, async () => {
  const tooLarge = /^StoreFullError: the file of the store cannot grow \(EFBIG: file too large, write\)$/;
  const run = async (store: LmdbStore, log: Writer, whole: string, folder: string) => {
    const id = '00000000000000bb';
    const chunk = randomBytes(128 * 1024);
    let written = 0;
    const write = async () => {
      assert.equal(await store.snapshots.writeChunk(0, log.nonce, id, written, chunk), true);
      written++;
    };
    const fill = async () => {
      while (written < 1000) await write();
    };
    await store.snapshots.beginSnapshot(0, log.nonce, id);
    limitFiles(statSync(join(folder, 'data.mdb')).size + 4 * MIB);
    await assert.rejects(fill(), tooLarge);
    for (let i = 0; i < 20; i++) await log.append(0);
    assert.equal(await store.snapshots.deleteSnapshot(0, log.nonce, [], whole), true);
    // The deletion frees space for some chunks.
    await assert.rejects(fill(), tooLarge);
    const [append, outcome] = await appendUntilRefused(store, log);
    assert.match(String(outcome.type === 'failed' && outcome.error), tooLarge);
    limitFiles(undefined);
    assert.deepEqual(await one(store.wal, append), { type: 'ok' });
    await write();
    assert.equal(await store.snapshots.publishSnapshot(0, log.nonce, id, Buffer.from('manifest')), true);
    assert.deepEqual(await store.snapshots.readChunks(0, id, 0, written + 1), [
      ...Array(written).fill(chunk),
      undefined,
    ]);
  };
  await withLimits(() => withSnapshot(run));
});
