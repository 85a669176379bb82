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

type ArchiveSettings = Pick<StoreSettings, 'store' | 'archive' | 'postgres'>;

/**
 * What an archive is opened for. Only `write` and `repair` need a primary of PostgreSQL. Only `examine` and `repair` open a folder that
 * lacks listed days; `repair` makes the folder where there is none.
 */
export type ArchiveUse = 'read' | 'examine' | 'write' | 'repair';

/** Opens the archive of a store that is only looked at: one that there is. */
export async function openArchiveToRead(
  settings: ArchiveSettings,
  storeId: string,
  use: ArchiveUse,
): Promise<Archive | undefined> {
  const isFolder = settings.archive === null && hasArchive(settings);
  if (isFolder && use !== 'repair' && !existsSync(folderOfArchive(settings.store))) return undefined;
  return await openArchive(settings, storeId, undefined, use);
}

/**
 * Opens the archive of a store; undefined where there is none. `onStuck` as `Driver.openAgain` has it. Throws a `FormatError`
 * when it is that of another store; one in PostgreSQL is asked only when it is used.
 */
export async function openArchive(
  { store, archive, postgres }: ArchiveSettings,
  storeId: string,
  onStuck: (why: string) => void = () => {},
  use: ArchiveUse = 'write',
): Promise<Archive | undefined> {
  if (archive !== null) {
    const { PostgresArchive } = await import('../../store/postgres/postgres-archive.js');
    return new PostgresArchive(archive, storeId, { ...postgres, isReadOnly: use === 'read' || use === 'examine' });
  }
  if (maybeStoreKind(store) !== 'lmdb') return undefined;
  const { LmdbArchive } = await import('../../store/lmdb/lmdb-archive.js');
  return LmdbArchive.open(
    folderOfArchive(store),
    storeId,
    onStuck,
    use === 'examine' || use === 'repair' ? 'told' : 'refused',
  );
}

/** Removes the archive beside a store that is removed, if nothing is in it. One in PostgreSQL stays: a person empties it. */
export async function discardArchive(settings: ArchiveSettings, storeId: string): Promise<void> {
  if (settings.archive !== null) return;
  const archive = await openArchiveToRead(settings, storeId, 'write');
  if (archive === undefined) return;
  const isEmpty = (await archive.days()).length === 0;
  await archive.close();
  if (isEmpty) rmSync(folderOfArchive(settings.store), { recursive: true });
}

function folderOfArchive(store: string): string {
  return join(folderOf(store), FOLDER);
}
