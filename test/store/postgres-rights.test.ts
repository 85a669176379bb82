import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, type DatabaseError } from 'pg';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { cleanUp } from '../support/clean-up.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';

/*
 * Tests the table "who may" in docs/archive.md on a real PostgreSQL server, with the roles in config/archive-roles.sql.
 */
const DAY = 20_700;
const SCRIPT = fileURLToPath(new URL('../../../config/archive-roles.sql', import.meta.url));
const PAGE = readFileSync(new URL('../../../docs/archive.md', import.meta.url), 'utf8');
const FORBIDDEN = '42501';

/**
 * Statements of each row, by the row's first column. A permitted role runs them in order. For any other role, each
 * statement is refused.
 */
const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  'read archived rounds': [
    'SELECT * FROM walletd_rounds',
    'SELECT * FROM walletd_marks',
    'SELECT * FROM walletd_archive',
  ],
  'write, change and delete archived rounds': [
    'UPDATE walletd_rounds SET record = record',
    'DELETE FROM walletd_rounds',
    "INSERT INTO walletd_saved VALUES (0, 0, '')",
    'TRUNCATE walletd_fresh',
  ],
  'add and drop the table for a day': [
    'CREATE TABLE walletd_rounds_1 (LIKE walletd_rounds INCLUDING ALL)',
    `ALTER TABLE walletd_rounds DETACH PARTITION walletd_rounds_${DAY}`,
    `DROP TABLE walletd_rounds_${DAY}`,
  ],
  'drop the schema; create a schema or a temporary table': [
    'DROP SCHEMA walletd CASCADE',
    'CREATE SCHEMA another',
    'CREATE TEMPORARY TABLE passing (a int)',
  ],
  'use tables in other schemas, including `public`': [
    'SELECT * FROM app.secrets',
    'DELETE FROM app.secrets',
    'SELECT * FROM public.others',
    'CREATE TABLE public.more (a int)',
  ],
  'read files or run programs on the server': [
    "SELECT pg_read_file('postgresql.conf')",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_ls_dir('.')",
  ],
  'read passwords, create roles or databases, change server settings': [
    'SELECT * FROM pg_authid',
    'CREATE ROLE another',
    'CREATE DATABASE another',
    'ALTER SYSTEM SET fsync = off',
    'SELECT pg_reload_conf()',
    'ALTER ROLE walletd SUPERUSER',
  ],
  'replicate the server': ["SELECT pg_create_physical_replication_slot('mine')"],
  "terminate other users' sessions": [
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres' AND pid <> pg_backend_pid()",
  ],
};

interface Claim {
  readonly to: string;
  readonly role: string;
  readonly may: boolean;
}

function claims(): readonly Claim[] {
  const [, table = ''] = /^(\| right \|.*?)\n\n/ms.exec(PAGE) ?? [];
  const [head = [], , ...rows] = table.split('\n').map((line) => line.split('|').slice(1, -1));
  const roles = head.slice(1).map((cell) => cell.replaceAll('`', '').trim());
  return rows.flatMap(([to = '', ...cells]) =>
    cells.map((cell, i) => ({ to: to.trim(), role: roles[i] as string, may: /yes/.test(cell) })),
  );
}

const record = (day: number): ArchiveRecord => ({
  ...{ shard: 1, day, player: 0xfffffff0, round: 7, lsn: { epoch: 3, sequence: day }, index: 0 },
  ids: [{ id: 0xfffffffe, version: 5 }],
  image: Buffer.from('an image'),
});

test('the table in docs/archive.md has the same rows as the tested statements', () => {
  assert.deepEqual([...new Set(claims().map(({ to }) => to))].sort(), Object.keys(STATEMENTS).sort());
  assert.deepEqual([...new Set(claims().map(({ role }) => role))], ['walletd', 'walletd_reader']);
});

const reason = whyNoPostgres();
if (reason !== undefined) {
  test('the roles of a real PostgreSQL', { skip: reason }, () => {});
} else {
  const server = startPostgres(tmpdir());
  const databases = new PostgresDatabases(server);
  let name = '';
  let other: Client;

  const runScript = (database: string) =>
    execFileSync(
      'psql',
      ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '-d', databases.url(database), '-f', SCRIPT],
      {
        stdio: 'pipe',
        encoding: 'utf8',
      },
    );

  before(async () => {
    name = await databases.create();
    runScript(name);
    await runSql(
      databases.url(name),
      'CREATE SCHEMA app',
      'CREATE TABLE app.secrets (a int)',
      'CREATE TABLE public.others (a int)',
    );
    other = new Client({ connectionString: databases.url(name) });
    await other.connect();
  });
  after(async () => {
    await other.end();
    await cleanUp();
  });

  test('these roles suffice to create the archive, drop a day and read rounds', async () => {
    const archive = new PostgresArchive(databases.url(name, 'walletd'), ARCHIVE_STORES[0]);
    try {
      await archive.put([record(DAY - 1), record(DAY)]);
      await archive.dropBefore(DAY);
      assert.deepEqual((await archive.days()).slice(0, 1), [DAY]);
      const rights = (await archive.examine()).find(({ about }) => about === 'archive rights');
      assert.equal(rights?.verdict, 'good');
    } finally {
      await archive.close();
    }
    const options = { trustConfig: false, isReadOnly: true };
    const reader = new PostgresArchive(databases.url(name, 'walletd_reader'), ARCHIVE_STORES[0], options);
    try {
      assert.deepEqual((await reader.days()).slice(0, 1), [DAY]);
      const found = await reader.find(1, [{ kind: 'round', player: 0xfffffff0, hash: 7 }], { first: 0, last: DAY });
      assert.equal(found.length, 1);
    } finally {
      await reader.close();
    }
    const tables = "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename LIKE 'walletd%'";
    assert.deepEqual(await runSql(databases.url(name), tables), [{ schemaname: 'walletd' }]);
  });

  for (const { to, role, may } of claims()) {
    test(`the PostgreSQL role ${role} ${may ? 'may' : 'may not'}: ${to}`, async () => {
      const client = new Client({ connectionString: databases.url(name, role) });
      await client.connect();
      try {
        if (may) await client.query('BEGIN');
        for (const sql of STATEMENTS[to] ?? []) {
          if (may) await client.query(sql);
          else await assert.rejects(client.query(sql), (error: DatabaseError) => error.code === FORBIDDEN, sql);
        }
        if (may) await client.query('ROLLBACK');
      } finally {
        await client.end();
      }
    });
  }

  test('other users cannot connect to the database, and the script is repeatable', async () => {
    await runSql(databases.url(name), 'CREATE ROLE stranger LOGIN');
    await assert.rejects(runSql(databases.url(name, 'stranger'), 'SELECT 1'), { code: FORBIDDEN });
    runScript(name);
  });

  test('the script leaves an archive in the schema public unchanged', async () => {
    const older = await databases.create();
    await runSql(databases.url(older), 'CREATE TABLE walletd_rounds (a int)');
    assert.throws(() => runScript(older), /this database has an archive in the schema public/);
  });
}
