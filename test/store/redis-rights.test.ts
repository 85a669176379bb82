import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { Writer } from '../contract/writer.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/*
 * Tests the table "Who may do what" of docs/redis.md on a real Redis server. Each `no` is tested by sending the
 * commands as that user. Each `yes` is tested against the server's own ACL, because some of the commands would end the
 * server.
 */
const fileOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const LOG = 'walletd:{0}:wal';
const HEAD = 'walletd:{0}:head';
const SNAPSHOTS = 'walletd:{0}:snapshots';
const LIBRARY = "#!lua name=other\nredis.register_function('other', function() return 1 end)";

/** Commands of each row, by the row's first column. */
const COMMANDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'read logs, heads and snapshots': [
    ['GET', HEAD],
    ['XRANGE', LOG, '-', '+'],
    ['XREVRANGE', LOG, '+', '-'],
    ['HGETALL', SNAPSHOTS],
    ['HMGET', SNAPSHOTS, 'a'],
  ],
  'append, move heads, take and delete snapshots, trim': [
    ['XADD', LOG, '*', 'e', 'x'],
    ['SET', HEAD, 'x'],
    ['FCALL', 'walletd_append_2', '2', HEAD, LOG],
    ['HSET', SNAPSHOTS, 'a', 'b'],
    ['UNLINK', SNAPSHOTS],
    ['XTRIM', LOG, 'MAXLEN', '1000'],
  ],
  'delete a log or a head with `DEL`': [
    ['DEL', LOG],
    ['DEL', HEAD],
  ],
  'load or replace a function (`FUNCTION LOAD`)': [
    ['FUNCTION', 'LOAD', LIBRARY],
    ['FUNCTION', 'LOAD', 'REPLACE', LIBRARY],
  ],
  'read all settings, including `masterauth` and `requirepass` (`CONFIG GET`)': [
    ['CONFIG', 'GET', 'masterauth'],
    ['CONFIG', 'GET', 'requirepass'],
    ['CONFIG', 'GET', '*'],
  ],
  'copy the server (`PSYNC`)': [['PSYNC', '?', '-1']],
  'make the server a replica of another one (`SLAVEOF`)': [['SLAVEOF', '127.0.0.1', '1']],
  '`SYNC`, `REPLICAOF`, `FAILOVER`': [['SYNC'], ['REPLICAOF', '127.0.0.1', '1'], ['FAILOVER']],
  '`FUNCTION DELETE`, `FLUSH`, `RESTORE`, `DUMP`': [
    ['FUNCTION', 'DELETE', 'other'],
    ['FUNCTION', 'FLUSH'],
    ['FUNCTION', 'RESTORE', 'x'],
    ['FUNCTION', 'DUMP'],
  ],
  '`CONFIG SET`, `ACL`, `DEBUG`, `MODULE`, `MONITOR`, `SHUTDOWN`': [
    ['CONFIG', 'SET', 'maxmemory', '1'],
    ['ACL', 'LIST'],
    ['ACL', 'SETUSER', 'walletd', '+@all'],
    ['DEBUG', 'SLEEP', '0'],
    ['MODULE', 'LIST'],
    ['MONITOR'],
    ['SHUTDOWN'],
  ],
  '`KEYS`, `SCAN`, `FLUSHALL`, `FLUSHDB`, `RENAME`, `EVAL`': [
    ['KEYS', '*'],
    ['SCAN', '0'],
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['SWAPDB', '0', '1'],
    ['RENAME', LOG, 'walletd:x'],
    ['EVAL', 'return 1', '0'],
  ],
  'use keys with a different prefix': [
    ['GET', 'other:{0}:head'],
    ['SET', 'other:{0}:head', 'x'],
    ['FCALL', 'walletd_append_2', '2', 'other:{0}:head', 'other:{0}:wal'],
  ],
};

interface Claim {
  readonly to: string;
  readonly user: string;
  readonly may: boolean;
}

function claims(): readonly Claim[] {
  const [, table = ''] = /^(\| right \|.*?)\n\n/ms.exec(fileOf('docs/redis.md')) ?? [];
  const [head, , ...rows] = table.split('\n').map((line) => line.split('|').slice(1, -1));
  const users = (head ?? []).slice(1).map((cell) => cell.replaceAll('`', '').trim());
  return rows.flatMap(([to = '', ...cells]) =>
    cells.map((cell, i) => ({ to: to.trim(), user: users[i] as string, may: /yes/.test(cell) })),
  );
}

