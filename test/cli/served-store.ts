import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

export const PLAYERS = ['ann', 'bob', 'cat', 'dan'];

export interface Served {
  readonly env: Record<string, string>;
  readonly server: WalletdProcess;
  readonly folder: string;
}

/** Runs a server with four players and some bets, so that commands can read its store while the server uses it. */
export async function serving(run: (served: Served) => Promise<void>, store?: string): Promise<void> {
  const folder = makeTempFolder();
  const env = { WALLETD_STORE: store ?? `lmdb:${folder.path}/data`, WALLETD_INIT: 'auto', WALLETD_SHARDS: '2' };
  const server = await WalletdProcess.start(env);
  try {
    await importPlayers(server.adminUrl, PLAYERS, 100);
    await play(server, 'first', 5);
    await run({ env, server, folder: folder.path });
  } finally {
    await server.end('SIGKILL');
    folder.remove();
  }
}

export async function play(server: WalletdProcess, name: string, rounds: number): Promise<void> {
  const client = new PlatformClient(server.callbackUrl);
  for (let i = 0; i < rounds; i++) {
    await Promise.all(
      PLAYERS.map(async (username) => {
        await client.post('placeBets', bet(username, `${name}-${i}`));
        await client.post('settleBets', settlement(username, `${name}-${i}`, 2));
      }),
    );
  }
  client.close();
}
