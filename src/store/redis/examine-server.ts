import type { Redis } from 'ioredis';
import { messageOf } from '../../base/message-of.js';
import type { CheckResult, StoreRoom } from '../store.js';
import { judgeFreeSpace, timeWrites } from '../write-times.js';
import type { Durability } from './durability.js';
import type { Keys } from './keys.js';
import { parseInfo } from './server-check.js';

const CLOCK_MAX_MS = 1000;
const REPLICA_BEHIND_BYTES = 1024 * 1024;
const HEAD_MS = 1000;

/**
 * Advice for settings that walletd's own user cannot read. That user may not run CONFIG GET, because CONFIG GET also
 * shows passwords.
 */
export const SEE_SETTINGS = 'check them with `walletd doctor` as the user initiator of config/users.acl';
/** Rights that walletd never needs, each with a harmless command that reveals whether the user has it. */
const SUPERFLUOUS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['CONFIG GET', 'CONFIG', 'GET', 'appendfsync'],
  ['FUNCTION LOAD', 'FUNCTION', 'LOAD', 'no library'],
  ['ACL', 'ACL', 'WHOAMI'],
];

type Info = ReadonlyMap<string, string>;

/**
 * Examines a server whose version, role and settings were checked on connection. `stream` and `head` are unused keys.
 */
export async function examineServer(
  client: Redis,
  {
    trial: { stream, head },
    room,
    warnings,
    unseen,
    durability,
  }: {
    readonly trial: ReturnType<Keys['trial']>;
    readonly room: StoreRoom;
    readonly warnings: readonly string[];
    /** Sentence about settings that the check could not see; empty if it saw all of them. */
    readonly unseen: string;
    readonly durability: Durability;
  },
): Promise<readonly CheckResult[]> {
  const askedMs = Date.now();
  const info = parseInfo(await client.info());
  const serverMs = Number(info.get('server_time_usec')) / 1000;
  try {
    return [
      durabilityOf(info, unseen),
      ...(await rightsOf(client, stream, head, durability)),
      await timeWrites(
        (bytes) => client.xadd(stream, '*', 'e', bytes),
        'use a faster disk for Redis; `redis-cli --latency` shows whether the network is slow',
      ),
      ...replicasOf(info, warnings),
      clockOf(serverMs, askedMs, Date.now()),
      roomOf(info, room),
    ];
  } finally {
    await client.unlink(stream).catch(() => {});
  }
}

function durabilityOf(info: Info, unseen: string): CheckResult {
  const about = 'durability';
  const failed = ['aof_last_write_status', 'aof_last_bgrewrite_status'].filter((name) => info.get(name) === 'err');
  if (failed.length === 0 && unseen !== '') return { about, verdict: 'look', says: unseen, todo: SEE_SETTINGS };
  if (failed.length === 0) {
    return { about, verdict: 'good', says: 'the settings of Redis keep what WALLETD_DURABILITY promises' };
  }
  return {
    about,
    verdict: 'bad',
    says: `Redis cannot write its append-only file: ${failed.join(', ')}`,
    todo: 'check the log of Redis: usually its disk is full',
  };
}

