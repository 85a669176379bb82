import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { ARCHIVE_STORES, archiveContract } from '../contract/archive.js';
import { cleanUp } from '../support/clean-up.js';
import { PgBouncer, whyNoPgBouncer } from '../support/pg-bouncer.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';

const [STORE_ID] = ARCHIVE_STORES;
const ALWAYS = { first: 0, last: 99_999 };
const RECORD: ArchiveRecord = {
  shard: 0,
  day: 20_000,
  player: 1,
  round: 2,
  lsn: { epoch: 1, sequence: 1 },
  index: 0,
  ids: [{ id: 3, version: 4 }],
  image: Buffer.from('an image'),
};

const reason = whyNoPostgres() ?? whyNoPgBouncer();
if (reason !== undefined) {
  test('PostgreSQL behind PgBouncer', { skip: reason }, () => {});
} else {
  const server = startPostgres(tmpdir());
  const databases = new PostgresDatabases(server);
  const bouncers = new Map<string, Promise<PgBouncer>>();
  const bouncer = (mode: 'session' | 'transaction' | 'statement') => {
    const started = bouncers.get(mode) ?? PgBouncer.start(databases.socketFolder, mode);
    bouncers.set(mode, started);
    return started;
  };
  after(async () => {
    for (const one of bouncers.values()) await (await one).stop();
    await cleanUp();
  });

  for (const mode of ['transaction', 'session'] as const) {
    const names = new Map<string, string>();
    archiveContract(`PgBouncer with pool_mode ${mode}`, async (what) => {
      const name = names.get(what) ?? (await databases.create());
      names.set(what, name);
      return new PostgresArchive((await bouncer(mode)).url(name), STORE_ID);
    });
  }

  test("simultaneous lookups of many archives share PgBouncer's sessions", async () => {
    const url = (await bouncer('transaction')).url(await databases.create());
    const archives = Array.from({ length: 6 }, () => new PostgresArchive(url, STORE_ID));
    await archives[0]?.put([RECORD]);
    const found = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        archives[i % archives.length]?.find(0, [{ player: 1, kind: 'round', hash: 2 }], ALWAYS),
      ),
    );
    for (const records of found) assert.equal(records?.length, 1);
    await Promise.all(archives.map((archive) => archive.close()));
  });

  for (const way of ['PostgreSQL itself', 'PgBouncer with pool_mode transaction'] as const) {
    test(`${way}: puts are committed synchronously even if the database's default is off`, async () => {
      const name = await databases.create();
      const direct = databases.url(name);
      const url = way === 'PostgreSQL itself' ? direct : (await bouncer('transaction')).url(name);
      const archive = new PostgresArchive(url, STORE_ID);
      await archive.put([RECORD]);
      await runSql(
        direct,
        `ALTER DATABASE ${name} SET synchronous_commit = off`,
        'CREATE TABLE seen (value text)',
        `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
          $$BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END$$`,
        'CREATE TRIGGER note AFTER INSERT ON walletd_fresh EXECUTE FUNCTION note()',
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      );
      // Retry once, because the archive notices the end of a terminated connection only at its next use.
      await archive.put([{ ...RECORD, round: 3 }]).catch(() => archive.put([{ ...RECORD, round: 3 }]));
      assert.deepEqual(await runSql(direct, 'SELECT DISTINCT value FROM seen'), [{ value: 'on' }]);
      await archive.close();
    });
  }

  test("walletd's settings do not stay in PgBouncer's shared sessions", async () => {
    const name = await databases.create();
    const url = (await bouncer('transaction')).url(name);
    const archive = new PostgresArchive(url, STORE_ID);
    await archive.put([RECORD]);
    await archive.close();
    assert.deepEqual(await runSql(url, 'SHOW statement_timeout'), [{ statement_timeout: '0' }]);
    assert.deepEqual(await runSql(url, 'SHOW lock_timeout'), [{ lock_timeout: '0' }]);
  });

  test('options in a PgBouncer address are refused in one sentence', async () => {
    const url = (await bouncer('transaction')).url(await databases.create());
    const archive = new PostgresArchive(`${url}&options=-c%20work_mem%3D1MB`, STORE_ID);
    // The message differs by version, because PgBouncer supports some options since 1.20.
    await assert.rejects(archive.days(), /refuses a startup parameter: remove options=|work_mem/);
    await archive.close();
  });

  test('a PgBouncer that pools statements is refused in one sentence', async () => {
    const url = (await bouncer('statement')).url(await databases.create());
    const archive = new PostgresArchive(url, STORE_ID);
    await assert.rejects(archive.days(), /pools statements.*set pool_mode = transaction/);
    await archive.close();
  });
}
