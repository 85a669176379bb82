import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { WalletNode } from '../../src/node/wallet-node.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { RedisServer } from '../support/redis-server.js';
import { runVerb } from '../support/run-verb.js';
import { settingsWith } from '../support/settings.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const USERS = fileURLToPath(new URL('../../../config/users.acl', import.meta.url));

/** Redis with the users of config/users.acl, all with the password `secret`; as a replica it copies as its user. */
async function redisWith(folder: string, users: string, master?: RedisServer): Promise<RedisServer> {
  const file = `${folder}/users-${Math.random()}.acl`;
  writeFileSync(file, users);
  const copies =
    master === undefined ? {} : { replicaof: `127.0.0.1 ${master.port}`, masteruser: 'replica', masterauth: 'secret' };
  return await RedisServer.start({ aclfile: file, ...copies });
}

const inStep = async (port: number) => {
  const client = new Redis({ port, username: 'admin', password: 'secret', lazyConnect: true });
  client.on('error', () => {});
  try {
    return /master_link_status:up/.test(await client.info('replication'));
  } finally {
    client.disconnect();
  }
};

test('the users of config/users.acl are enough to serve, to copy, and to read; a replica without them is named', async () => {
  const folder = makeTempFolder();
  const users = readFileSync(USERS, 'utf8').replaceAll('CHANGE-ME', 'secret');
  const master = await redisWith(folder.path, users);
  const withUsers = await redisWith(folder.path, users, master);
  const without = await redisWith(folder.path, users.replace(/^user walletd.*$/m, ''), master);
  for (const { port } of [withUsers, without]) await until(`${port} is in step`, () => inStep(port));

  const lines: { message: string; concern?: string }[] = [];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  const log = { debug() {}, info: write, warn: write, error: write };
  const store = `redis://walletd:secret@127.0.0.1:${master.port}`;
  const settings = settingsWith({ store, init: 'auto', port: 0, 'admin.port': 0, nodeFolder: `${folder.path}/node` });
  const node = await WalletNode.open(settings, log, () => {});
  await node.start();
  const client = new PlatformClient(`http://127.0.0.1:${node.callbackPort}`);
  await importPlayers(`http://127.0.0.1:${node.adminPort}`, ['ann'], 1000);
  assert.equal((await client.post('placeBets', bet('ann', 'b1'))).statusCode, 0);
  await until('the concern', () => lines.some(({ concern }) => concern !== undefined));
  const concerns = lines.flatMap(({ concern }) => concern ?? []);
  assert.equal(concerns.length, 1, 'one replica has the users');
  assert.match(
    concerns[0] as string,
    new RegExp(`^the replica 127\\.0\\.0\\.1:${without.port} would lock walletd out`),
  );
  client.close();
  await node.stop();

  for (const { port } of [master, withUsers]) {
    const { status, stdout, stderr } = await runVerb([
      'verify',
      '--no-server',
      '--store',
      `redis://reader:secret@127.0.0.1:${port}`,
    ]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /Nothing differs\./);
  }
  for (const server of [without, withUsers, master]) await server.destroy();
  folder.remove();
});
