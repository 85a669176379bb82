import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { AdminServer } from '../../src/admin/admin-server.js';
import { silentLogger } from '../../src/base/logger.js';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { settingsWith } from '../support/settings.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const [ANNA, BEN] = ['a-token-of-anna-alone', 'a-token-of-ben-alone'];
/** Number of import lines that are executed at the same time. */
const BATCH = 512;
const BOUNDED = { timeout: 60_000 };

async function start(t: TestContext) {
  const folder = makeTempFolder();
  const fixed = { store: `lmdb:${folder.path}/store`, nodeFolder: `${folder.path}/node`, port: 0, 'admin.port': 0 };
  const tokens = { 'admin.token': BEN, 'admin.tokens': [{ name: 'anna', role: 'operate', token: ANNA }] };
  const settings = settingsWith({ ...fixed, ...tokens, workers: 0, 'log.level': 'silent', 'log.metricsSeconds': 0 });
  const node = await WalletNode.open({ settings, sources: new Map() }, silentLogger, () => {});
  await node.start();
  t.after(async () => {
    await node.stop();
    folder.remove();
  });
  const { admin } = (node as unknown as { parts: { admin: AdminServer } }).parts;
  const revokeAnna = () => admin.setTokens([{ name: 'operator', role: 'operate', token: BEN }]);
  const playersOf = async (username: string) => {
    const headers = { Authorization: `Bearer ${BEN}` };
    return (await fetch(`http://127.0.0.1:${node.adminPort}/v1/players/${username}`, { headers })).status;
  };
  return { node, admin, revokeAnna, playersOf };
}

/** Sends the head of a request with anna's token. `ended` resolves to everything received. */
async function begin(port: number, method: string, path: string, type: string) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const received = { text: '' };
  socket.on('data', (data) => {
    received.text += data;
  });
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received.text)));
  const head = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', `Content-Type: ${type}`];
  socket.write(`${[...head, `Authorization: Bearer ${ANNA}`, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`);
  const send = (body: string) => socket.write(`${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`);
  const finish = () => socket.write('0\r\n\r\n');
  return { send, finish, received, ended };
}

const line = (n: number) => `${JSON.stringify({ id: 'o', username: `p${n}`, currency: 'THB', balance: 1 })}\n`;
const linesFrom = (first: number) => Array.from({ length: BATCH }, (_, n) => line(first + n)).join('');

test('a token that is revoked during an import creates no further player', BOUNDED, async (t) => {
  const { node, revokeAnna, playersOf } = await start(t);
  const { send, finish, received, ended } = await begin(
    node.adminPort,
    'POST',
    '/v1/players:import',
    'application/x-ndjson',
  );
  send(linesFrom(0));
  await until('the first lines are answered', () => received.text.includes(`"username":"p${BATCH - 1}"`));
  revokeAnna();
  send(linesFrom(BATCH));
  finish();
  assert.match(await ended, /"created":512,.*"cut":"its operator may not import any more"\}/);
  assert.deepEqual([await playersOf(`p${BATCH - 1}`), await playersOf(`p${BATCH}`)], [200, 404]);
});

test('a token that is revoked before the body arrives moves nothing', BOUNDED, async (t) => {
  const { node, admin, revokeAnna, playersOf } = await start(t);
  const { send, finish, ended } = await begin(node.adminPort, 'PUT', '/v1/players/ann', 'application/json');
  send('{"currency":');
  await until('the request is here', () => admin.inFlight === 1);
  revokeAnna();
  send('"THB"}');
  finish();
  assert.match(await ended, /^HTTP\/1\.1 401 /);
  assert.equal(await playersOf('ann'), 404);
});
