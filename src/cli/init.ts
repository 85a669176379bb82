import type { Command } from 'commander';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { driverOf } from '../node/drivers/drivers.js';
import { openStore, RESTORE_ADVICE } from '../node/drivers/open-store.js';
import { asStoreError, NoStoreError, StoreError } from '../node/drivers/store-error.js';
import { findRemembered } from './remembered-store.js';
import { resolved } from './store-address.js';

export function addInit(program: Command): void {
  program
    .command('init')
    .description('create the store; leaves an existing one unchanged')
    .argument(
      '[store]',
      'lmdb:FOLDER, redis://… (default: WALLETD_STORE, which is safer for a password than an argument)',
    )
    .action((store?: string) => init(store));
}

/**
 * Refuses to create a store at an address where a node or server remembers a different one. That store has to be
 * restored instead.
 */
async function refuseWhereRemembered(settings: Settings): Promise<void> {
  const driver = driverOf(settings);
  const store = await driver.open('never').catch((error: Error) => {
    if (error instanceof NoStoreError) return undefined;
    throw error;
  });
  try {
    const found = await store?.meta.tryRead();
    const remembered = await findRemembered(settings, found?.storeId, store);
    if (remembered === undefined) return;
    const what = found === undefined ? 'there is no store' : `there is a different store, ${found.storeId},`;
    throw new StoreError(`${what} at ${driver.name}, and ${remembered}: nothing was created; ${RESTORE_ADVICE}`);
  } catch (error) {
    throw asStoreError(error as Error, driver.name);
  } finally {
    await store?.close();
  }
}

/** Creates the store. Throws if the existing store differs from the settings. */
async function init(address?: string): Promise<void> {
  const env =
    address === undefined ? process.env : { ...process.env, WALLETD_STORE: resolved(address), WALLETD_STORE_FILE: '' };
  const settings = loadSettings(env);
  await refuseWhereRemembered(settings);
  const { store, meta, name, wasCreated } = await openStore(settings, 'auto');
  try {
    // Connect to every master, which loads walletd's Redis functions. The user that later serves the store may not have
    // the right to load them.
    await store.warnings();
  } catch (error) {
    throw asStoreError(error as Error, name);
  } finally {
    await store.close();
  }
  const what = `store ${name}: ${meta.shards} shards, ${meta.scales.default} decimals, id ${meta.storeId}`;
  console.log(wasCreated ? `Created ${what}.` : `There is already a ${what}. Nothing was changed.`);
}
