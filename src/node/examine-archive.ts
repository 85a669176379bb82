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

/** An archive in PostgreSQL as a start finds it. */
export interface FoundArchive {
  /** For people: its address without the password. */
  readonly name: string;
  /** Empty while it is away. */
  readonly findings: readonly Finding[];
  /** Reason why it does not answer; undefined when it does. A start goes on without it, and asks again. */
  readonly away: string | undefined;
}

/** No store has this id. */
const NO_STORE = { storeId: '' };

/** Record of a store, as far as it says which archive is its own. */
export type ArchivedMeta = Pick<StoreMeta, 'storeId' | 'archiveId'>;

/**
 * Asks the PostgreSQL of the settings what walletd has to know before it relies on it, for `serve` and `serve --check` alike;
 * undefined where the archive is not in PostgreSQL. `meta`: undefined where there is no store yet. Creates nothing. Throws a
 * `StoreError` when the server answers, and what it says stays wrong until a person changes something.
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
 * Occupancy of the PostgreSQL of the settings: a new store needs an empty database. Creates nothing. Rejects when it does not
 * answer.
 */
export async function postgresOccupancy(settings: StoreSettings): Promise<Occupancy> {
  return await withPostgres(settings, NO_STORE, 'read', (archive) => archive.occupancy());
}

/**
 * Throws a `FormatError` when the archive in PostgreSQL is not that of this store; says nothing of an archive beside the store.
 * Rejects when it does not answer.
 */
export async function checkArchiveIdentity(settings: StoreSettings, meta: ArchivedMeta): Promise<void> {
  if (settings.archive === null) return;
  await withPostgres(settings, meta, 'read', (archive) => archive.checkIdentity());
}

/** Findings about the archive in PostgreSQL, the bad ones too. Rejects when it does not answer. */
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
