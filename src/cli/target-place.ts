import type { Driver } from '../node/drivers/driver.js';
import { asStoreError, NoStoreError, StoreError } from '../node/store-error.js';
import { maybeEntry } from '../shard/log/log-reader.js';
import { LSN_ZERO } from '../shard/log/lsn.js';
import type { Head } from '../shard/log/wal.js';
import { FormatError } from '../store/format/format-error.js';
import { formatsOf } from '../store/format/store-formats.js';
import type { StoreMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';

/** Where a restore goes. */
export interface Target {
  /** Undefined when there is nothing, and nothing is to be made. */
  readonly store: Store | undefined;
  /** A store without an event that is in the place; undefined in an empty one. */
  readonly found: FoundStore | undefined;
}

interface FoundStore {
  readonly meta: StoreMeta;
  /** By shard: its log holds fences at most. */
  readonly heads: readonly Head[];
}

/** Each start of a server leaves a fence; a log with more of them than this is looked at by a person. */
const FENCES_MAX = 1000;

/**
 * Opens the place, does the work, and closes it. Throws a `StoreError` when there is a store with an event, and says how to
 * empty it. `isDry`: nothing is made, and nothing can be written.
 */
export async function withTarget<T>(
  driver: Driver,
  isDry: boolean,
  warn: (sentence: string) => void,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  const store = isDry ? await openIfThere(driver) : await driver.open('auto');
  try {
    return await work({ store, found: store && (await foundIn(store, driver, warn)) });
  } finally {
    await store?.close();
  }
}

/** Removes a store without an event from the place. Throws a `StoreError` when it has got one meanwhile. */
export async function emptyTarget(
  { store, found }: Target,
  { name, emptying }: Driver,
  discardArchive: (storeId: string) => Promise<void>,
): Promise<void> {
  if (store === undefined || found === undefined) return;
  const wasRemoved = await store.meta.discard(found.meta, found.heads).catch((error: Error) => {
    throw new StoreError(`the store at ${name}, which has no event, cannot be removed: ${error.message}; ${emptying}`);
  });
  if (!wasRemoved)
    throw new StoreError(`the store at ${name} has been written to meanwhile: a restore would lose that`);
  await discardArchive(found.meta.storeId);
}

async function openIfThere(driver: Driver): Promise<Store | undefined> {
  try {
    return await driver.openToRead();
  } catch (error) {
    if (error instanceof NoStoreError) return undefined;
    throw error;
  }
}

async function foundIn(
  store: Store,
  { name, emptying }: Driver,
  warn: (sentence: string) => void,
): Promise<FoundStore | undefined> {
  try {
    const meta = await store.meta.maybeRead();
    if (meta === undefined) return undefined;
    const heads = await headsWithoutEvent(store, meta);
    if (heads !== undefined) return { meta, heads };
    throw new StoreError(`there is a store at ${name} already, ${meta.storeId}: a restore needs an empty place`);
  } catch (error) {
    // Whatever else it is, such as an outage, says nothing about what is there.
    if (error instanceof StoreError || error instanceof FormatError) {
      warn(`what is at ${name} can be emptied, if nobody needs it: ${emptying}`);
    }
    throw asStoreError(error as Error, name);
  }
}

/** The heads of all logs, read before their entries; undefined when there is an event, or a snapshot. */
async function headsWithoutEvent(store: Store, meta: StoreMeta): Promise<Head[] | undefined> {
  const { format } = formatsOf(meta);
  const heads: Head[] = [];
  for (let shard = 0; shard < meta.shards; shard++) {
    heads.push(await store.wal.head(shard));
    const entries = await store.wal.read(shard, LSN_ZERO, FENCES_MAX);
    const isFence = (bytes: Buffer) => {
      const owner = maybeEntry(bytes, format)?.owner;
      return owner !== undefined && owner.afterLoss !== true;
    };
    if (entries.length === FENCES_MAX || !entries.every(isFence)) return undefined;
    if ((await store.snapshots.snapshots(shard)).length > 0) return undefined;
    if (heads[shard]?.lsn.sequence !== entries.length) return undefined;
  }
  return heads;
}
