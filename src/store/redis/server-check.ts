import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { messageOf } from '../../base/message-of.js';
import { ServerRefused } from '../server-refused.js';
import { type Durability, waitsFor } from './durability.js';

const VERSION_MIN = 7;
const SYNCED_VERSION_MIN = [7, 2] as const;
/**
 * Maximum wait for a rewrite of the append-only file. After that, walletd refuses to start; a walletd that is already
 * running tries again.
 */
const REWRITE_WAIT_MS = 10_000;
const REWRITE_POLL_MS = 200;

type Info = ReadonlyMap<string, string>;

interface Rule {
  readonly setting: string;
  readonly wanted: readonly string[];
  readonly why: string;
}

/**
 * Settings in INFO, which shows no passwords. CONFIG GET cannot be granted for single settings, so it would show them
 * all.
 */
const ALWAYS: readonly (Rule & { readonly valueIn: (info: Info) => string | undefined })[] = [
  {
    setting: 'maxmemory-policy',
    wanted: ['noeviction'],
    why: 'an evicted log is a lost log',
    valueIn: (info) => info.get('maxmemory_policy'),
  },
  {
    setting: 'appendonly',
    wanted: ['yes'],
    why: 'without it a restart of Redis loses the log',
    valueIn: (info) => ({ 0: 'no', 1: 'yes' })[info.get('aof_enabled') ?? ''],
  },
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
 * Checks the server properties that walletd relies on, at startup and for each new connection: after a failover the
 * connection may lead to a different server.
 */
export class ServerCheck {
  /** The server whose append-only file was last found to be complete. */
  private whole: string | undefined = undefined;
  private hidden: readonly string[] = [];

  constructor(
    private readonly durability: Durability,
    private readonly trustConfig: boolean,
    /** True if the address is that of a Redis Cluster. */
    private readonly isCluster: boolean,
  ) {}

  /** Settings that the last check could not see, because the user may not run CONFIG GET. */
  get unseen(): readonly string[] {
    return this.hidden;
  }

  /** Throws a `ServerRefused`, or the server's error. */
  async run(client: Redis): Promise<void> {
    const info = parseInfo(await client.info());
    checkRole(info, this.durability);
    checkMode(info, this.isCluster);
    if (this.trustConfig) return;
    try {
      this.hidden = await this.checkSettings(client, info);
    } catch (error) {
      // Check the append-only file again next time: the refused settings may mean that the server has no such file and
      // must first create one.
      if (error instanceof ServerRefused) this.whole = undefined;
      throw error;
    }
    if (serverOf(info) !== this.whole) await waitForFile(client, info);
    this.whole = serverOf(info);
  }

  /**
   * The reason why walletd would refuse this replica's settings after a failover to it, as far as the user can see
   * them.
   */
  async findReplicaFault(client: Redis): Promise<string | undefined> {
    if (this.trustConfig) return undefined;
    try {
      await this.checkSettings(client, parseInfo(await client.info()));
      return undefined;
    } catch (error) {
      if (error instanceof ServerRefused) return error.message;
      throw error;
    }
  }

  /** Resolves with the names of the settings that the user cannot see. */
  private async checkSettings(client: Redis, info: Info): Promise<readonly string[]> {
    mustHaveLoaded(info);
    const rules = isSynced(this.durability) ? FSYNC : OS;
    for (const rule of ALWAYS) judge(rule, rule.valueIn(info));
    return await checkConfig(client, this.isCluster ? [...rules, ...CLUSTER] : rules);
  }
}

function isSynced({ type }: Durability): boolean {
  return type !== 'os' && type !== 'replicas';
}

/**
 * Identifies a Redis process and its data. The result changes when the process restarts, or when it becomes a replica
 * and copies another server's data.
 */
function serverOf(info: Info): string {
  return `${info.get('run_id')} ${info.get('master_replid')}`;
}

/**
 * Waits until the server's append-only file is complete. Redis begins a file after `CONFIG SET appendonly yes`, and
 * after each full copy from a master. The file is complete after its first rewrite; writes answered before then are
 * lost if the process dies. Until then a rewrite is running or scheduled. An ordinary rewrite looks the same, so a
 * server that already had its file is not checked.
 */
async function waitForFile(client: Redis, first: ReadonlyMap<string, string>): Promise<void> {
  const endMs = performance.now() + REWRITE_WAIT_MS;
  for (let info = first; isRewriting(info); info = parseInfo(await client.info())) {
    if (performance.now() >= endMs) {
      throw new ServerRefused(
        'Redis is rewriting its append-only file, and may have no complete one until then: ' +
          'wait until INFO persistence shows aof_rewrite_in_progress:0 and aof_rewrite_scheduled:0',
      );
    }
    await delay(REWRITE_POLL_MS);
  }
}

function isRewriting(info: Info): boolean {
  return info.get('aof_rewrite_in_progress') === '1' || info.get('aof_rewrite_scheduled') === '1';
}

/**
 * Throws the error with which a loading Redis answers other commands. INFO is answered, but says `aof_enabled:0` until
 * Redis has loaded its append-only file.
 */
function mustHaveLoaded(info: Info): void {
  if (info.get('loading') === '1') throw new Error('LOADING Redis is loading the dataset in memory');
}

function checkRole(info: Info, durability: Durability): void {
  const version = info.get('redis_version') ?? 'unknown';
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw new ServerRefused(`Redis is version ${version}; walletd needs ${VERSION_MIN}.0 or later`);
  }
  if (info.get('role') !== 'master') {
    throw new ServerRefused('this Redis is a read-only replica; WALLETD_STORE must name the master, or its sentinels');
  }
  if (durability.type === 'synced' && !isVersion(version, SYNCED_VERSION_MIN)) {
    throw new ServerRefused(
      `Redis is version ${version}, and WALLETD_DURABILITY synced:N needs 7.2 or later: use replicas:N`,
    );
  }
  const wanted = waitsFor(durability);
  const online = replicasOnline(info);
  if (online < wanted) {
    throw new ServerRefused(
      `WALLETD_DURABILITY is ${durability.type}:${wanted}, but Redis has ${online} replica(s) online: start more replicas, or lower the number`,
    );
  }
}

