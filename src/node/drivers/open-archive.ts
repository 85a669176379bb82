import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { maybeStoreKind } from '../../config/store-kinds.js';
import type { Archive } from '../../shard/archive/archive.js';
import type { StoreSettings } from './driver.js';
import { folderOf } from './lmdb-driver.js';

const FOLDER = 'archive';

export function hasArchive({ store, archive }: Pick<StoreSettings, 'store' | 'archive'>): boolean {
  return archive !== null || maybeStoreKind(store) === 'lmdb';
}

/** Opens the archive of a store that is only looked at: one that there is. */
export async function openArchiveToRead(
  settings: Pick<StoreSettings, 'store' | 'archive'>,
  storeId: string,
): Promise<Archive | undefined> {
  const isFolder = settings.archive === null && hasArchive(settings);
  if (isFolder && !existsSync(folderOfArchive(settings.store))) return undefined;
  return await openArchive(settings, storeId);
}

/**
 * Opens the archive of a store; undefined where there is none. `onStuck` as `Driver.openAgain` has it. Throws a `FormatError`
 * when it is that of another store; one in PostgreSQL is asked only when it is used.
 */
export async function openArchive(
  { store, archive }: Pick<StoreSettings, 'store' | 'archive'>,
  storeId: string,
  onStuck: (why: string) => void = () => {},
): Promise<Archive | undefined> {
  if (archive !== null) {
    const { PostgresArchive } = await import('../../store/postgres/postgres-archive.js');
    return new PostgresArchive(archive, storeId);
  }
  if (maybeStoreKind(store) !== 'lmdb') return undefined;
  const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
  return LmdbArchive.open(folderOfArchive(store), storeId, onStuck);
}

/** Removes the archive beside a store that is removed, if nothing is in it. One in PostgreSQL stays: a person empties it. */
export async function discardArchive(
  settings: Pick<StoreSettings, 'store' | 'archive'>,
  storeId: string,
): Promise<void> {
  if (settings.archive !== null) return;
  const archive = await openArchiveToRead(settings, storeId);
  if (archive === undefined) return;
  const isEmpty = (await archive.days()).length === 0;
  await archive.close();
  if (isEmpty) rmSync(folderOfArchive(settings.store), { recursive: true });
}

function folderOfArchive(store: string): string {
  return join(folderOf(store), FOLDER);
}