let server: RedisServer;
let admin: Redis;
const folder = makeTempFolder();

before(async () => {
  const file = `${folder.path}/users.acl`;
  writeFileSync(file, fileOf('config/users.acl').replaceAll('CHANGE-ME', 'secret'));
  server = await RedisServer.start({ aclfile: file, masterauth: 'of-the-replica', 'enable-debug-command': 'yes' });
  admin = clientOf('admin');
});

after(async () => {
  admin.disconnect();
  await server.destroy();
  folder.remove();
});

function clientOf(username: string): Redis {
  const login = { username, password: 'secret', retryStrategy: () => null, enableReadyCheck: false };
  const client = new Redis(server.port, '127.0.0.1', login);
  client.on('error', () => {});
  return client;
}

async function as<T>(user: string, run: (client: Redis) => Promise<T>): Promise<T> {
  const client = clientOf(user);
  try {
    return await run(client);
  } finally {
    client.disconnect();
  }
}

test('the table in docs/redis.md has the same rows as the tested commands', () => {
  const rows = new Set(claims().map(({ to }) => to));
  assert.deepEqual([...rows].sort(), Object.keys(COMMANDS).sort());
  const users = [...fileOf('config/users.acl').matchAll(/^user (\S+) on /gm)].map(([, user]) => user);
  assert.deepEqual(
    [...new Set(claims().map(({ user }) => user))].sort(),
    users.filter((user) => user !== 'admin').sort(),
  );
});

test("docs/redis.md prints walletd's rights as config/users.acl has them", () => {
  const [, rules = ''] = /^ACL SETUSER walletd on >PASSWORD (.*)$/m.exec(fileOf('docs/redis.md')) ?? [];
  assert.ok(fileOf('config/users.acl').includes(`\nuser walletd on >CHANGE-ME ${rules}\n`));
});

for (const { to, user, may } of claims()) {
  test(`the Redis user ${user} ${may ? 'may' : 'may not'}: ${to}`, async () => {
    for (const command of COMMANDS[to] ?? []) {
      const text = command.join(' ');
      if (may) assert.equal(await admin.call('ACL', 'DRYRUN', user, ...command), 'OK', text);
      else await as(user, (client) => assert.rejects(client.call(...(command as [string])), /NOPERM/, text));
    }
  });
}

const meta: StoreMeta = {
  storeId: '6f5902ac-237c-4c49-9c62-2a6f9d4c4a5e',
  formatVersion: META_VERSION,
  shards: 2,
  hash: 'h',
  scales: { default: 4, byCurrency: {} },
  createdMs: 0,
};

async function withStore<T>(user: string, run: (store: RedisStore) => Promise<T>): Promise<T> {
  const address = parseRedisAddress(`redis://${user}:secret@127.0.0.1:${server.port}`) as RedisAddress;
  const store = new RedisStore({ address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false });
  try {
    return await run(store);
  } finally {
    await store.close();
  }
}

/**
 * Rights of walletd's user in ACL files since version 0.1. Today only `initiator` has all of them, because only init
 * needs some of them.
 */
const OLDER = fileOf('config/users.acl').match(/^user initiator on >CHANGE-ME (.*)$/m)?.[1] ?? '';

test('initiator loads the functions, and walletd runs without that right', async () => {
  await admin.call('FLUSHALL');
  await admin.call('FUNCTION', 'FLUSH');
  const cure =
    /lacks the function walletd_\w+, and .*run `walletd init` once as a user .*initiator in config\/users\.acl/;
  await withStore('walletd', (store) => assert.rejects(store.meta.tryRead(), cure));
  await withStore('initiator', (store) => store.meta.tryRead());
  const noSettings =
    /may use CONFIG GET \(initiator or restorer in config\/users\.acl\).*WALLETD_REDIS_TRUST_CONFIG=true/;
  await withStore('walletd', async (store) => {
    await store.meta.tryRead();
    await assert.rejects(store.meta.create(meta), noSettings);
  });
  await withStore('initiator', (store) => store.meta.create(meta));
  await withStore('walletd', async (store) => {
    assert.equal((await store.meta.tryRead())?.storeId, meta.storeId);
    const log = new Writer(store.wal, meta.storeId);
    await log.append(0);
    await store.table.read();
    await store.meta.replaceArchive(undefined, 'an-archive');
    assert.deepEqual(await store.warnings(), [
      `this user may not see appendfsync, no-appendfsync-on-rewrite on 127.0.0.1:${server.port}: ` +
        'check them with `walletd doctor` as the user initiator of config/users.acl',
    ]);
    const verdicts = (await store.examine()).map(({ about, verdict }) => `${about}: ${verdict}`);
    assert.deepEqual(verdicts.slice(0, 2), ['durability: look', 'rights: good']);
  });
});

