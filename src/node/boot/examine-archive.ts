import { messageOf } from '../../base/message-of.js';
import { isOutage } from '../../base/outage-error.js';
import type { StoreMeta } from '../../store/meta.js';
import type { Occupancy } from '../../store/postgres/examine-archive.js';
import type { PostgresArchive } from '../../store/postgres/postgres-archive.js';
import type { CheckResult } from '../../store/store.js';
import { findArchiveAddress } from '../drivers/archive-address.js';
import type { StoreSettings } from '../drivers/driver.js';
import { openPostgres } from '../drivers/open-archive.js';
import { StoreError } from '../drivers/store-error.js';
import { tieOf } from '../drivers/tie-archive.js';

/** The state of a PostgreSQL archive at startup. */
export interface FoundArchive {
  /** The human-readable address of the archive, without the password. */
  readonly name: string;
  /** Check results. Empty if the archive does not respond. */
  readonly findings: readonly CheckResult[];
  /**
   * The reason why the archive does not respond; undefined if it does. A start continues without the archive and tries
   * again later.
   */
  readonly away: string | undefined;
}

/** Meta record with an ID that no store has. */
const NO_STORE = { storeId: '' };

/** The part of a store's meta record that identifies its archive. */
export type ArchivedMeta = Pick<StoreMeta, 'storeId' | 'archiveId'>;

/**
 * Checks everything that walletd must know before it relies on the configured PostgreSQL, for `serve` and `serve
 * --check`. Undefined if the archive is not in PostgreSQL. `meta` is undefined if there is no store yet. Creates
 * nothing. Throws a `StoreError` if the server reports a problem that needs an operator.
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
 * Contents of the configured PostgreSQL database, which must be empty for a new store. Creates nothing. Rejects if the
 * server does not respond.
 */
export async function postgresOccupancy(settings: StoreSettings): Promise<Occupancy> {
  return await withPostgres(settings, NO_STORE, 'read', (archive) => archive.occupancy());
}

/**
 * Throws a `FormatError` if the PostgreSQL archive belongs to a different store. Ignores an archive folder next to the
 * store. Rejects if the server does not respond.
 */
export async function checkArchiveIdentity(settings: StoreSettings, meta: ArchivedMeta): Promise<void> {
  if (settings.archive === null) return;
  await withPostgres(settings, meta, 'read', (archive) => archive.checkIdentity());
}

/** Check results for the PostgreSQL archive, including failures. Rejects if the server does not respond. */
export async function examinePostgres(settings: StoreSettings, meta: ArchivedMeta): Promise<readonly CheckResult[]> {
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
