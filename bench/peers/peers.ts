import type { LoadReport } from '../load/load.js';
import { announce, type RaceSettings, race } from '../load/race.js';
import { withCleanUp } from '../support/clean-up.js';
import { startEcho, startPeer, startWalletd } from '../support/servers.js';
import { type Durability, startStore } from '../support/store.js';

export interface PeersSettings extends RaceSettings {
  readonly durability: Durability;
}

/** walletd beside what a team would build first, on the same Redis with the same durability. */
export function runPeers(settings: PeersSettings): Promise<LoadReport> {
  return withCleanUp(async () => {
    const store = await startStore({ ...settings, store: 'redis' });
    announce(store, settings);
    const lua = await startPeer('fastify + lua', 'fastify-lua', store.redisUrl as string);
    const raced = await race([lua, await startWalletd(store, 0), await startEcho()], settings);
    return { durability: store.durability, raced };
  });
}
