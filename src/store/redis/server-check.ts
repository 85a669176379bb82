import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { messageOf } from '../../base/message-of.js';
import { ServerRefused } from '../server-refused.js';
import { type Durability, waitsFor } from './durability.js';

const VERSION_MIN = 7;
const SYNCED_VERSION_MIN = [7, 2] as const;
/** How long to wait for a rewrite; then a start is refused, and a running server tries again. */
const REWRITE_WAIT_MS = 10_000;
const REWRITE_POLL_MS = 200;

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

const CLUSTER: readonly Rule[] = [
  { setting: 'cluster-require-full-coverage', wanted: ['no'], why: 'otherwise one lost master stops all of them' },
];

const OS: readonly Rule[] = [
  { setting: 'appendfsync', wanted: ['everysec', 'always'], why: 'with "no" the log may be minutes behind' },
];

/**
 * Checks what walletd relies on, at the start and each time a connection is made: a failover may have led to another
 * server.
 */
export class ServerCheck {
  /** The server that has been seen with a complete append-only file. */
  private whole: string | undefined = undefined;

  constructor(
    private readonly durability: Durability,
    private readonly trustConfig: boolean,
    /** Whether the address says that it is one of a Redis Cluster. */
    private readonly isCluster: boolean,
  ) {}

  /** Throws a `ServerRefused`, or what the server answered. */
  async run(client: Redis): Promise<void> {
    const info = parseInfo(await client.info());
    checkRole(info, this.durability);
    checkMode(info, this.isCluster);
    if (this.trustConfig) return;
    const rules = isSynced(this.durability) ? FSYNC : OS;
    try {
      await checkConfig(client, this.isCluster ? [...rules, ...CLUSTER] : rules);
    } catch (error) {
      // It may have no append-only file, and then has to begin one.
      if (error instanceof ServerRefused) this.whole = undefined;
      throw error;
    }
    if (serverOf(info) !== this.whole) await waitForFile(client, info);
    this.whole = serverOf(info);
  }
}

function isSynced({ type }: Durability): boolean {
  return type !== 'os' && type !== 'replicas';
}

/** Identifies a process of Redis for as long as it has not been a replica. */
function serverOf(info: ReadonlyMap<string, string>): string {
  return `${info.get('run_id')} ${info.get('master_replid')}`;
}

/**
 * A Redis that begins an append-only file, as after `CONFIG SET appendonly yes` and after each full copy of a master, has
 * it once the first rewrite is done: what it answers before is lost with its process. Until then a rewrite is running or
 * scheduled. An ordinary rewrite looks the same, so a server that had its file already is not checked.
 */
async function waitForFile(client: Redis, first: ReadonlyMap<string, string>): Promise<void> {
  const endMs = performance.now() + REWRITE_WAIT_MS;
  for (let info = first; isRewriting(info); info = parseInfo(await client.info())) {
    if (performance.now() >= endMs) {
      throw new ServerRefused(
        'Redis is rewriting its append-only file, and may have none before that is done: ' +
          'wait until INFO persistence shows aof_rewrite_in_progress:0 and aof_rewrite_scheduled:0',
      );
    }
    await delay(REWRITE_POLL_MS);
  }
}

function isRewriting(info: ReadonlyMap<string, string>): boolean {
  return info.get('aof_rewrite_in_progress') === '1' || info.get('aof_rewrite_scheduled') === '1';
}

function checkRole(info: ReadonlyMap<string, string>, durability: Durability): void {
  const version = info.get('redis_version') ?? 'unknown';
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw new ServerRefused(`Redis is version ${version}; walletd needs ${VERSION_MIN}.0 or later`);
  }
  if (info.get('role') !== 'master') {
    throw new ServerRefused('this Redis is a read-only replica; WALLETD_STORE must name the master, or its sentinels');
  }
  if (durability.type === 'synced' && !isVersion(version, SYNCED_VERSION_MIN)) {
    throw new ServerRefused(
      `Redis is version ${version}, and WALLETD_DURABILITY synced:N needs 7.2 or later: take replicas:N`,
    );
  }
  const wanted = waitsFor(durability);
  const online = replicasOnline(info);
  if (online < wanted) {
    throw new ServerRefused(
      `WALLETD_DURABILITY is ${durability.type}:${wanted}, but Redis has ${online} replica(s) online: start more, or lower it`,
    );
  }
}

export function replicasOnline(info: ReadonlyMap<string, string>): number {
  return [...info].filter(([key, value]) => /^slave\d+$/.test(key) && /state=online/.test(value)).length;
}

function isVersion(version: string, [major, minor]: readonly [number, number]): boolean {
  const [thisMajor = 0, thisMinor = 0] = version.split('.').map(Number);
  return thisMajor > major || (thisMajor === major && thisMinor >= minor);
}

function checkMode(info: ReadonlyMap<string, string>, isCluster: boolean): void {
  if ((info.get('redis_mode') === 'cluster') === isCluster) return;
  throw new ServerRefused(
    isCluster
      ? 'this Redis is no cluster: begin its address with redis://'
      : 'this Redis is part of a cluster: begin its address with redis+cluster://',
  );
}

async function checkConfig(client: Redis, rules: readonly Rule[]): Promise<void> {
  for (const rule of [...ALWAYS, ...rules]) {
    const { setting, wanted, why } = rule;
    const [, value = 'unknown'] = (await askConfig(client, setting)) as string[];
    if (wanted.includes(value)) continue;
    throw new ServerRefused(
      `Redis has ${setting} ${value}, and it should be ${wanted.join(' or ')}: ${why}; ` +
        `set it with: redis-cli CONFIG SET ${setting} ${wanted[0]} (and in redis.conf)` +
        (FSYNC.includes(rule) ? ', or ask for less with WALLETD_DURABILITY' : ''),
    );
  }
}

async function askConfig(client: Redis, setting: string): Promise<unknown> {
  try {
    return await client.config('GET', setting);
  } catch (error) {
    const message = messageOf(error);
    if (!/NOPERM|unknown command/i.test(message)) throw error;
    throw new ServerRefused(
      `Redis does not let walletd see its settings (${message}): allow CONFIG GET to this user, ` +
        'or, where the host forbids it, vouch for them with WALLETD_REDIS_TRUST_CONFIG=true',
    );
  }
}

/** What INFO answers, by name. */
export function parseInfo(text: string): Map<string, string> {
  const pairs = text.split('\r\n').map((line) => line.split(/:(.*)/s).slice(0, 2));
  return new Map(pairs.filter((pair): pair is [string, string] => pair.length === 2));
}
