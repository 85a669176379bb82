import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer as createWebServer } from 'node:http';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { importPlayers } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { settingsWith } from '../support/settings.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

/** Log lines and settings of a node on this store. */
function nodeOn(store: string, adminPort: number, changes: Record<string, unknown> = {}) {
  const folder = makeTempFolder();
  const lines: string[] = [];
  const write = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug() {}, info: write, warn: write, error: write };
  const settings = settingsWith({
    store,
    nodeFolder: `${folder.path}/node`,
    port: 0,
    'admin.port': adminPort,
    init: 'auto',
    'log.metricsSeconds': 0,
    ...changes,
  });
  return { open: () => WalletNode.open({ settings, sources: new Map() }, log, () => {}), lines, folder };
}

/** Redis answers clients after each 1,024 loaded commands, so loading takes 10 steps of about 0.3 s. */
const LOADED_KEYS = 10 * 1024;
const LOAD_DELAY_US = '200';

const statusOf = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    () => undefined,
  );

test('a walletd started before its Redis waits and then serves', async () => {
  const redis = await RedisServer.start();
  await redis.end();
  const adminPort = await freePort();
  const { open, lines, folder } = nodeOn(redis.url, adminPort);
  const opening = open();
  const url = `http://127.0.0.1:${adminPort}`;
  await until('it is live', async () => (await statusOf(`${url}/livez`)) === 200);
  assert.equal(await statusOf(`${url}/readyz`), 503);
  assert.equal(await statusOf(`${url}/v1/players/ann`), 503);
  await until('it says so', () => lines.some((line) => /^waiting for the store .*ECONNREFUSED/.test(line)));
  await redis.start();
  const node = await opening;
  await node.start();
  assert.equal(await statusOf(`${url}/readyz`), 200);
  await node.stop();
  await redis.destroy();
  folder.remove();
});

test('a start waits while Redis loads its append-only file', async () => {
  const redis = await RedisServer.start();
  const client = redis.client();
  const writes = client.pipeline();
  for (let i = 0; i < LOADED_KEYS; i++) writes.set(`key-${i}`, 'value');
  await writes.exec();
  client.disconnect();
  await redis.end();
  const { open, lines, folder } = nodeOn(redis.url, 0);
  const starting = redis.start({ 'key-load-delay': LOAD_DELAY_US });
  const opening = open();
  // The first reason may be that Redis does not listen yet.
  await until('it waits', () => lines.some((line) => /^waiting for the store/.test(line)));
  await starting;
  const node = await opening;
  await node.start();
  await node.stop();
  await redis.destroy();
  folder.remove();
});

test('a start on a Redis at its connection limit waits for a free connection', async () => {
  const redis = await RedisServer.start({ maxclients: '1' });
  const holder = redis.client();
  await holder.ping();
  const { open, lines, folder } = nodeOn(redis.url, 0);
  const opening = open();
  await until('it waits', () => lines.some((line) => /^waiting for the store .*raise maxclients/.test(line)));
  await holder.config('SET', 'maxclients', '100');
  holder.disconnect();
  const node = await opening;
  await node.start();
  await node.stop();
  await redis.destroy();
  folder.remove();
});

test('the start fails if Redis is unreachable, unsuitable or refuses', async () => {
  const redis = await RedisServer.start();
  const port = await freePort();
  const unreachable = nodeOn(`redis://127.0.0.1:${port}`, 0, { storeWaitSeconds: 0 });
  await assert.rejects(unreachable.open(), /ECONNREFUSED/);
  const stranger = nodeOn(`redis://somebody:wrong@127.0.0.1:${redis.port}`, 0);
  await assert.rejects(stranger.open(), /does not accept the user or password in WALLETD_STORE/);
  await redis.call('REPLICAOF', '127.0.0.1', port);
  const misled = nodeOn(redis.url, 0);
  await assert.rejects(misled.open(), /read-only replica/);
  const notSentinel = nodeOn(`redis+sentinel://127.0.0.1:${redis.port}/mymaster`, 0);
  await assert.rejects(notSentinel.open(), /the server at the address of a sentinel is not a sentinel: /);
  const web = createWebServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(web, 'listening');
  const notRedis = nodeOn(`redis://127.0.0.1:${(web.address() as { port: number }).port}`, 0);
  await assert.rejects(notRedis.open(), /the server at this address is not Redis/);
  web.close();
  const ended = [stranger, misled, notSentinel, notRedis];
  assert.ok(!ended.some(({ lines }) => lines.some((line) => line.startsWith('waiting'))), 'without waiting');
  await redis.destroy();
  for (const { folder } of [unreachable, ...ended]) folder.remove();
});

test('a start whose operator API port is in use creates no store', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  const { port } = blocker.address() as { port: number };
  const folder = makeTempFolder();
  const { open, folder: own } = nodeOn(`lmdb:${folder.path}/store`, port);
  await assert.rejects(open(), /cannot listen on 127\.0\.0\.1:\d+ for the operator API \(admin\.host, admin\.port\)/);
  assert.ok(!existsSync(`${folder.path}/store`));
  blocker.close();
  folder.remove();
  own.remove();
});

test('an outage is logged once when it begins and once when it ends', async () => {
  const redis = await RedisServer.start();
  const settings = { WALLETD_INIT: 'auto', WALLETD_WORKERS: '2', WALLETD_REQUEST_DEADLINE_MS: '200' };
  const walletd = await WalletdProcess.start({ WALLETD_STORE: redis.url, ...settings });
  const players = Array.from({ length: 16 }, (_, i) => `p${i}`);
  await importPlayers(walletd.adminUrl, players, 100);
  const deposit = async (username: string) => {
    const body = JSON.stringify({ id: 'd', amount: 1 });
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
    return (await fetch(`${walletd.adminUrl}/v1/players/${username}/deposits`, init)).ok;
  };
  await redis.end();
  assert.ok(!(await Promise.all(players.map(deposit))).some(Boolean));
  await redis.start();
  for (const username of players) await until(`${username} is answered`, () => deposit(username));
  await walletd.waitFor(({ msg }) => msg === 'store answers again');
  assert.equal(await walletd.end('SIGTERM'), 0);
  const begun = walletd.log.filter(({ code, awayMs }) => code === 'append-failed' && awayMs === 0);
  const ended = walletd.log.filter(({ msg }) => msg === 'store answers again');
  assert.deepEqual([begun.length, ended.length], [1, 1]);
  assert.match(String(ended[0]?.server), new RegExp(`:${redis.port}$`));
  await redis.destroy();
});
