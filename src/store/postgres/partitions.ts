import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, DatabaseError } from 'pg';
import { DroppedDayError } from '../../ports/dropped-day-error.js';
import { FIRST_DAY, PARTITION, ROUNDS, TABLES_LOCK } from './archive-tables.js';
import type { Alone, Connections } from './connections.js';
import { LOCK_MS } from './server-facts.js';

/** The first PostgreSQL version that can detach a partition without blocking lookups. */
const DETACH_CONCURRENTLY = 14;
/**
 * Maximum wait for a lock that blocks all lookups queued behind it. On an older server or through a pooler, a day
 * cannot be dropped without such a lock.
 */
const EXCLUSIVE_LOCK_MS = 100;
/** Advisory lock that lets only one process at a time drop days. */
const DROP_LOCK = 7_340_922;
/** SQLSTATE for a lock wait that timed out. */
const LOCK_NOT_AVAILABLE = '55P03';
const ATTEMPTS = 4;
const RETRY_MS = 100;
const DAY_MAX = 2 ** 31 - 2;

/** `pending`: a detach was interrupted. `detached`: the table is no longer part of the archive. */
type State = 'none' | 'attached' | 'pending' | 'detached';

/**
 * The tables of the archive's days. No statement here takes a lock on the archive that blocks lookups: a day is a
 * separate table before it is attached, and again before it is dropped. A reader that holds its locks for hours, such
 * as pg_dump, delays drops.
 */
export class Partitions {
  /** Days whose tables are known to exist. */
  private readonly known = new Set<number>();
  private ahead: Promise<void> = Promise.resolve();

  constructor(private readonly connections: Connections) {}

  /**
   * Creates the missing tables of these days. Also starts to create the table of the day after the newest, without
   * waiting for it. Rejects with a `DroppedDayError` for a dropped day.
   */
  async ensure(days: ReadonlySet<number>): Promise<void> {
    for (const day of days) if (!this.known.has(day)) await this.make(day);
    const next = Math.max(...days) + 1;
    if (this.known.has(next) || next > DAY_MAX) return;
    // If creating the next day fails, a later put tries again, at the latest the first put after midnight, which needs
    // the day.
    this.ahead = this.ahead.then(() => this.make(next)).catch(() => {});
  }

  /** Clears the list of known tables, because another process may have dropped one. */
  forget(): void {
    this.known.clear();
  }

  /**
   * Drops all days before this one. After its first statement, no such day is created or attached again. Resolves when
   * all of them have been dropped. Rejects if a session holds a lock, or if another process is dropping days; the next
   * call drops the remaining days.
   */
  async dropBefore(day: number): Promise<void> {
    await this.connections.ask('first day', RAISE_FIRST_DAY, [day]);
    const tables = await this.connections.ask<Table>('tables', TABLES, []);
    const old = tables.filter((table) => table.day < day);
    if (old.length === 0) return;
    for (const table of old) this.known.delete(table.day);
    await this.connections.alone(async (alone) => {
      this.connections.refuse(alone.server);
      await dropAll(alone, old);
    });
  }

  /** Waits for the day that is being created ahead of time. */
  async close(): Promise<void> {
    await this.ahead;
  }

  private async make(day: number): Promise<void> {
    if (this.known.has(day)) return;
    await this.connections.alone(async (alone) => {
      this.connections.refuse(alone.server);
      await withRetry(() => attach(alone, day));
    });
    this.known.add(day);
  }
}

const RAISE_FIRST_DAY = 'INSERT INTO walletd_dropped (first_day) VALUES ($1) ON CONFLICT DO NOTHING';

interface Table {
  readonly day: number;
  readonly state: State;
}

