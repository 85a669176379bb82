import { withCleanUp } from '../support/clean-up.js';
import { type Server, startEcho, startWalletd } from '../support/servers.js';
import { type StoreKind, startStore } from '../support/store.js';
import { announce, type RaceSettings, race } from './race.js';

export interface LoadSettings extends RaceSettings {
  readonly store: StoreKind;
  /** Counts of worker threads, each measured by itself; 0 is inline. */
  readonly workers: readonly number[];
}

/** Throughput and latency of walletd beside an echo server. */
export function runLoad(settings: LoadSettings): Promise<void> {
  return withCleanUp(async () => {
    const store = await startStore(settings.store, settings.folder);
    announce(store, settings);
    const servers: Server[] = [await startEcho()];
    for (const workers of settings.workers) servers.push(await startWalletd(store, workers));
    await race(servers, settings);
  });
}
