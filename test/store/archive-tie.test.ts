import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ArchiveTie } from '../../src/store/archive-tie.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import type { MetaStore } from '../../src/store/store.js';
import { cleanUp } from '../support/clean-up.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { RedisServer } from '../support/redis-server.js';
import { inTempFolder } from '../support/temp-folder.js';

const STORE_ID = randomUUID();
const ID = /^[0-9a-f-]{36}$/;

function tieTo(archiveId: string | undefined): ArchiveTie {
  return { archiveId, store: 'redis://store' };
}

/**
 * Checks that the first caller to name an archive wins, and that a caller with a different archive receives the
 * winner's id.
 */
async function namesOneArchive(meta: MetaStore): Promise<void> {
  const scales = { default: 2, byCurrency: {} };
  const made: StoreMeta = {
    storeId: STORE_ID,
    formatVersion: META_VERSION,
    shards: 2,
    hash: 'h',
    scales,
    createdMs: 0,
  };
  await meta.create(made);
  assert.equal((await meta.tryRead())?.archiveId, undefined);
  const both = await Promise.all(['one', 'two'].map((id) => meta.replaceArchive(undefined, id)));
  const [first] = both;
  assert.ok(first?.archiveId === 'one' || first?.archiveId === 'two');
  assert.deepEqual(both, [first, first]);
  assert.deepEqual(await meta.tryRead(), { ...made, archiveId: first.archiveId });
  assert.equal((await meta.replaceArchive(undefined, first.archiveId)).archiveId, first.archiveId, 'once more');
  assert.equal((await meta.replaceArchive('zero', 'three')).archiveId, first.archiveId);
  assert.equal((await meta.replaceArchive(first.archiveId, 'three')).archiveId, 'three');
  await meta.replaceArchive('three', undefined);
  assert.deepEqual(await meta.tryRead(), made);
}

test('LMDB: the meta record names exactly one archive', () =>
  inTempFolder(async (folder) => {
    const store = LmdbStore.open(folder);
    await namesOneArchive(store.meta);
    await store.close();
  }));

test('Redis: the meta record names exactly one archive', async () => {
  const redis = await RedisServer.start();
  const address = parseRedisAddress(redis.url) as RedisAddress;
  const store = new RedisStore({ address, prefix: 'w', durability: { type: 'fsync' }, trustConfig: false });
  await namesOneArchive(store.meta);
  await store.close();
  await redis.destroy();
});

test('LMDB: a new archive has an id, and a different archive is refused', () =>
  inTempFolder(async (folder) => {
    const [mine, other] = [`${folder}/mine`, `${folder}/other`];
    await LmdbArchive.open(mine, STORE_ID).close();
    const id = LmdbArchive.identify(mine, STORE_ID);
    assert.match(id, ID);
    await LmdbArchive.open(mine, STORE_ID, undefined, undefined, tieTo(id)).close();
    const otherId = LmdbArchive.identify(other, STORE_ID);
    assert.throws(
      () => LmdbArchive.open(other, STORE_ID, undefined, undefined, tieTo(id)),
      (error: Error) => {
        return [other, otherId, 'redis://store', id, 'use that archive again'].every((part) =>
          error.message.includes(part),
        );
      },
    );
    rmSync(mine, { recursive: true });
    assert.throws(() => LmdbArchive.open(mine, STORE_ID, undefined, undefined, tieTo(id)), /has no id, so it is new/);
    assert.throws(() => readFileSync(join(mine, 'archive.json')), /ENOENT/, 'nothing was made');
  }));

test('LMDB: an older archive gets an id and keeps it through a version change', () =>
  inTempFolder(async (folder) => {
    const about = () => JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8')) as Record<string, unknown>;
    writeFileSync(join(folder, 'archive.json'), JSON.stringify({ version: 1, storeId: STORE_ID }));
    const archiveId = LmdbArchive.identify(folder, STORE_ID);
    assert.deepEqual(about(), { version: 1, storeId: STORE_ID, archiveId });
    const archive = LmdbArchive.open(folder, STORE_ID);
    const [lsn, ids, image] = [{ epoch: 1, sequence: 1 }, [], Buffer.from('x')];
    await archive.put([{ shard: 0, day: 20_000, player: 1, round: 1, lsn, index: 0, ids, image, remembers: true }]);
    await archive.close();
    assert.deepEqual(about(), { version: 2, storeId: STORE_ID, archiveId });
    assert.notEqual(LmdbArchive.renew(folder, STORE_ID), archiveId);
  }));

const reason = whyNoPostgres();
if (reason !== undefined) {
  test('PostgreSQL archive ids', { skip: reason }, () => {});
} else {
  const databases = new PostgresDatabases(startPostgres(tmpdir()));
  after(async () => await cleanUp());

  const open = async (name: string, tie?: ArchiveTie) =>
    new PostgresArchive(databases.url(name), STORE_ID, { trustConfig: false, isReadOnly: false }, tie);

  test('PostgreSQL: a new archive has an id, and a different archive is refused', async () => {
    const [mine, other] = [await databases.create(), await databases.create()];
    const first = await open(mine);
    const archiveId = await first.identify();
    assert.match(String(archiveId), ID);
    assert.equal(await first.identify(), archiveId);
    await first.close();
    const tied = await open(mine, tieTo(archiveId));
    assert.deepEqual(await tied.days(), []);
    await tied.close();
    const elsewhere = await open(other, tieTo(archiveId));
    await assert.rejects(
      elsewhere.days(),
      /has no id, so it is new.* the closed rounds of the store .* are in the archive/,
    );
    await assert.rejects(elsewhere.checkIdentity(), /has no id, so it is new/);
    const [last] = (await elsewhere.examine()).slice(-1);
    assert.equal(last?.verdict, 'bad');
    assert.deepEqual(
      await runSql(databases.url(other), "SELECT 1 FROM pg_tables WHERE tablename LIKE 'walletd%'"),
      [],
      'nothing was made',
    );
    await elsewhere.close();
    const made = await open(other);
    const otherId = await made.identify();
    await made.close();
    const again = await open(other, tieTo(archiveId));
    await assert.rejects(again.days(), (error: Error) => {
      return [String(otherId), String(archiveId), 'redis://store'].every((part) => error.message.includes(part));
    });
    await again.close();
  });

  test('PostgreSQL: a store without an archive is tied to the first one it uses', async () => {
    const [mine, other] = [await databases.create(), await databases.create()];
    let named: string | undefined;
    const write = async (archiveId: string) => {
      named ??= archiveId;
      return named;
    };
    const threads = await Promise.all([0, 1, 2].map(() => open(mine, { ...tieTo(undefined), write })));
    for (const days of await Promise.all(threads.map((archive) => archive.days()))) assert.deepEqual(days, []);
    assert.equal(await threads[0]?.identify(), named);
    const late = await open(other, { ...tieTo(undefined), write });
    await assert.rejects(late.days(), /the closed rounds of the store .* are in the archive/);
    for (const archive of [...threads, late]) await archive.close();
  });

  test('PostgreSQL: an older archive gets an id, and renewing the archive changes it', async () => {
    const name = await databases.create();
    const first = await open(name);
    await first.days();
    await runSql(databases.url(name), 'DROP TABLE walletd_identity');
    await first.close();
    const archive = await open(name);
    assert.match(String(await archive.identify()), ID);
    const before = await archive.identify();
    assert.notEqual(await archive.renew(), before);
    await archive.close();
  });
}
