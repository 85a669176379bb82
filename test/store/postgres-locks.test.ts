import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { DroppedDayError } from '../../src/ports/dropped-day-error.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { cleanUp } from '../support/clean-up.js';
import { PgBouncer, whyNoPgBouncer } from '../support/pg-bouncer.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { until } from '../support/until.js';

const [STORE_ID] = ARCHIVE_STORES;
const ALWAYS = { first: 0, last: 99_999 };
const DAY = 20_000;

function recordOf(day: number): ArchiveRecord {
  const lsn = { epoch: 1, sequence: day };
  return {
    shard: 0,
    day,
    player: 1,
    round: 7,
    lsn,
    index: 0,
    ids: [{ id: 1, version: 1 }],
    image: Buffer.from('image'),
  };
}

/** Runs lookups one after another until `end` is called. `end` rejects if a lookup has failed. */
function lookups(archive: PostgresArchive): { end(): Promise<number> } {
  let isWanted = true;
  const run = async () => {
    let count = 0;
    for (; isWanted; count++) await archive.find(0, [{ player: 1, kind: 'round', hash: 7 }], ALWAYS);
    return count;
  };
  const running = run();
  running.catch(() => {});
  return {
    end: () => {
      isWanted = false;
      return running;
    },
  };
}

const PARTITIONS = `
  SELECT c.relname, (SELECT h.inhdetachpending FROM pg_inherits h WHERE h.inhrelid = c.oid) AS pending
  FROM pg_class c WHERE c.relname ~ '^walletd_rounds_[0-9]+$' AND c.relkind = 'r' ORDER BY 1`;

