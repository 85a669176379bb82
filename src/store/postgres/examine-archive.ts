import type { ClientBase } from 'pg';
import { FormatError } from '../format/format-error.js';
import type { CheckResult } from '../store.js';
import { findArchiveId, ROUNDS } from './archive-tables.js';

interface Rights {
  readonly user: string;
  readonly schema: string | null;
  readonly may_create: boolean | null;
  /** Null if there is no archive yet. */
  readonly is_owner: boolean | null;
}

const RIGHTS = `
  SELECT quote_ident(current_user) AS user, quote_ident(current_schema()) AS schema,
    has_schema_privilege(current_schema(), 'CREATE') AS may_create,
    (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('${ROUNDS}')) AS is_owner`;

/** Checks that the user owns the archive. Each new day is a table, which only the owner can add. */
export async function rightsOf(client: ClientBase): Promise<CheckResult> {
  const about = 'archive rights';
  const { rows } = await client.query(RIGHTS);
  const { user, schema, may_create, is_owner } = rows[0] as Rights;
  if (may_create !== true) {
    const says = `the user ${user} may not create tables in the schema ${schema ?? 'public'}`;
    return { about, verdict: 'bad', says, todo: `GRANT USAGE, CREATE ON SCHEMA ${schema ?? 'public'} TO ${user};` };
  }
  if (is_owner === false) {
    const says = `the user ${user} does not own the table ${ROUNDS}, and cannot add a day to it`;
    return { about, verdict: 'bad', says, todo: `ALTER TABLE ${ROUNDS} OWNER TO ${user};` };
  }
  return { about, verdict: 'good', says: 'this user has all rights that a server needs' };
}

/** Checks the archive's contents. `check` throws a `FormatError` if the archive does not belong to this store. */
export async function contentsOf(client: ClientBase, check: () => Promise<void>): Promise<CheckResult> {
  const about = 'archive';
  try {
    await check();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { about, verdict: 'bad', says: error.message, todo: 'set WALLETD_ARCHIVE to the database of this store' };
  }
  const { rows: tables } = await client.query("SELECT 1 WHERE to_regclass('walletd_archive') IS NULL");
  if (tables.length > 0) return { about, verdict: 'good', says: 'nothing has left memory yet' };
  const { rows } = await client.query(CONTENTS);
  const { days, bytes } = rows[0] as { readonly days: number; readonly bytes: string };
  const archiveId = await findArchiveId(client);
  const id = archiveId === undefined ? '' : `id ${archiveId}, `;
  return { about, verdict: 'good', says: `${id}${days} days, ${Math.ceil(Number(bytes) / 1024 ** 2)} MiB` };
}

/** The counts include the day that is created ahead of time. */
const CONTENTS = `
  SELECT count(*)::int AS days, coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint AS bytes
  FROM pg_inherits WHERE inhparent = '${ROUNDS}'::regclass`;

/** Checks replication. A user without the role pg_monitor sees the replicas, but not their lag. */
export async function replicasOf(client: ClientBase): Promise<CheckResult> {
  const { rows } = await client.query(REPLICAS);
  const { names, replicas } = rows[0] as { readonly names: string; readonly replicas: number };
  const waits = names === '' ? 'commits wait for no replica' : `commits wait for synchronous_standby_names ${names}`;
  const says = replicas === 0 && names === '' ? 'there are none' : `${replicas} connected; ${waits}`;
  return { about: 'archive replicas', verdict: 'good', says };
}

const REPLICAS = `
  SELECT current_setting('synchronous_standby_names') AS names, (SELECT count(*)::int FROM pg_stat_replication) AS replicas`;

/** Contents and sessions of a database that prevent its use for a new store. */
export interface Occupancy {
  /** True if the database has a round of any store. */
  readonly hasRounds: boolean;
  /** Other sessions in the database, such as a running walletd, a follower of its backup, or a psql session. */
  readonly sessions: number;
}

export async function occupancyOf(client: ClientBase): Promise<Occupancy> {
  const { rows: tables } = await client.query(`SELECT 1 WHERE to_regclass('${ROUNDS}') IS NOT NULL`);
  const { rows } = await client.query(SESSIONS);
  const [{ sessions }] = rows as [{ sessions: number }];
  if (tables.length === 0) return { hasRounds: false, sessions };
  const { rows: rounds } = await client.query(`SELECT 1 FROM ${ROUNDS} LIMIT 1`);
  return { hasRounds: rounds.length > 0, sessions };
}

const SESSIONS = `
  SELECT count(*)::int AS sessions FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
