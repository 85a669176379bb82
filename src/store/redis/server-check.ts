import type { Redis } from 'ioredis';
import type { Durability } from './durability.js';

/** The server is not as it has to be. The message says what, what it should be, and how to set it. */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
}

const VERSION_MIN = 7;

interface Rule {
  readonly setting: string;
  readonly wanted: readonly string[];
  readonly why: string;
}

const ALWAYS: readonly Rule[] = [
  { setting: 'maxmemory-policy', wanted: ['noeviction'], why: 'an evicted log is a lost log' },
  { setting: 'appendonly', wanted: ['yes'], why: 'without it a restart of Redis loses the log' },
];

const FSYNC: readonly Rule[] = [
  { setting: 'appendfsync', wanted: ['always'], why: 'walletd promises an fsync before each answer' },
  { setting: 'no-appendfsync-on-rewrite', wanted: ['no'], why: 'otherwise Redis does not sync while it rewrites' },
];

const OS: readonly Rule[] = [
  { setting: 'appendfsync', wanted: ['everysec', 'always'], why: 'with "no" the log may be minutes behind' },
];

/**
 * What walletd relies on is never assumed: asked at the start and each time a connection is made, because a failover
 * may have led to another server. Throws a `ServerRefused`, or what the server answered.
 */
export async function checkServer(client: Redis, durability: Durability, trustConfig: boolean): Promise<void> {
  const info = parseInfo(await client.info());
  const version = info.get('redis_version') ?? 'unknown';
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw new ServerRefused(`Redis is version ${version}; walletd needs ${VERSION_MIN}.0 or later`);
  }
  if (info.get('role') !== 'master') {
    throw new ServerRefused('this Redis is a read-only replica; WALLETD_STORE must name the master, or its sentinels');
  }
  if (durability.type === 'replicas') checkReplicas(info, durability.count);
  if (!trustConfig) await checkConfig(client, durability.type === 'fsync' ? FSYNC : OS);
}

function checkReplicas(info: ReadonlyMap<string, string>, count: number): void {
  const online = [...info].filter(([key, value]) => /^slave\d+$/.test(key) && /state=online/.test(value)).length;
  if (online < count) {
    throw new ServerRefused(
      `WALLETD_DURABILITY is replicas:${count}, but Redis has ${online} replica(s) online: start more, or lower it`,
    );
  }
}

async function checkConfig(client: Redis, rules: readonly Rule[]): Promise<void> {
  for (const { setting, wanted, why } of [...ALWAYS, ...rules]) {
    const [, value = 'unknown'] = (await askConfig(client, setting)) as string[];
    if (wanted.includes(value)) continue;
    throw new ServerRefused(
      `Redis has ${setting} ${value}, and it should be ${wanted.join(' or ')}: ${why}; ` +
        `set it with: redis-cli CONFIG SET ${setting} ${wanted[0]} (and in redis.conf), ` +
        'or ask for less with WALLETD_DURABILITY',
    );
  }
}

async function askConfig(client: Redis, setting: string): Promise<unknown> {
  try {
    return await client.config('GET', setting);
  } catch (error) {
    const { message } = error as Error;
    if (!/NOPERM|unknown command/i.test(message)) throw error;
    throw new ServerRefused(
      `Redis does not let walletd see its settings (${message}): allow CONFIG GET to this user, ` +
        'or, where the host forbids it, vouch for them with WALLETD_REDIS_TRUST_CONFIG=true',
    );
  }
}

function parseInfo(text: string): Map<string, string> {
  const pairs = text.split('\r\n').map((line) => line.split(/:(.*)/s).slice(0, 2));
  return new Map(pairs.filter((pair): pair is [string, string] => pair.length === 2));
}
