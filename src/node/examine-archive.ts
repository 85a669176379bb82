import { messageOf } from '../base/message-of.js';
import { isOutage } from '../base/outage-error.js';
import type { StoreMeta } from '../store/meta.js';
import type { Occupancy } from '../store/postgres/examine-archive.js';
import type { PostgresArchive } from '../store/postgres/postgres-archive.js';
import type { Finding } from '../store/store.js';
import { findArchiveAddress } from './drivers/archive-address.js';
import type { StoreSettings } from './drivers/driver.js';
import { openPostgres } from './drivers/open-archive.js';
import { StoreError } from './store-error.js';
import { tieOf } from './tie-archive.js';

/** State of an archive in PostgreSQL at a start. */
export interface FoundArchive {
  /** For people: address of the archive, without the password. */
  readonly name: string;
  /** Empty while the archive does not answer. */
  readonly findings: readonly Finding[];
  /**
   * Reason why the archive does not answer; undefined when it does. A start continues without the archive and asks
   * again.
   */
  readonly away: string | undefined;
}

/** Id that no store has. */
const NO_STORE = { storeId: '' };

/** Part of a store's record that names its archive. */
export type ArchivedMeta = Pick<StoreMeta, 'storeId' | 'archiveId'>;

/**
 * Checks everything that walletd must know before relying on the configured PostgreSQL, for `serve` and `serve
 * --check`; undefined when the archive is not in PostgreSQL. `meta`: undefined before there is a store. Creates
 * nothing. Throws a `StoreError` when the server answers with a problem that only a person can solve.
 */
export async function findArchive(
  settings: StoreSettings,
  meta: ArchivedMeta | undefined,
): Promise<FoundArchive | undefined> {
  const address = findArchiveAddress(settings);
  if (address === undefined) return undefined;
  const { name } = address;
  try {
    const findings = await examinePostgres(settings, meta ?? NO_STORE);
    const bad = findings.find(({ verdict }) => verdict === 'bad');
    if (bad !== undefined) throw new StoreError(`cannot use the archive ${name}: ${bad.says}; ${bad.todo}`);
    return { name, findings, away: undefined };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (isOutage(error)) return { name, findings: [], away: messageOf(error) };
    throw new StoreError(`cannot use the archive ${name}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Occupancy of the configured PostgreSQL: a new store needs an empty database. Creates nothing. Rejects when the server
 * does not answer.
 */
export async function postgresOccupancy(settings: StoreSettings): Promise<Occupancy> {
  return await withPostgres(settings, NO_STORE, 'read', (archive) => archive.occupancy());
}

/**
 * Throws a `FormatError` when the PostgreSQL archive belongs to another store; ignores an archive beside the store.
 * Rejects when the server does not answer.
 */
export async function checkArchiveIdentity(settings: StoreSettings, meta: ArchivedMeta): Promise<void> {
  if (settings.archive === null) return;
  await withPostgres(settings, meta, 'read', (archive) => archive.checkIdentity());
}

/** Check results for the PostgreSQL archive, failures included. Rejects when the server does not answer. */
export async function examinePostgres(settings: StoreSettings, meta: ArchivedMeta): Promise<readonly Finding[]> {
  return await withPostgres(settings, meta, 'write', (archive) => archive.examine());
}

async function withPostgres<T>(
  settings: StoreSettings,
  meta: ArchivedMeta,
  use: 'read' | 'write',
  ask: (archive: PostgresArchive) => Promise<T>,
): Promise<T> {
  const archive = await openPostgres(settings, meta.storeId, { use, tie: tieOf(settings, meta) });
  try {
    return await ask(archive);
  } finally {
    await archive.close();
  }
}
