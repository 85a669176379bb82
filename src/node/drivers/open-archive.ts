import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../base/assert.js';
import { maybeStoreKind } from '../../config/store-kinds.js';
import type { Archive } from '../../shard/archive/archive.js';
import type { ArchiveTie } from '../../store/archive-tie.js';
import type { PostgresArchive } from '../../store/postgres/postgres-archive.js';
import { findArchiveAddress } from './archive-address.js';
import type { StoreSettings } from './driver.js';
import { folderOf } from './lmdb-driver.js';

const FOLDER = 'archive';

export function hasArchive({ store, archive }: Pick<StoreSettings, 'store' | 'archive'>): boolean {
  return archive !== null || maybeStoreKind(store) === 'lmdb';
}

type ArchiveSettings = Pick<StoreSettings, 'store' | 'archive' | 'postgres'>;

/**
 * Purpose for which an archive is opened. Only `write` and `repair` need a primary of PostgreSQL. Only `examine` and `repair` open a folder that
 * lacks listed days; `repair` makes the folder where there is none.
 */
export type ArchiveUse = 'read' | 'examine' | 'write' | 'repair';

/** How an archive is opened. */
export interface ArchiveOptions {
  /** As `Driver.openAgain` has it. */
  readonly onStuck?: (why: string) => void;
  readonly use?: ArchiveUse;
  /** Undefined: it need not be the archive that the record of the store names. */
  readonly tie?: ArchiveTie | undefined;
}

/** Opens the archive of a store that is only looked at: one that there is. */
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
 * Opens the archive of a store; undefined where there is none. Throws a `FormatError` when it is that of another store, or not the
 * one of the tie; one in PostgreSQL is asked only when it is used.
 */
export async function openArchive(
  settings: ArchiveSettings,
  storeId: string,
  { onStuck, use = 'write', tie }: ArchiveOptions = {},
): Promise<Archive | undefined> {
  if (settings.archive !== null) return await openPostgres(settings, storeId, { use, tie });
  if (!hasArchive(settings)) return undefined;
  const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
  const gaps = use === 'examine' || use === 'repair' ? 'told' : 'refused';
  return LmdbArchive.open(folderOfArchive(settings.store), storeId, onStuck, gaps, tie);
}

/** The archive in the PostgreSQL of the settings, which name one. */
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
 * Id of the archive of the settings, which have one; makes the archive where there is none, gives it an id where it lacks one, and
 * ties it. Throws a `FormatError` when it is not the one of the tie. `renew`: it gets another id than it has.
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

/** Removes the archive beside a store that is removed, if nothing is in it. One in PostgreSQL stays: a person empties it. */
export async function discardArchive(settings: ArchiveSettings, storeId: string): Promise<void> {
  if (settings.archive !== null) return;
  const archive = await openArchiveToRead(settings, storeId, { use: 'write' });
  if (archive === undefined) return;
  const isEmpty = (await archive.days()).length === 0;
  await archive.close();
  if (isEmpty) rmSync(folderOfArchive(settings.store), { recursive: true });
}

/** Id of the archive of the settings, which have one; undefined where it has none. Creates nothing. */
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

/** Throws a `FormatError` when the archive beside the store is not the one of the tie. Creates nothing. */
export async function checkFolder({ store }: ArchiveSettings, storeId: string, tie: ArchiveTie): Promise<void> {
  const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
  LmdbArchive.check(folderOfArchive(store), storeId, tie);
}

/** For people: where the archive of the settings is, without its password. */
export function placeOfArchive(settings: ArchiveSettings): string {
  return findArchiveAddress(settings)?.name ?? folderOfArchive(settings.store);
}

function folderOfArchive(store: string): string {
  return join(folderOf(store), FOLDER);
}
