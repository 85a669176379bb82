import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';
import { STORE_FORMS } from '../config/store-kinds.js';
import type { ArchiveUse } from '../node/drivers/open-archive.js';
import { type ArchivedStore, openExisting } from '../node/drivers/open-store.js';
import { readerOf } from '../node/settings/reader-of.js';
import { openFormats } from '../store/format/store-formats.js';
import { decodeMeta, type StoreMeta } from '../store/meta.js';
import { sourceWithRetry } from '../tools/source-with-retry.js';
import type { StoreReader } from '../tools/store-reader.js';
import { findBackupFile } from './backup-input.js';
import type { Progress } from './print/progress.js';
import { isStoreAddress, settingsToRead, settingsToReadFile } from './store-address.js';

/** A store opened for reading. The shard count and the scales are those with which the store was created. */
export interface ReadStore {
  /** Retries reads that fail during an outage of a few seconds, and reports each retry. */
  readonly reader: StoreReader;
  /** Does not retry. For work that resumes by itself after an outage. */
  readonly live: StoreReader;
  readonly meta: StoreMeta;
  /** The human-readable kind and place of the store. */
  readonly name: string;
  readonly settings: Settings;
  readonly progress: Progress;
}

/** The option with which a read-only command selects its store, for `command.option(...STORE_OPTION)`. */
export const STORE_OPTION = [
  '--store <store>',
  'a store, a backup file, or a folder of --rotate (default: WALLETD_STORE)',
] as const;

/**
 * Opens the configured store, does the work, and closes the store. Throws a `StoreError` if the store cannot be opened.
 */
export async function withStore<T>(
  settings: Settings,
  work: (opened: ArchivedStore) => Promise<T>,
  use: ArchiveUse | 'look' = 'write',
): Promise<T> {
  const opened = await openExisting(settings, use);
  try {
    return await work(opened);
  } finally {
    await opened.archive?.close();
    await opened.store.close();
  }
}

/**
 * Opens a store for read-only work: the store at an address, the configured store, or a backup. The progress bar stops
 * when the work ends. Throws a `ConfigError` if the address is invalid.
 */
export async function withStoreToRead<T>(
  address: string | undefined,
  progress: Progress,
  work: (opened: ReadStore) => Promise<T>,
  use: 'read' | 'examine' = 'read',
): Promise<T> {
  if (address !== undefined && !isStoreAddress(address)) {
    const backup = await findBackupFile(address);
    // The message omits the argument, which can contain a password.
    if (backup === undefined)
      throw new ConfigError(`the argument is neither a STORE (${STORE_FORMS}, or env:NAME) nor a backup`);
    return await withBackupToRead(backup, progress, work);
  }
  const settings = settingsToRead(address);
  const read = async ({ store, meta, name, archive }: ArchivedStore) => {
    const live = readerOf(store, meta, archive);
    const reader = sourceWithRetry(live, progress.retryPolicy);
    return await work({ reader, live, meta, name, settings, progress }).finally(() => progress.stop());
  };
  return await withStore(settings, read, use);
}

async function withBackupToRead<T>(
  path: string,
  progress: Progress,
  work: (opened: ReadStore) => Promise<T>,
): Promise<T> {
  const { BackupStore } = await import('../tools/backup/backup-store.js');
  const store = await BackupStore.open(path, openFormats, progress.update);
  try {
    const meta = decodeMeta(store.whole.meta);
    const reader = readerOf(store, meta, store.archive);
    const settings = settingsToReadFile();
    if (store.whole.cutBytes > 0) progress.warn(`the last segment of ${path} was cut off, and is left out`);
    return await work({ reader, live: reader, meta, name: path, settings, progress });
  } finally {
    progress.stop();
    await store.close();
  }
}