const reason = whyNoPostgres() ?? whyNoPgBouncer();
if (reason !== undefined) {
  test('PostgreSQL and lock holders', { skip: reason }, () => {});
} else {
  const databases = new PostgresDatabases(startPostgres(tmpdir()));
  let bouncer: Promise<PgBouncer> | undefined;
  after(async () => {
    await (await bouncer)?.stop();
    await cleanUp();
  });

  /**
   * Creates an archive with two days, and opens a session that holds the same locks as pg_dump. `direct` is the address
   * without a pooler.
   */
  const held = async (t: TestContext, way: 'direct' | 'pooled') => {
    const name = await databases.create();
    const direct = databases.url(name);
    bouncer ??= PgBouncer.start(databases.socketFolder, 'transaction');
    const archive = new PostgresArchive(way === 'direct' ? direct : (await bouncer).url(name), STORE_ID);
    await archive.put([recordOf(DAY), recordOf(DAY + 1)]);
    await tableOf(direct, DAY + 2);
    const holder = new Client({ connectionString: direct });
    await holder.connect();
    t.after(async () => {
      await holder.end();
      await archive.close();
    });
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('LOCK TABLE walletd_rounds IN ACCESS SHARE MODE');
    return { archive, direct, holder };
  };

  const tableOf = async (url: string, day: number) =>
    await until(`there is a table of day ${day}`, async () => {
      const [row] = await runSql(url, `SELECT 1 WHERE to_regclass('walletd_rounds_${day}') IS NOT NULL`);
      return row;
    });

  for (const way of ['direct', 'pooled'] as const) {
    test(`${way}: the first put of a day does not wait for a long-running reader`, async (t) => {
      const { archive } = await held(t, way);
      const looking = lookups(archive);
      await archive.put([recordOf(DAY + 30)]);
      assert.deepEqual(await archive.days(), [DAY, DAY + 1, DAY + 30]);
      assert.ok((await looking.end()) > 0);
    });

    test(`${way}: no lookup fails while an old day waits to be dropped`, async (t) => {
      const { archive, direct, holder } = await held(t, way);
      const looking = lookups(archive);
      await assert.rejects(archive.dropBefore(DAY + 1), /lock timeout/);
      // The second attempt resumes the interrupted drop at its second step.
      await assert.rejects(archive.dropBefore(DAY + 1), /lock timeout/);
      assert.ok((await archive.find(0, [{ player: 1, kind: 'round', hash: 7 }], ALWAYS)).length > 0);
      await archive.put([recordOf(DAY + 40)]);
      await holder.query('COMMIT');
      // Retry, because the creation of the next day's table may hold the lock for a moment.
      await until('the old day is dropped', () =>
        archive.dropBefore(DAY + 1).then(
          () => true,
          () => false,
        ),
      );
      assert.ok((await looking.end()) > 0);
      const tables = await runSql(direct, PARTITIONS);
      assert.ok(!tables.some((table) => (table as { relname: string }).relname === `walletd_rounds_${DAY}`));
      assert.deepEqual(await archive.days(), [DAY + 1, DAY + 40]);
    });
  }

  test('dropping old days rejects while another process drops them', async (t) => {
    const { archive, direct, holder } = await held(t, 'direct');
    const other = new PostgresArchive(direct, STORE_ID);
    t.after(() => other.close());
    const first = archive.dropBefore(DAY + 1).catch((error) => error as Error);
    await until('the first one has the lock', async () => {
      const [row] = await runSql(direct, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 7340922");
      return row;
    });
    await assert.rejects(other.dropBefore(DAY + 1), /another process is dropping old days/);
    await holder.query('COMMIT');
    await first;
    await until('the other one finds nothing left', () =>
      other.dropBefore(DAY + 1).then(
        () => true,
        () => false,
      ),
    );
    assert.deepEqual(await archive.days(), [DAY + 1]);
  });

  test('a day whose drop was interrupted is not attached again', async (t) => {
    const { archive, direct, holder } = await held(t, 'direct');
    await assert.rejects(archive.dropBefore(DAY + 1), /lock timeout/);
    const [first] = (await runSql(direct, PARTITIONS)) as { pending: boolean }[];
    assert.equal(first?.pending, true);
    await holder.query('COMMIT');
    await assert.rejects(archive.put([{ ...recordOf(DAY), round: 8 }]), DroppedDayError);
    assert.deepEqual(await archive.days(), [DAY + 1]);
    await archive.dropBefore(DAY + 1);
    assert.ok(
      !(await runSql(direct, PARTITIONS)).some((one) => (one as { relname: string }).relname.endsWith(`_${DAY}`)),
    );
  });

  test('records in a table that cannot be dropped yet are neither found nor listed', async (t) => {
    const { archive, direct, holder } = await held(t, 'pooled');
    await assert.rejects(archive.dropBefore(DAY + 1), /lock timeout/);
    const [{ left }] = (await runSql(direct, `SELECT count(*)::int AS left FROM walletd_rounds_${DAY}`)) as [
      { left: number },
    ];
    assert.equal(left, 1);
    const daysOf = (records: readonly Pick<ArchiveRecord, 'day'>[]) => records.map(({ day }) => day);
    assert.deepEqual(daysOf(await archive.find(0, [{ player: 1, kind: 'round', hash: 7 }], ALWAYS)), [DAY + 1]);
    assert.deepEqual(daysOf((await archive.list(0, 1, 99, 99)).map(({ record }) => record)), [DAY + 1]);
    assert.deepEqual(daysOf(await archive.read(0, [recordOf(DAY), recordOf(DAY + 1)], 1)), [DAY + 1]);
    assert.deepEqual(await archive.days(), [DAY + 1]);
    await assert.rejects(archive.put([recordOf(DAY)]), DroppedDayError);
    await holder.query('COMMIT');
  });

  test('tables are created a day ahead, so that a table exists at midnight', async (t) => {
    const { archive, direct } = await held(t, 'direct');
    await archive.put([recordOf(DAY + 5)]);
    await tableOf(direct, DAY + 6);
    assert.deepEqual(await archive.days(), [DAY, DAY + 1, DAY + 5]);
  });

  test('a short lock delays a new day without failing any lookup', async (t) => {
    const { archive, direct, holder } = await held(t, 'direct');
    await holder.query('LOCK TABLE walletd_rounds IN SHARE UPDATE EXCLUSIVE MODE');
    const looking = lookups(archive);
    const put = archive.put([recordOf(DAY + 5)]);
    const isWaiting = async () => {
      const waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'walletd' AND wait_event_type = 'Lock'";
      return (await runSql(direct, waits)).length > 0;
    };
    await until('the new day waits', isWaiting);
    await until('it gives up once', async () => !(await isWaiting()));
    await until('it waits again', isWaiting);
    await holder.query('COMMIT');
    await put;
    assert.ok((await looking.end()) > 0);
  });
}
