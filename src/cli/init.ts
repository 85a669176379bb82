import { loadSettings } from '../config/load.js';
import { openStore } from '../node/open-store.js';
import { resolved } from './store-address.js';

/** Creates the store of the settings; where it is there already, says so. Throws where it is there and differs. */
export async function init(address?: string): Promise<void> {
  const env =
    address === undefined ? process.env : { ...process.env, WALLETD_STORE: resolved(address), WALLETD_STORE_FILE: '' };
  const { store, meta, name, wasCreated } = await openStore(loadSettings(env), 'auto');
  await store.close();
  const what = `store ${name}: ${meta.shards} shards, ${meta.scales.default} decimals, id ${meta.storeId}`;
  console.log(wasCreated ? `Created ${what}.` : `There is already a ${what}. Nothing was changed.`);
}
