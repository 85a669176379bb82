import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import { isOutage } from '../../base/outage-error.js';
import { type ArchiveTie, mustBeTied } from '../../store/archive-tie.js';
import type { StoreMeta } from '../../store/meta.js';
import type { Store } from '../../store/store.js';
import type { StoreSettings } from './driver.js';
import { driverOf } from './drivers.js';
import { checkFolder, findArchiveId, hasArchive, identifyArchive, placeOfArchive } from './open-archive.js';
import { StoreError } from './store-error.js';

/**
 * This file ties a store to its archive. An archive has a random ID, which the store's meta record also contains. Every
 * process that opens the archive compares the two IDs, so that closed rounds are read from the archive to which they
 * were written. If several processes write an ID into the record at the same time, the first one wins, and a process
 * with a different archive is refused.
 */

/** A store with its meta record as it was read. */
interface Recorded {
  readonly store: Pick<Store, 'meta'>;
  readonly meta: StoreMeta;
}

/** The tie in a store's record. An archive that is opened is compared with it. */
export function tieOf(settings: StoreSettings, { archiveId }: Pick<StoreMeta, 'archiveId'>): ArchiveTie {
  return { archiveId, store: driverOf(settings).name };
}

/** Like `tieOf`, but if the record has no archive ID yet, also writes the ID of the archive into it. */
export function writingTieOf(
  settings: StoreSettings,
  { store, meta }: Recorded,
  log: Logger,
): ArchiveTie & Required<Pick<ArchiveTie, 'write'>> {
  const write = async (archiveId: string) => {
    const named = await store.meta.replaceArchive(undefined, archiveId);
    if (named.archiveId === archiveId) {
      log.info({ archive: placeOfArchive(settings), archiveId, storeId: meta.storeId }, 'store linked to its archive');
    }
    return named.archiveId;
  };
  return { ...tieOf(settings, meta), write };
}

/** Throws a `StoreError` if the store has an archive but the settings name none. */
export function mustHaveArchive(settings: StoreSettings, { archiveId }: Pick<StoreMeta, 'archiveId'>): void {
  if (archiveId === undefined || hasArchive(settings)) return;
  const { name } = driverOf(settings);
  throw new StoreError(
    `the closed rounds of the store ${name} are in the archive ${archiveId}, but no archive is configured: ` +
      'set WALLETD_ARCHIVE to the archive of this store',
  );
}

/**
 * Throws if a start would refuse the store's archive, as far as this is known without connecting to it. Creates
 * nothing.
 */
export async function checkTie(settings: StoreSettings, meta: StoreMeta): Promise<void> {
  mustHaveArchive(settings, meta);
  if (settings.archive !== null || !hasArchive(settings)) return;
  await asArchiveProblem(settings, () => checkFolder(settings, meta.storeId, tieOf(settings, meta)));
}

/**
 * Ties the store to the configured archive. Assigns the archive an ID and writes it into the record if either is
 * missing. Returns the updated record. Throws a `StoreError` if the archive is missing or differs from the one in the
 * record. If the archive is unreachable, the store is tied to it when it is first used.
 */
export async function tieArchive(settings: StoreSettings, { store, meta }: Recorded, log: Logger): Promise<StoreMeta> {
  await checkTie(settings, meta);
  if (meta.archiveId !== undefined || !hasArchive(settings)) return meta;
  return await asArchiveProblem(settings, async () => {
    const tie = writingTieOf(settings, { store, meta }, log);
    const found = await identifyArchive(settings, meta.storeId, {});
    const archiveId = await tie.write(found);
    mustBeTied({ ...tie, archiveId }, found, placeOfArchive(settings));
    return { ...meta, archiveId: found };
  });
}

/**
 * A clause for an error message which says that the configured archive is not the one in the record; undefined if it
 * is.
 */
export async function findOther(settings: StoreSettings, meta: StoreMeta): Promise<string | undefined> {
  if (meta.archiveId === undefined || !hasArchive(settings)) return undefined;
  const found = await findArchiveId(settings, meta.storeId);
  if (found === meta.archiveId) return undefined;
  const has = found === undefined ? 'has no id yet' : `is ${found}`;
  return `the archive in ${placeOfArchive(settings)} ${has}, but the store names the archive ${meta.archiveId}`;
}

/**
 * Ties the store to the configured archive, even if the record names a different one. Used when an operator accepts the
 * loss of the previous archive. Creates an empty archive if there is none. If the settings name no archive, clears the
 * record's archive ID. Resolves with the ID. No server may be running on the store.
 */
export async function adoptArchive(settings: StoreSettings, { store, meta }: Recorded): Promise<string | undefined> {
  return await asArchiveProblem(settings, async () => {
    const archiveId = hasArchive(settings) ? await identifyArchive(settings, meta.storeId, {}) : undefined;
    const named = await store.meta.replaceArchive(meta.archiveId, archiveId);
    if (named.archiveId === archiveId) return archiveId;
    throw new StoreError(
      `the store names the archive ${named.archiveId} as of a moment ago: a server is running on it`,
    );
  });
}

async function asArchiveProblem<T>(settings: StoreSettings, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StoreError || isOutage(error)) throw error;
    throw new StoreError(`cannot use the archive ${placeOfArchive(settings)}: ${messageOf(error)}`, { cause: error });
  }
}
