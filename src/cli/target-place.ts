import { tryEntry } from '../log/log-reader.js';
import type { Driver } from '../node/drivers/driver.js';
import { asStoreError, NoStoreError, StoreError } from '../node/drivers/store-error.js';
import { LSN_ZERO } from '../ports/lsn.js';
import type { Head } from '../ports/wal.js';
import { FormatError } from '../store/format/format-error.js';
import { formatsOf } from '../store/format/store-formats.js';
import type { StoreMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';

/** The place into which a restore writes. */
export interface Target {
  /** Undefined if the place is empty; `withOpenedTarget` then creates the store. */
  readonly store: Store | undefined;
  /** The store in the place; undefined if the place is empty. */
  readonly found: FoundStore | undefined;
}

export interface FoundStore {
  readonly meta: StoreMeta;
  /** The newest entry of each log, by shard. */
  readonly heads: readonly Head[];
  /** False if there is no snapshot and the logs hold nothing but fences, so that a restore may replace the store. */
  readonly hasEvents: boolean;
}

/**
 * Each startup of a server appends a fence. A log with this many fences counts as having events, so that an operator
 * has to examine it.
 */
const FENCES_MAX = 1000;

/**
 * Opens the place, does the work, and closes the place. Creates nothing in an empty place, so that all checks of a
 * restore come before its first write. Checks the database server in the same way as walletd does at startup. Throws a
 * `StoreError` if the place cannot be used.
 */
export async function withTarget<T>(
  driver: Driver,
  warn: (sentence: string) => void,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  const store = await openIfThere(driver);
  try {
    return await work({ store, found: store && (await foundIn(store, driver, warn)) });
  } finally {
    await store?.close();
  }
}

/**
 * Does the work on the store to write to. In an empty place the store is created here, which is the first write of a
 * restore.
 */
export async function withOpenedTarget<T>(
  { store }: Target,
  driver: Driver,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  if (store !== undefined) return await work(store);
  const made = await driver.open('auto');
  try {
    return await work(made);
  } finally {
    await made.close();
  }
}

/**
 * Empties a place whose store has no events. Throws a `StoreError` if the store has received an event in the meantime.
 */
export async function emptyTarget(
  { store, found }: Target,
  { name, emptying }: Driver,
  discardArchive: (storeId: string) => Promise<void>,
): Promise<void> {
  if (store === undefined || found === undefined) return;
  const wasRemoved = await store.meta.discard(found.meta, found.heads).catch((error: Error) => {
    throw new StoreError(`the store at ${name}, which has no events, cannot be removed: ${error.message}; ${emptying}`);
  });
  if (!wasRemoved)
    throw new StoreError(
      `the store at ${name} has been written to in the meantime: a restore would lose those entries`,
    );
  await discardArchive(found.meta.storeId);
}

async function openIfThere(driver: Driver): Promise<Store | undefined> {
  try {
    return await driver.open('never');
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
    const meta = await store.meta.tryRead();
    return meta && { meta, ...(await logsOf(store, meta)) };
  } catch (error) {
    // Explain how to empty the place only for these errors. Any other error, such as an outage, reveals nothing about
    // its contents.
    if (error instanceof StoreError || error instanceof FormatError) warn(mayBeEmptied(name, emptying));
    throw asStoreError(error as Error, name);
  }
}

export function mayBeEmptied(name: string, emptying: string): string {
  return `if the data at ${name} is no longer needed, ${emptying}`;
}

/** Reads the heads of all logs before their entries, and finds out whether there is an event or a snapshot. */
async function logsOf(store: Store, meta: StoreMeta): Promise<Pick<FoundStore, 'heads' | 'hasEvents'>> {
  const { format } = formatsOf(meta);
  const heads: Head[] = [];
  for (let shard = 0; shard < meta.shards; shard++) heads.push(await store.wal.head(shard));
  const isFence = (bytes: Buffer) => {
    const owner = tryEntry(bytes, format)?.owner;
    return owner !== undefined && owner.afterLoss !== true;
  };
  for (const [shard, head] of heads.entries()) {
    const entries = await store.wal.read(shard, LSN_ZERO, FENCES_MAX);
    const hasFencesOnly = entries.length < FENCES_MAX && entries.every(isFence);
    const isComplete = head.lsn.sequence === entries.length;
    const hasSnapshots = (await store.snapshots.snapshots(shard)).length > 0;
    if (!hasFencesOnly || !isComplete || hasSnapshots) return { heads, hasEvents: true };
  }
  return { heads, hasEvents: false };
}
