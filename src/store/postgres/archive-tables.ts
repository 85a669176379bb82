import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';

export const ROUNDS = 'walletd_rounds';
/** The prefix of a partition's name. The day follows, as a number of days since 1970. */
export const PARTITION = `${ROUNDS}_`;

/**
 * Advisory lock for processes that create tables, because if two create the same table concurrently, PostgreSQL reports
 * an error to one of them. The number is arbitrary but not used elsewhere.
 */
export const TABLES_LOCK = 7_340_921;

const CREATE_MARKS = `
  CREATE TABLE IF NOT EXISTS walletd_marks (
    shard int PRIMARY KEY, epoch bigint NOT NULL, sequence bigint NOT NULL, index int NOT NULL
  )`;

/** Each row states that all days before `first_day` have been dropped. */
const CREATE_DROPPED = 'CREATE TABLE IF NOT EXISTS walletd_dropped (first_day int PRIMARY KEY)';
/** The oldest day that is kept; null if no day has been dropped. */
export const FIRST_DAY = 'SELECT max(first_day) FROM walletd_dropped';

/**
 * A separate table, because adding a column to walletd_archive would wait for every session that has read that table,
 * such as pg_dump.
 */
const CREATE_IDENTITY = 'CREATE TABLE IF NOT EXISTS walletd_identity (archive_id text NOT NULL)';

const CREATE = `
  CREATE TABLE IF NOT EXISTS walletd_archive (version int NOT NULL, store_id text NOT NULL);
  CREATE TABLE IF NOT EXISTS ${ROUNDS} (
    day int NOT NULL, shard int NOT NULL, player bigint NOT NULL, round bigint NOT NULL,
    epoch bigint NOT NULL, sequence bigint NOT NULL, index int NOT NULL, record bytea NOT NULL,
    PRIMARY KEY (shard, player, round, epoch, sequence, index, day)
  ) PARTITION BY RANGE (day);
  CREATE TABLE IF NOT EXISTS walletd_fresh (
    shard int NOT NULL, epoch bigint NOT NULL, sequence bigint NOT NULL, day int NOT NULL, names bytea NOT NULL
  );
  CREATE INDEX IF NOT EXISTS walletd_fresh_by_shard ON walletd_fresh (shard, epoch, sequence);
  CREATE TABLE IF NOT EXISTS walletd_saved (
    shard int NOT NULL, part bigint NOT NULL, names bytea NOT NULL, PRIMARY KEY (shard, part)
  )`;

export async function createTables(client: ClientBase, version: number, storeId: string): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${TABLES_LOCK})`);
  const { rows } = await client.query(
    `SELECT to_regclass('walletd_saved') IS NOT NULL AS exists, to_regclass('walletd_marks') IS NOT NULL AS marked,
      to_regclass('walletd_dropped') IS NOT NULL AS drops`,
  );
  const { exists, marked, drops } = rows[0] as { exists: boolean; marked: boolean; drops: boolean };
  // Older releases created neither of these two tables. A role that may not create tables can use existing ones.
  if (!marked) await client.query(CREATE_MARKS);
  if (!drops) await client.query(CREATE_DROPPED);
  if (exists) return;
  await client.query(CREATE);
  await client.query(
    'INSERT INTO walletd_archive (version, store_id) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM walletd_archive)',
    [version, storeId],
  );
}

/** The id of the archive; undefined if the archive has no id, or does not exist. */
export async function findArchiveId(client: ClientBase): Promise<string | undefined> {
  const { rows: tables } = await client.query("SELECT 1 WHERE to_regclass('walletd_identity') IS NOT NULL");
  if (tables.length === 0) return undefined;
  const { rows } = await client.query('SELECT archive_id FROM walletd_identity');
  return (rows as { archive_id: string }[])[0]?.archive_id;
}

/**
 * Gives the archive an id if it has none. With `isNew`, always gives it a new id. Must run in a transaction that holds
 * the lock of `createTables`.
 */
export async function makeArchiveId(client: ClientBase, isNew = false): Promise<string> {
  const found = await findArchiveId(client);
  if (found !== undefined && !isNew) return found;
  const archiveId = randomUUID();
  await client.query(CREATE_IDENTITY);
  await client.query('DELETE FROM walletd_identity');
  await client.query('INSERT INTO walletd_identity (archive_id) VALUES ($1)', [archiveId]);
  return archiveId;
}
