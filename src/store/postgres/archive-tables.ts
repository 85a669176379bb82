import type { ClientBase } from 'pg';

export const ROUNDS = 'walletd_rounds';
/** A partition's name is this and its day, in days since 1970. */
export const PARTITION = `${ROUNDS}_`;

/** One process makes tables at a time: of two at once PostgreSQL refuses one. Any number that nobody else takes. */
export const TABLES_LOCK = 7_340_921;

const CREATE_MARKS = `
  CREATE TABLE IF NOT EXISTS walletd_marks (
    shard int PRIMARY KEY, epoch bigint NOT NULL, sequence bigint NOT NULL, index int NOT NULL
  )`;

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
    "SELECT to_regclass('walletd_saved') IS NOT NULL AS exists, to_regclass('walletd_marks') IS NOT NULL AS marked",
  );
  const { exists, marked } = rows[0] as { exists: boolean; marked: boolean };
  // A role without the right to create anything will do where the tables exist. An older walletd made all but the marks.
  if (!marked) await client.query(CREATE_MARKS);
  if (exists) return;
  await client.query(CREATE);
  await client.query(
    'INSERT INTO walletd_archive (version, store_id) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM walletd_archive)',
    [version, storeId],
  );
}
