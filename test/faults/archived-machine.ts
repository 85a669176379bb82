import { execFileSync } from 'node:child_process';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';
import { Machine } from './machine.js';
import { betsAndCredits } from './night-proof.js';
import type { Scene } from './scene.js';

/**
 * Starts a machine whose walletd archives immediately into PostgreSQL, as a user that owns only that database. Resolves
 * to undefined if PostgreSQL is missing.
 */
export async function archivedMachine(scene: Scene, store: string, settings: Record<string, string> = {}) {
  const postgres = scene.postgres();
  if (postgres === undefined) return undefined;
  const databases = new PostgresDatabases(postgres);
  await runSql(postgres.url, 'CREATE ROLE walletd LOGIN', 'CREATE DATABASE walletd OWNER walletd');
  const archive = { WALLETD_ARCHIVE: databases.url('walletd', 'walletd'), WALLETD_RETENTION_MEMORY_SECONDS: '0.2' };
  const machine = await Machine.of(scene, { WALLETD_STORE: store, ...archive, ...settings }, betsAndCredits);
  await until('rounds are in the archive', async () => (await archivedRounds(machine)) > 200);
  const variables = {
    PG_ADMIN: postgres.url,
    SCRATCH: databases.url('walletd_scratch', 'walletd'),
    NEW_ARCHIVE: databases.url('walletd_new', 'walletd'),
  };
  return { machine, variables, postgres };
}

export async function archivedRounds(machine: Machine): Promise<number> {
  return (await Scrape.of(machine.walletd.adminUrl)).value('walletd_archived_rounds_total');
}

/** Starts the same machine on its own Redis, with callers that do not wait long. */
export async function archivedScene(scene: Scene) {
  const redis = await scene.redis();
  const archived = await archivedMachine(scene, redis.url, { WALLETD_REQUEST_DEADLINE_MS: '500' });
  return archived && { ...archived, redis };
}

export const dumpOf = (database: string) =>
  execFileSync('pg_dump', [database], { maxBuffer: 2 ** 30, encoding: 'utf8' });

/** Restores a dump while the database is in use. The older tables appear in a single transaction. */
export function restoreDump(database: string, dump: string): void {
  const args = ['--quiet', '--single-transaction', '--set', 'ON_ERROR_STOP=1', database];
  const input = `DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n${dump}`;
  execFileSync('psql', args, { input, stdio: ['pipe', 'ignore', 'pipe'] });
}
