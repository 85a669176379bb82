import type { Command } from 'commander';
import { loadSettings } from '../config/load.js';
import { openStore } from '../node/open-store.js';
import { resolved } from './store-address.js';

export function addInit(program: Command): void {
  program
    .command('init')
    .description('create the store; changes nothing if there is one')
    .argument(
      '[store]',
      'lmdb:FOLDER, redis://… (default: WALLETD_STORE; a password is safer there than in an argument)',
    )
    .action((store?: string) => init(store));
}

/** Throws when there is a store already that differs from the settings. */
async function init(address?: string): Promise<void> {
  const env =
    address === undefined ? process.env : { ...process.env, WALLETD_STORE: resolved(address), WALLETD_STORE_FILE: '' };
  const { store, meta, name, wasCreated } = await openStore(loadSettings(env), 'auto');
  await store.close();
  const what = `store ${name}: ${meta.shards} shards, ${meta.scales.default} decimals, id ${meta.storeId}`;
  console.log(wasCreated ? `Created ${what}.` : `There is already a ${what}. Nothing was changed.`);
}