/** Tries each command that walletd sends, on separate keys. */
async function rightsOf(
  client: Redis,
  stream: string,
  head: string,
  durability: Durability,
): Promise<readonly CheckResult[]> {
  const about = 'rights';
  const trials: readonly (readonly [string, ...(string | number)[]])[] = [
    ['XADD', stream, '*', 'e', 'trial'],
    ['XRANGE', stream, '-', '+', 'COUNT', 1],
    ['XREVRANGE', stream, '+', '-', 'COUNT', 1],
    ['XTRIM', stream, 'MAXLEN', 1],
    ['SET', head, 'trial', 'PX', HEAD_MS],
    // MSETNX sets nothing while the head exists. If the head has expired meanwhile, the next command sets its expiry.
    ['MSETNX', head, 'trial'],
    ['SET', head, 'trial', 'PX', HEAD_MS],
    ['GET', head],
    ['UNLINK', stream],
    ['HSET', stream, 'field', 'value'],
    ['HGETALL', stream],
    ['HLEN', stream],
    ['HDEL', stream, 'field'],
    ['WAIT', 0, 1],
    // Older servers lack this command, and a user needs this right only for `synced:N`.
    ...(durability.type === 'synced' ? [['WAITAOF', 0, 0, 1] as const] : []),
  ];
  const missing: string[] = [];
  for (const [command, ...args] of trials) {
    await client.call(command, ...args).catch((error: unknown) => {
      if (!/NOPERM/.test(messageOf(error))) throw error;
      if (!missing.includes(command)) missing.push(command);
    });
  }
  const todo = 'create the user as in config/users.acl, on the master and on each replica';
  const needed: CheckResult =
    missing.length === 0
      ? { about, verdict: 'good', says: 'this user has all rights that a server needs' }
      : { about, verdict: 'bad', says: `this user may not use ${missing.join(', ')}`, todo };
  const more = await superfluousRights(client);
  if (more.length === 0) return [needed];
  const says = `this user may also use ${more.join(', ')}, which no server needs`;
  return [
    needed,
    { about, verdict: 'look', says, todo: 'serve as the user walletd of config/users.acl; initiator is for init' },
  ];
}

async function superfluousRights(client: Redis): Promise<string[]> {
  const allowed: string[] = [];
  for (const [name, command, ...args] of SUPERFLUOUS) {
    const refusal = await client.call(command, ...args).then(() => '', messageOf);
    if (!/NOPERM|unknown (sub)?command/i.test(refusal)) allowed.push(name);
  }
  return allowed;
}

function replicasOf(info: Info, warnings: readonly string[]): CheckResult[] {
  const about = 'replicas';
  const offset = Number(info.get('master_repl_offset'));
  const replicas = [...info].flatMap(([key, value]) => {
    const [, host, port, state, at] = /^ip=([^,]+),port=(\d+),state=(\w+),offset=(\d+)/.exec(value) ?? [];
    return /^slave\d+$/.test(key) && host !== undefined
      ? [{ name: `${host}:${port}`, state, behind: offset - Number(at) }]
      : [];
  });
  const findings = replicas.map(({ name, state, behind }): CheckResult => {
    if (state === 'online' && behind < REPLICA_BEHIND_BYTES) {
      return { about, verdict: 'good', says: `${name} is online, ${behind} bytes behind` };
    }
    const todo =
      'check the replica and the network between them: a failover to this replica would now lose those bytes';
    return { about, verdict: 'look', says: `${name} is ${state}, ${behind} bytes behind`, todo };
  });
  const named = warnings.map((says): CheckResult => ({ about, verdict: 'look', says }));
  return replicas.length === 0 ? [{ about, verdict: 'good', says: 'there are none' }] : [...findings, ...named];
}

/**
 * Compares the two clocks, because log lines of the server carry its own time. The result is a lower bound of the
 * difference, regardless of the network delay.
 */
function clockOf(serverMs: number, askedMs: number, answeredMs: number): CheckResult {
  const about = 'clock';
  const apartMs = serverMs < askedMs ? askedMs - serverMs : Math.max(0, serverMs - answeredMs);
  if (!(apartMs > CLOCK_MAX_MS))
    return { about, verdict: 'good', says: 'the clocks of Redis and of this machine agree' };
  return {
    about,
    verdict: 'look',
    says: `the clocks of Redis and of this machine are ${(apartMs / 1000).toFixed(1)} s apart`,
    todo: "synchronize both by NTP: the times of logs and signatures must agree with the platform's",
  };
}

function roomOf(info: Info, { usedBytes, freeBytes }: StoreRoom): CheckResult {
  const todo = 'raise maxmemory, or lower history.maxBytes: callbacks get 503 when Redis is full';
  if (freeBytes !== undefined) return judgeFreeSpace(usedBytes, freeBytes, todo);
  const machineBytes = Number(info.get('total_system_memory'));
  const room = judgeFreeSpace(usedBytes, Math.max(0, machineBytes - usedBytes), todo);
  if (room.verdict !== 'good') return room;
  return {
    ...room,
    verdict: 'look',
    says: `${room.says}, limited only by the machine, because maxmemory is not set`,
    todo: "set maxmemory to half of the machine's memory: Redis needs as much again while it rewrites its file",
  };
}