/** Before PostgreSQL 14 the column `inhdetachpending` does not exist, and no detach is ever pending. */
const TABLES = `
  SELECT substring(c.relname FROM '[0-9]+$')::int AS day,
    CASE WHEN h.inhrelid IS NULL THEN 'detached'
      WHEN (to_jsonb(h) ->> 'inhdetachpending')::boolean THEN 'pending' ELSE 'attached' END AS state
  FROM pg_class p JOIN pg_class c ON c.relnamespace = p.relnamespace AND c.relname ~ '^${PARTITION}[0-9]+$' AND c.relkind = 'r'
  LEFT JOIN pg_inherits h ON h.inhrelid = c.oid AND h.inhparent = p.oid
  WHERE p.oid = '${ROUNDS}'::regclass ORDER BY 1`;

async function stateOf(client: ClientBase, day: number): Promise<State> {
  const { rows } = await client.query(`SELECT state FROM (${TABLES}) t WHERE day = ${day}`);
  return (rows[0] as Table | undefined)?.state ?? 'none';
}

async function attach(alone: Alone, day: number): Promise<void> {
  if ((await stateOf(alone.client, day)) === 'pending') await finalize(alone.client, day);
  await alone.inTransaction(async (client) => {
    await client.query(`SELECT set_config('lock_timeout', '${LOCK_MS}', true), pg_advisory_xact_lock(${TABLES_LOCK})`);
    const state = await stateOf(client, day);
    if (state === 'attached') return;
    const { rows } = await client.query(FIRST_DAY);
    const [{ max: firstDay }] = rows as [{ max: number | null }];
    if (firstDay !== null && day < firstDay) throw new DroppedDayError(firstDay);
    if (state === 'none') await client.query(createTable(day));
    // ATTACH takes a SHARE UPDATE EXCLUSIVE lock on the parent, which does not conflict with lookups, puts or pg_dump.
    await client.query(
      `ALTER TABLE ${ROUNDS} ATTACH PARTITION ${PARTITION}${day} FOR VALUES FROM (${day}) TO (${day + 1})`,
    );
  });
}

/** LIKE copies the indexes, but not the tablespace, which a partition would otherwise inherit. */
function createTable(day: number): string {
  return `
    SELECT set_config('default_tablespace', s.spcname, true)
    FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE c.oid = '${ROUNDS}'::regclass;
    CREATE TABLE ${PARTITION}${day} (LIKE ${ROUNDS} INCLUDING ALL)`;
}

async function dropAll({ client, server, inTransaction }: Alone, tables: readonly Table[]): Promise<void> {
  const isConcurrent = server.major >= DETACH_CONCURRENTLY && !server.isPooled;
  if (isConcurrent) {
    const { rows } = await client.query(
      `SELECT set_config('lock_timeout', '${LOCK_MS}', false), pg_try_advisory_lock(${DROP_LOCK}) AS mine`,
    );
    // The lock is held until this connection is closed.
    if (!(rows[0] as { mine: boolean }).mine) throw new Error('another process is dropping old days of the archive');
  }
  const exclusively = (sql: string) =>
    inTransaction(async () => {
      await client.query(`SELECT set_config('lock_timeout', '${EXCLUSIVE_LOCK_MS}', true)`);
      await client.query(sql);
    });
  for (const { day } of tables) {
    const table = `${PARTITION}${day}`;
    const state = await stateOf(client, day);
    if (state === 'pending') await finalize(client, day);
    if (state === 'attached' && isConcurrent) {
      await client.query(`ALTER TABLE ${ROUNDS} DETACH PARTITION ${table} CONCURRENTLY`);
    } else if (state === 'attached') await exclusively(`ALTER TABLE ${ROUNDS} DETACH PARTITION ${table}`);
    await exclusively(`DROP TABLE IF EXISTS ${table}`);
  }
}

async function finalize(client: ClientBase, day: number): Promise<void> {
  await client.query(`ALTER TABLE ${ROUNDS} DETACH PARTITION ${PARTITION}${day} FINALIZE`);
}

async function withRetry(run: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if ((error as DatabaseError).code !== LOCK_NOT_AVAILABLE || attempt === ATTEMPTS) throw error;
      await delay(RETRY_MS * attempt);
    }
  }
}
