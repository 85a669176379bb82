import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TIMES } from '../../src/admin/admin-server.js';
import { TestNode } from '../support/test-node.js';

/**
 * Makes the operator API's time limits a thousand times shorter. The limit of one minute for a body becomes 60 ms; a
 * limit of ten minutes for a request, which once existed, would become 600 ms. The limit for headers must stay below
 * 600 ms: Node applies the shorter of its two limits to the headers and the longer one to the request, regardless of
 * their names.
 */
const FASTER = 1000;
const LONGER_MS = 1500;
/** Number of import lines that are executed at the same time. */
const BATCH = 512;
const usual = { ...TIMES };
let node: TestNode;

before(async () => {
  Object.assign(TIMES, { body: usual.body / FASTER, request: usual.request / FASTER });
  Object.assign(TIMES, { headers: 500, silence: 3000, check: 20 });
  node = await TestNode.start();
});

after(async () => {
  await node.close();
  Object.assign(TIMES, usual);
});

const line = (n: number) => `${JSON.stringify({ id: 'o', username: `p${n}`, currency: 'THB', balance: 1 })}\n`;

/** Sends a request with a chunked body. `ended` resolves to everything received by the time the connection ends. */
async function begin(path: string, type: string) {
  const { hostname, port } = new URL(node.adminUrl);
  const socket = connect(Number(port), hostname);
  // The connection may end with a reset, because more data is still in transit.
  socket.on('error', () => {});
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', `Content-Type: ${type}`];
  socket.write(`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`);
  const send = (body: string) => socket.write(`${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`);
  return { socket, send, ended };
}

const lastLineOf = (text: string) => JSON.parse(/.*(\{.*\})/s.exec(text)?.[1] ?? 'null');

test('an import that makes progress outlasts every request limit', async () => {
  const { socket, send, ended } = await begin('/v1/players:import', 'application/x-ndjson');
  let lines = 0;
  for (const beganMs = performance.now(); performance.now() - beganMs < LONGER_MS && !socket.destroyed; lines++) {
    send(line(lines));
    await delay(10);
  }
  socket.write('0\r\n\r\n');
  assert.deepEqual(lastLineOf(await ended), { created: lines, skipped: 0, refused: 0 });
});

test('an import without progress ends, and its last line says so', async () => {
  const { send, ended } = await begin('/v1/players:import', 'application/x-ndjson');
  send(Array.from({ length: BATCH }, (_, n) => line(n)).join(''));
  const last = lastLineOf(await ended);
  assert.deepEqual([last.lines, last.cut], [BATCH, 'nothing was received for too long']);
});

test('every other body is cut off at its limit, even while it makes progress', async () => {
  const { send, ended } = await begin('/v1/players/p0/deposits', 'application/json');
  const timer = setInterval(() => send(' '), 10);
  const text = await ended;
  clearInterval(timer);
  assert.equal(text, '', 'no answer before the end of the body');
});
