import { withCleanUp } from '../../test/support/clean-up.js';
import { startPostgres, whyNoPostgres } from '../../test/support/postgres.js';
import { packageVersion, whyNoRedis } from '../../test/support/versions.js';
import type { LoadReport } from '../load/load.js';
import { announce, type RaceSettings, race } from '../load/race.js';
import { type Contestant, echo, peer, walletd } from '../support/servers.js';
import { startStore } from '../support/store.js';

const DURABILITY = 'each answer waits until its change is on the disk';

/** The peers support only the `pairs` mix, and only fsync durability. */
export type PeersSettings = Omit<RaceSettings, 'mix'>;

/** Compares walletd with the usual alternatives at the same durability. Skips alternatives that are not installed. */
export function runPeers(options: PeersSettings): Promise<LoadReport> {
  return withCleanUp(async () => {
    const settings: RaceSettings = { ...options, mix: 'pairs' };
    const { folder } = settings;
    const embedded = await startStore({ store: 'lmdb', durability: 'fsync', folder });
    announce({ ...embedded, durability: DURABILITY }, settings);
    console.log(
      `Fastify ${packageVersion('fastify')}, ioredis ${packageVersion('ioredis')}, pg ${packageVersion('pg')}`,
    );
    const onLmdb = say([walletd(embedded, 0, { name: 'walletd on LMDB' })], embedded.durability);
    const contestants = [...onLmdb, ...(await tryOnRedis(folder)), ...tryOnPostgres(folder), echo()];
    console.log();
    return { durability: DURABILITY, raced: await race(contestants, settings) };
  });
}

async function tryOnRedis(folder: string): Promise<Contestant[]> {
  const problem = whyNoRedis();
  if (problem !== undefined) return skip('what runs on Redis', problem);
  const store = await startStore({ store: 'redis', durability: 'fsync', folder });
  const onRedis = walletd(store, 0, { name: 'walletd on Redis' });
  const lua = peer('Fastify + Lua script', 'fastify-lua', store.redisUrl as string);
  return say([onRedis, lua], store.durability);
}

function tryOnPostgres(folder: string): Contestant[] {
  const problem = whyNoPostgres();
  if (problem !== undefined) return skip('what runs on PostgreSQL', problem);
  const { url, durability } = startPostgres(folder);
  const functions = peer('Fastify + SQL function', 'fastify-postgres', url);
  const rowLock = peer('Fastify + row lock', 'fastify-row-lock', url);
  return say([functions, rowLock], durability);
}

function say(contestants: Contestant[], durability: string): Contestant[] {
  console.log(`${contestants.map(({ name }) => name).join(', ')}: ${durability}`);
  return contestants;
}

function skip(what: string, problem: string): Contestant[] {
  console.log(`skipped ${what}: ${problem}`);
  return [];
}
