import type { LoadReport } from '../load/load.js';
import { announce, type RaceSettings, race } from '../load/race.js';
import { withCleanUp } from '../support/clean-up.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { whyNoRedis } from '../support/redis.js';
import { type Server, startEcho, startPeer, startWalletd } from '../support/servers.js';
import { startStore } from '../support/store.js';
import { packageVersion } from '../support/versions.js';

const DURABILITY = 'each answer waits until its change is on the disk';

/** The peers know nothing but pairs, and promise nothing less than fsync. */
export type PeersSettings = Omit<RaceSettings, 'mix'>;

/** walletd beside what a team would build instead, with the same durability. What is not installed is left out. */
export function runPeers(options: PeersSettings): Promise<LoadReport> {
  return withCleanUp(async () => {
    const settings: RaceSettings = { ...options, mix: 'pairs' };
    const { folder } = settings;
    const embedded = await startStore({ store: 'lmdb', durability: 'fsync', folder });
    announce({ ...embedded, durability: DURABILITY }, settings);
    console.log(
      `Fastify ${packageVersion('fastify')}, ioredis ${packageVersion('ioredis')}, pg ${packageVersion('pg')}`,
    );
    const walletd = await startWalletd(embedded, 0, { name: 'walletd on LMDB' });
    say([walletd], embedded.durability);
    const servers = [walletd, ...(await maybeOnRedis(folder)), ...(await maybeOnPostgres(folder)), await startEcho()];
    console.log();
    return { durability: DURABILITY, raced: await race(servers, settings) };
  });
}

async function maybeOnRedis(folder: string): Promise<Server[]> {
  const problem = whyNoRedis();
  if (problem !== undefined) return skip('what runs on Redis', problem);
  const store = await startStore({ store: 'redis', durability: 'fsync', folder });
  const walletd = await startWalletd(store, 0, { name: 'walletd on Redis' });
  const lua = await startPeer('Fastify + Lua script', 'fastify-lua', store.redisUrl as string);
  return say([walletd, lua], store.durability);
}

async function maybeOnPostgres(folder: string): Promise<Server[]> {
  const problem = whyNoPostgres();
  if (problem !== undefined) return skip('what runs on PostgreSQL', problem);
  const { url, durability } = startPostgres(folder);
  const functions = await startPeer('Fastify + SQL function', 'fastify-postgres', url);
  const rowLock = await startPeer('Fastify + row lock', 'fastify-row-lock', url);
  return say([functions, rowLock], durability);
}

function say(servers: Server[], durability: string): Server[] {
  console.log(`${servers.map(({ name }) => name).join(', ')}: ${durability}`);
  return servers;
}

function skip(what: string, problem: string): Server[] {
  console.log(`skipped ${what}: ${problem}`);
  return [];
}