test('without CONFIG GET walletd still refuses a log that a restart would lose', async () => {
  for (const [setting, bad, good] of [
    ['appendonly', 'no', 'yes'],
    ['maxmemory-policy', 'allkeys-lru', 'noeviction'],
  ] as const) {
    await admin.call('CONFIG', 'SET', setting, bad);
    const sentence = new RegExp(`Redis has ${setting} ${bad}, but it should be ${good}`);
    await withStore('walletd', (store) => assert.rejects(store.meta.tryRead(), sentence));
    await admin.call('CONFIG', 'SET', setting, good);
  }
  await until('its file', async () => /aof_rewrite_in_progress:0/.test(String(await admin.info('persistence'))));
});

test('a user from an older ACL file works, and doctor lists superfluous rights', async () => {
  await admin.call('ACL', 'SETUSER', 'older', 'reset', 'on', '>secret', ...OLDER.split(/ (?![^(]*\))/));
  await withStore('older', async (store) => {
    await store.meta.tryRead();
    assert.deepEqual(await store.warnings(), []);
    const [durability, ...rest] = await store.examine();
    assert.equal(durability?.verdict, 'good');
    const rights = rest.filter(({ about }) => about === 'rights');
    assert.deepEqual(
      rights.map(({ verdict }) => verdict),
      ['good', 'look'],
    );
    assert.equal(rights[1]?.says, 'this user may also use CONFIG GET, FUNCTION LOAD, which no server needs');
  });
  await admin.call('CONFIG', 'SET', 'appendfsync', 'everysec');
  await withStore('older', (store) => assert.rejects(store.meta.tryRead(), /Redis has appendfsync everysec/));
  await admin.call('CONFIG', 'SET', 'appendfsync', 'always');
});

test('initiator sees which replica would be refused after a failover', async () => {
  const file = `${folder.path}/users.acl`;
  const copies = { replicaof: `127.0.0.1 ${server.port}`, masteruser: 'replica', masterauth: 'secret' };
  const replica = await RedisServer.start({ aclfile: file, ...copies, appendfsync: 'everysec' });
  const sentence = new RegExp(
    `^the replica 127\\.0\\.0\\.1:${replica.port} would be refused after a failover to it: Redis has appendfsync everysec`,
  );
  try {
    await until('the replica is in step', async () => /state=online/.test(await admin.info('replication')));
    await withStore('initiator', async (store) => {
      await store.meta.tryRead();
      await until('its link', async () => !(await store.warnings()).some((one) => /could not be checked/.test(one)));
      const [warning = '', ...others] = await store.warnings();
      assert.match(warning, sentence);
      assert.deepEqual(others, []);
    });
  } finally {
    await replica.destroy();
  }
});

test('init loads the functions on every master', async () => {
  const others = [await RedisServer.start(), await RedisServer.start()];
  try {
    const servers = others.map(({ port }) => ({ host: '127.0.0.1', port })) as never;
    const address: RedisAddress = { name: 'pairs', servers, isCluster: false };
    const durability = { type: 'fsync' } as const;
    const store = new RedisStore({ address, prefix: 'walletd', durability, trustConfig: false });
    await store.meta.tryRead();
    await store.meta.create(meta);
    for (const other of others) await other.call('FUNCTION', 'FLUSH');
    await store.close();
    // Repeat the steps that `init` takes on an existing store.
    const again = new RedisStore({ address, prefix: 'walletd', durability, trustConfig: false });
    await again.meta.tryRead();
    await again.warnings();
    await again.close();
    for (const other of others) assert.equal(((await other.call('FUNCTION', 'LIST')) as unknown[]).length, 4);
  } finally {
    for (const other of others) await other.destroy();
  }
});