export function replicasOnline(info: Info): number {
  return [...info].filter(([key, value]) => /^slave\d+$/.test(key) && /state=online/.test(value)).length;
}

function isVersion(version: string, [major, minor]: readonly [number, number]): boolean {
  const [thisMajor = 0, thisMinor = 0] = version.split('.').map(Number);
  return thisMajor > major || (thisMajor === major && thisMinor >= minor);
}

function checkMode(info: Info, isCluster: boolean): void {
  // Valkey names the field `server_mode`.
  const mode = info.get('server_mode') ?? info.get('redis_mode');
  if ((mode === 'cluster') === isCluster) return;
  throw new ServerRefused(
    isCluster
      ? 'this Redis is not a cluster: begin its address with redis://'
      : 'this Redis is part of a cluster: begin its address with redis+cluster://',
  );
}

/** Resolves with the names of the settings that the user cannot see. */
async function checkConfig(client: Redis, rules: readonly Rule[]): Promise<readonly string[]> {
  const unseen: string[] = [];
  for (const rule of rules) {
    const answer = await findConfig(client, rule.setting);
    if (answer === undefined) unseen.push(rule.setting);
    else judge(rule, answer[1]);
  }
  return unseen;
}

function judge(rule: Rule, value = 'unknown'): void {
  const { setting, wanted, why } = rule;
  if (wanted.includes(value)) return;
  throw new ServerRefused(
    `Redis has ${setting} ${value}, but it should be ${wanted.join(' or ')}: ${why}; ` +
      `set it with: redis-cli CONFIG SET ${setting} ${wanted[0]} (and in redis.conf)` +
      (FSYNC.includes(rule) ? ', or lower the requirement with WALLETD_DURABILITY' : ''),
  );
}

/** Reads a setting; undefined if the user may not run CONFIG GET. */
async function findConfig(client: Redis, setting: string): Promise<readonly string[] | undefined> {
  try {
    return (await client.config('GET', setting)) as string[];
  } catch (error) {
    const message = messageOf(error);
    if (/NOPERM/.test(message)) return undefined;
    if (!/unknown command/i.test(message)) throw error;
    throw hiddenSettings(message);
  }
}

/**
 * An error for creating a store while settings are hidden. With a user that cannot see them, walletd can serve a store
 * but not create one.
 */
export function hiddenSettings(why: string): ServerRefused {
  return new ServerRefused(
    `walletd may not read the settings of Redis (${why}): create a store as a user who may use CONFIG GET (initiator or ` +
      'restorer in config/users.acl), or, if the host forbids it, confirm the settings with WALLETD_REDIS_TRUST_CONFIG=true',
  );
}

/** Parses the answer to INFO into fields by name. */
export function parseInfo(text: string): Map<string, string> {
  const pairs = text.split('\r\n').map((line) => line.split(/:(.*)/s).slice(0, 2));
  return new Map(pairs.filter((pair): pair is [string, string] => pair.length === 2));
}
