import { systemClock } from '../base/clock.js';
import type { Settings } from '../config/schema.js';
import { aliasesOf } from './aliases.js';
import { callersOf, describeCallers } from './callers.js';
import { Certificates } from './certificates.js';
import { driverOf } from './drivers/drivers.js';
import { memoryShare } from './heap.js';
import { initOf, openStore, recordOf } from './open-store.js';
import { NoStoreError } from './store-error.js';

/**
 * What a start with these settings would refuse, short of taking the store over and listening: keys, networks,
 * certificates, memory, the store and what it was created with. Throws as the start would; returns sentences about the
 * rest. Nothing is created, and no owner is disturbed.
 */
export async function checkStart(settings: Settings): Promise<readonly string[]> {
  callersOf(settings);
  aliasesOf(settings);
  const certificates = new Certificates(settings, systemClock).concerns();
  memoryShare(settings);
  const { name } = driverOf(settings);
  const first = [`Callbacks: ${describeCallers(settings)}.`, ...certificates.map((one) => `${one}.`)];
  try {
    const { store, meta, durability } = await openStore(settings, 'never', recordOf(settings));
    const concerns = await store.concerns();
    await store.close();
    return [...first, `Store ${name}: id ${meta.storeId}, ${meta.shards} shards; ${durability}.`, ...concerns];
  } catch (error) {
    if (!(error instanceof NoStoreError) || initOf(settings) === 'never') throw error;
    return [...first, `Store ${name}: there is none yet; the start creates it.`];
  }
}
