import { announce, type RaceSettings, race } from '../load/race.js';
import { withCleanUp } from '../support/clean-up.js';
import { startEcho, startPeer, startWalletd } from '../support/servers.js';
import { startStore } from '../support/store.js';

/** walletd beside what a team would build first, on the same Redis with the same durability. */
export function runPeers(settings: RaceSettings): Promise<void> {
  return withCleanUp(async () => {
    const store = await startStore('redis', settings.folder);
    announce(store, settings);
    const lua = await startPeer('fastify + lua', 'fastify-lua', store.redisUrl as string);
    await race([lua, await startWalletd(store, 0), await startEcho()], settings);
  });
}
