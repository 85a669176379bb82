import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { Sentinels } from '../faults/sentinels.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { settingsWith } from '../support/settings.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

const USERS = fileURLToPath(new URL('../../../config/users.acl', import.meta.url));

/**
 * Starts a Redis with the users in config/users.acl, all with the password `secret`. A replica copies as its own user.
 */
async function redisWith(folder: string, users: string, master?: RedisServer): Promise<RedisServer> {
  const file = `${folder}/users-${Math.random()}.acl`;
  writeFileSync(file, users);
  const copies =
    master === undefined ? {} : { replicaof: `127.0.0.1 ${master.port}`, masteruser: 'replica', masterauth: 'secret' };
  return await RedisServer.start({ aclfile: file, ...copies });
}

/** True for the warning about settings that the user `walletd` may not read, which every start logs. */
/** A warning about the store, other than that the user may not read some of its settings. */
const isWarning = ({ code, reason }: { readonly [field: string]: unknown }) =>
  code === 'store-misconfigured' && !/^this user may not see appendfsync, /.test(String(reason));

const inStep = async (port: number) => {
  const client = new Redis({ port, username: 'admin', password: 'secret', lazyConnect: true });
  client.on('error', () => {});
  try {
    return /master_link_status:up/.test(await client.info('replication'));
  } finally {
    client.disconnect();
  }
};

test('the users in config/users.acl can serve, copy and read', async () => {
  const folder = makeTempFolder();
  const users = readFileSync(USERS, 'utf8').replaceAll('CHANGE-ME', 'secret');
  const master = await redisWith(folder.path, users);
  const withUsers = await redisWith(folder.path, users, master);
  const without = await redisWith(folder.path, users.replace(/^user walletd.*$/m, ''), master);
  for (const { port } of [withUsers, without]) await until(`${port} is in step`, () => inStep(port));

  assert.equal((await runCommand(['init', `redis://initiator:secret@127.0.0.1:${master.port}`])).status, 0);

  const lines: { message: string; code?: string; reason?: string }[] = [];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  const log = { debug() {}, info: write, warn: write, error: write };
  const store = `redis://walletd:secret@127.0.0.1:${master.port}`;
  const settings = settingsWith({ store, port: 0, 'admin.port': 0, nodeFolder: `${folder.path}/node` });
  const node = await WalletNode.open({ settings, sources: new Map() }, log, () => {});
  await node.start();
  const client = new PlatformClient(`http://127.0.0.1:${node.callbackPort}`);
  await importPlayers(`http://127.0.0.1:${node.adminPort}`, ['ann'], 1000);
  assert.equal((await client.post('placeBets', bet('ann', 'b1'))).statusCode, 0);
  await until('a warning about the store', () => lines.some(isWarning));
  const reasons = lines.filter(isWarning).map(({ reason }) => reason);
  assert.equal(reasons.length, 1, 'one replica has the users');
  assert.match(reasons[0] as string, new RegExp(`^the replica 127\\.0\\.0\\.1:${without.port} would lock walletd out`));
  client.close();
  const feeds = `http://127.0.0.1:${node.adminPort}/v1/feeds`;
  const headers = { 'Content-Type': 'application/json' };
  const created = await fetch(feeds, { method: 'POST', headers, body: '{"name":"crm","from":"start"}' });
  assert.equal(created.status, 201, await created.text());
  assert.match(await (await fetch(`${feeds}/crm/events`)).text(), /walletd\.bet\.placed/);
  assert.equal((await fetch(`${feeds}/crm`, { method: 'DELETE' })).status, 200);
  await node.stop();

  for (const { port } of [master, withUsers]) {
    const reader = `redis://reader:secret@127.0.0.1:${port}`;
    for (const [action, said] of [
      [['verify', '--deep', '--no-server', '--store', reader], /Nothing differs\./],
      [['inspect', 'player', 'ann', '--store', reader], /bet-placed/],
      [['inspect', 'operators', '--since', '0', '--store', reader], /by local/],
      [['snapshot', 'list', '--store', reader], /whole/],
      [['undo', '--operator', 'local', '--since', '0', '--store', reader], /1 correction of \S+ THB; --yes writes/],
      [['backup', '--from', reader, '--to', `${folder.path}/${port}.backup`], /Store redis:/],
      [['restore', '--from', reader, '--to', `lmdb:${folder.path}/${port}`, '--dry-run'], /Nothing was written\./],
    ] as const) {
      const { status, stdout, stderr } = await runCommand(action);
      assert.equal(status, 0, `${action.join(' ')}: ${stderr}`);
      assert.match(stdout, said, action.join(' '));
    }
    const exported = runWalletd(['export', '--store', reader]);
    assert.equal(exported.status, 0, exported.stderr);
    assert.match(exported.stderr, /^walletd: exported \d+ events, up to \S+\n$/);
    assert.match(exported.stdout, /"type":"player-imported"/);
  }
  for (const server of [without, withUsers, master]) await server.destroy();
  folder.remove();
});

test('a failover with these users works for sentinels, replica and walletd', async () => {
  const folder = makeTempFolder();
  const users = readFileSync(USERS, 'utf8').replaceAll('CHANGE-ME', 'secret');
  const master = await redisWith(folder.path, users);
  const replica = await redisWith(folder.path, users, master);
  await until('the replica is in step', () => inStep(replica.port));
  const sentinels = await Sentinels.watch(master, 1, { user: 'sentinel', password: 'secret' });
  const store = sentinels.urlOf('walletd:secret@');
  assert.equal((await runCommand(['init', sentinels.urlOf('initiator:secret@')])).status, 0);
  const settings = { WALLETD_STORE: store, WALLETD_NODE_FOLDER: `${folder.path}/node` };
  const walletd = await WalletdProcess.start(settings);
  const client = new PlatformClient(walletd.callbackUrl);
  await importPlayers(walletd.adminUrl, ['ann'], 1000);
  assert.equal((await client.post('placeBets', bet('ann', 'b1'))).statusCode, 0);
  await master.end();
  await until('the sentinels promote the replica', () => sentinels.otherMaster(master.port));
  const second = bet('ann', 'b2');
  await until('an answer from the new master', async () => (await client.post('placeBets', second)).statusCode === 0);
  assert.ok(!walletd.log.some(isWarning), 'no user would be locked out');
  client.close();
  assert.equal(await walletd.end('SIGTERM'), 0);
  const misnamed = runWalletd(['serve'], { WALLETD_STORE: store.replace(/mymaster$/, 'another') });
  assert.equal(misnamed.status, 1);
  assert.match(misnamed.stderr, /the sentinels know no master with the name at the end of WALLETD_STORE/);
  assert.doesNotMatch(misnamed.stdout, /waiting for the store/);
  await sentinels.destroy();
  for (const server of [replica, master]) await server.destroy();
  folder.remove();
});
