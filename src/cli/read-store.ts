import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Settings } from '../config/schema.js';
import { openAsItIs } from '../node/open-store.js';
import { formatsOf } from '../store/format/store-formats.js';
import type { StoreMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import { patientSource } from '../tools/patience.js';
import type { StoreReader } from '../tools/store-reader.js';
import { ScaleTable } from '../wallet/amount.js';
import { shardOf } from '../worker/placement.js';
import { Progress } from './print/progress.js';
import { STORE_ADDRESS_HELP, settingsToRead } from './store-address.js';

/** A store that is only looked at. Shards and scales are those that it was created with. */
export interface ReadStore {
  readonly reader: StoreReader;
  /** The same without patience, for who waits for better weather by himself. */
  readonly live: StoreReader;
  readonly meta: StoreMeta;
  /** For people: what and where it is. */
  readonly name: string;
  readonly settings: Settings;
  readonly progress: Progress;
}

/** Gives a verb the option that names the store, and its help. */
export function readsStore(command: Command, example: string): Command {
  return command
    .option('--store <store>', 'the store (default: WALLETD_STORE)')
    .addHelpText('after', `\n${STORE_ADDRESS_HELP}\n\nExample:\n  ${example}`);
}

/**
 * Opens the store, does the work, and closes it. Throws a `ConfigError` when the address is none, a `StoreError` when
 * there is no store or it cannot be reached. `what` is done is said beside the bar.
 */
export async function withStoreToRead<T>(
  address: string | undefined,
  what: string,
  work: (opened: ReadStore) => Promise<T>,
): Promise<T> {
  const settings = settingsToRead(address);
  const { store, meta, name } = await openAsItIs(settings);
  const progress = new Progress(what, true);
  try {
    const live = readerOf(store, meta);
    const reader = patientSource(live, progress.patience);
    return await work({ reader, live, meta, name, settings, progress });
  } finally {
    progress.stop();
    await store.close();
  }
}

export function readerOf(store: Store, meta: StoreMeta): StoreReader {
  return {
    ...formatsOf(meta),
    scales: new ScaleTable(meta.scales),
    wal: store,
    snapshots: store,
    shardOf: (username) => shardOf(username, meta.shards),
    yieldTurn,
  };
}
