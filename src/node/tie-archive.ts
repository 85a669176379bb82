import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { isOutage } from '../base/outage-error.js';
import { type ArchiveTie, mustBeTied } from '../store/archive-tie.js';
import type { StoreMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import type { StoreSettings } from './drivers/driver.js';
import { driverOf } from './drivers/drivers.js';
import { checkFolder, findArchiveId, hasArchive, identifyArchive, placeOfArchive } from './drivers/open-archive.js';
import { StoreError } from './store-error.js';

/*
 * An archive has a random id, and the meta record of its store names it. Whoever opens the archive compares the two, so that the
 * rounds of a store are looked for where they were put. The first to write its id into the record wins; whoever comes with
 * another archive is refused.
 */

/** A store, and its record as it was read. */
interface Recorded {
  readonly store: Pick<Store, 'meta'>;
  readonly meta: StoreMeta;
}

/** The tie of the record of a store: what the archive that is opened is compared with. */
export function tieOf(settings: StoreSettings, { archiveId }: Pick<StoreMeta, 'archiveId'>): ArchiveTie {
  return { archiveId, store: driverOf(settings).name };
}

/** The same, which also writes the id of the archive into a record that has none. */
export function writingTieOf(
  settings: StoreSettings,
  { store, meta }: Recorded,
  log: Logger,
): ArchiveTie & Required<Pick<ArchiveTie, 'write'>> {
  const write = async (archiveId: string) => {
    const named = await store.meta.replaceArchive(undefined, archiveId);
    if (named.archiveId === archiveId) {
      log.info({ archive: placeOfArchive(settings), archiveId, storeId: meta.storeId }, 'store tied to its archive');
    }
    return named.archiveId;
  };
  return { ...tieOf(settings, meta), write };
}

/** Throws a `StoreError` when the settings have no archive, and the store has one. */
export function mustHaveArchive(settings: StoreSettings, { archiveId }: Pick<StoreMeta, 'archiveId'>): void {
  if (archiveId === undefined || hasArchive(settings)) return;
  const { name } = driverOf(settings);
  throw new StoreError(
    `the store ${name} has its closed rounds in the archive ${archiveId}, and none is configured: ` +
      'set WALLETD_ARCHIVE to the archive of this store',
  );
}

/** Throws where a start would refuse the archive of a store, as far as that needs no connection. Creates nothing. */
export async function checkTie(settings: StoreSettings, meta: StoreMeta): Promise<void> {
  mustHaveArchive(settings, meta);
  if (settings.archive !== null || !hasArchive(settings)) return;
  await asArchiveProblem(settings, () => checkFolder(settings, meta.storeId, tieOf(settings, meta)));
}

/**
 * Ties the store to the archive of the settings: gives the archive an id and writes it into the record, where either lacks it.
 * Returns the record as it is then. Throws a `StoreError` when the archive is not the one that the record names, or there is none.
 * An archive that does not answer is tied when it is used for the first time.
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

/** A clause about the archive of the settings where it is not the one that the record names; undefined where it is. */
export async function findOther(settings: StoreSettings, meta: StoreMeta): Promise<string | undefined> {
  if (meta.archiveId === undefined || !hasArchive(settings)) return undefined;
  const found = await findArchiveId(settings, meta.storeId);
  if (found === meta.archiveId) return undefined;
  const has = found === undefined ? 'has no id yet' : `is ${found}`;
  return `the archive in ${placeOfArchive(settings)} ${has}, and the store names the archive ${meta.archiveId}`;
}

/**
 * Has the record of a store name the archive of the settings, whatever it named before: for an operator who accepts that the former
 * one is lost. A new, empty archive is made where there is none. Where the settings have no archive, the record names none.
 * Resolves with the id. No server may run on the store.
 */
export async function adoptArchive(settings: StoreSettings, { store, meta }: Recorded): Promise<string | undefined> {
  return await asArchiveProblem(settings, async () => {
    const archiveId = hasArchive(settings) ? await identifyArchive(settings, meta.storeId, {}) : undefined;
    const named = await store.meta.replaceArchive(meta.archiveId, archiveId);
    if (named.archiveId === archiveId) return archiveId;
    throw new StoreError(`the store names the archive ${named.archiveId} since a moment ago: a server runs on it`);
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
