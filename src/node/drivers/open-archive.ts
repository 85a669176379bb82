import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../base/assert.js';
import { findStoreKind } from '../../config/store-kinds.js';
import type { Archive } from '../../ports/archive.js';
import type { ArchiveTie } from '../../store/archive-tie.js';
import type { PostgresArchive } from '../../store/postgres/postgres-archive.js';
import { findArchiveAddress } from './archive-address.js';
import type { StoreSettings } from './driver.js';
import { folderOf } from './lmdb-driver.js';

const FOLDER = 'archive';

export function hasArchive({ store, archive }: Pick<StoreSettings, 'store' | 'archive'>): boolean {
  return archive !== null || findStoreKind(store) === 'lmdb';
}

type ArchiveSettings = Pick<StoreSettings, 'store' | 'archive' | 'postgres'>;

/**
 * The purpose for which an archive is opened. `write` and `repair` need a PostgreSQL primary; `read` and `examine` do
 * not. A folder that lacks listed days can be opened only for `examine` and `repair`. `repair` creates a missing
 * folder.
 */
export type ArchiveUse = 'read' | 'examine' | 'write' | 'repair';

/** Options for opening an archive. */
export interface ArchiveOptions {
  /** See `Driver.openAgain`. */
  readonly onStuck?: (why: string) => void;
  readonly use?: ArchiveUse;
  /** The tie in the store's record. If it is undefined, the archive is not compared with the record. */
  readonly tie?: ArchiveTie | undefined;
}

/** Opens the existing archive of a store for reading. */
export async function openArchiveToRead(
  settings: ArchiveSettings,
  storeId: string,
  options: ArchiveOptions = { use: 'read' },
): Promise<Archive | undefined> {
  const isFolder = settings.archive === null && hasArchive(settings);
  if (isFolder && options.use !== 'repair' && !existsSync(folderOfArchive(settings.store))) return undefined;
  return await openArchive(settings, storeId, options);
}

/**
 * Opens the store's archive; undefined if there is none. Throws a `FormatError` if the archive belongs to a different
 * store or does not match the tie. A PostgreSQL archive is checked when it is first used.
 */
export async function openArchive(
  settings: ArchiveSettings,
  storeId: string,
  { onStuck, use = 'write', tie }: ArchiveOptions = {},
): Promise<Archive | undefined> {
  if (settings.archive !== null) return await openPostgres(settings, storeId, { use, tie });
  if (!hasArchive(settings)) return undefined;
  const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
  const gaps = use === 'examine' || use === 'repair' ? 'reported' : 'refused';
  return LmdbArchive.open(folderOfArchive(settings.store), storeId, onStuck, gaps, tie);
}

/** Opens the PostgreSQL archive that the settings name. */
export async function openPostgres(
  { archive, postgres }: Pick<StoreSettings, 'archive' | 'postgres'>,
  storeId: string,
  { use, tie }: Pick<ArchiveOptions, 'use' | 'tie'>,
): Promise<PostgresArchive> {
  const { PostgresArchive } = await import('../../store/postgres/postgres-archive.js');
  const isReadOnly = use === 'read' || use === 'examine';
  return new PostgresArchive(archive as string, storeId, { ...postgres, isReadOnly }, tie);
}

/**
 * The ID of the configured archive. Creates a missing archive, assigns an ID if it has none, and ties it. Throws a
 * `FormatError` if the archive does not match the tie. `renew` replaces the ID.
 */
export async function identifyArchive(
  settings: ArchiveSettings,
  storeId: string,
  { tie, renew = false }: Pick<ArchiveOptions, 'tie'> & { readonly renew?: boolean },
): Promise<string> {
  if (settings.archive === null) {
    const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
    const folder = folderOfArchive(settings.store);
    return renew ? LmdbArchive.renew(folder, storeId) : LmdbArchive.identify(folder, storeId, tie);
  }
  const archive = await openPostgres(settings, storeId, { use: 'write', tie });
  try {
    return must(renew ? await archive.renew() : await archive.identify(), 'an archive that is written to has an id');
  } finally {
    await archive.close();
  }
}

/**
 * Removes the archive folder of a store that is being removed, provided that the archive is empty. A PostgreSQL archive
 * is kept, and the operator must empty it.
 */
export async function discardArchive(settings: ArchiveSettings, storeId: string): Promise<void> {
  if (settings.archive !== null) return;
  const archive = await openArchiveToRead(settings, storeId, { use: 'write' });
  if (archive === undefined) return;
  const isEmpty = (await archive.days()).length === 0;
  await archive.close();
  if (isEmpty) rmSync(folderOfArchive(settings.store), { recursive: true });
}

/** The ID of the configured archive; undefined if the archive has none yet. Creates nothing. */
export async function findArchiveId(settings: ArchiveSettings, storeId: string): Promise<string | undefined> {
  if (settings.archive === null) {
    const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
    return LmdbArchive.findId(folderOfArchive(settings.store), storeId);
  }
  const archive = await openPostgres(settings, storeId, { use: 'read' });
  try {
    return await archive.findId();
  } finally {
    await archive.close();
  }
}

/** Throws a `FormatError` if the archive next to the store does not match the tie. Creates nothing. */
export async function checkFolder({ store }: ArchiveSettings, storeId: string, tie: ArchiveTie): Promise<void> {
  const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
  LmdbArchive.check(folderOfArchive(store), storeId, tie);
}

/** The human-readable location of the configured archive, without its password. */
export function placeOfArchive(settings: ArchiveSettings): string {
  return findArchiveAddress(settings)?.name ?? folderOfArchive(settings.store);
}

function folderOfArchive(store: string): string {
  return join(folderOf(store), FOLDER);
}
