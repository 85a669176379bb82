import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fastify, { type FastifyRequest } from 'fastify';
import { importRoute, LINES_TYPES } from '../../src/admin/import-players.js';
import { limitBody } from '../../src/admin/limit-body.js';
import { addRoute } from '../../src/admin/route.js';
import { systemClock } from '../../src/base/clock.js';
import { AmountLimits, ScaleTable } from '../../src/wallet/amount.js';

const SILENCE_MS = 500;

/** Runs a server with only the import route. */
async function importServer(t: TestContext) {
  const stopping = new AbortController();
  const logged: object[] = [];
  const note = (fields: object) => void logged.push(fields);
  const log = { debug() {}, info: note, warn: note, error: note };
  const scales = new ScaleTable({ default: 4, byCurrency: {} });
  const settings = {
    importLinesMax: 1000,
    scales,
    amountLimits: new AmountLimits({ default: null, byCurrency: {} }, scales),
  };
  const byHand = { move: async () => ({ type: 'accepted', isRepeat: false }) as never };
  const app = fastify({
    connectionTimeout: SILENCE_MS,
    forceCloseConnections: true,
  });
  app.addContentTypeParser(LINES_TYPES, (_request, payload, done) => done(null, payload));
  app.decorateRequest('operator', null as never);
  app.decorateRequest('isKnown', () => true);
  app.addHook('onRequest', async (request: FastifyRequest) => {
    request.operator = { name: 'anna', address: '127.0.0.1' };
  });
  addRoute(app, importRoute({ settings, clock: systemClock, log }, byHand, stopping.signal));
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const { port } = app.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  const ended = once(socket, 'close').then(() => text);
  socket.write('POST /v1/players:import HTTP/1.1\r\nHost: a\r\nConnection: close\r\n');
  socket.write('Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n');
  return { socket, ended, stopping, logged };
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const line = (n: number) => `{"id":"o","username":"p${n}","currency":"THB","balance":1}\n`;
const answersIn = (text: string) =>
  text
    .split(/\r?\n/)
    .filter((one) => one.startsWith('{'))
    .map((one) => JSON.parse(one));

test('a stalled import ends and reports its progress', async (t) => {
  const { socket, ended, logged } = await importServer(t);
  socket.write(chunk(Array.from({ length: 512 }, (_, n) => line(n)).join('')));
  const answers = answersIn(await ended);
  const sums = { created: 512, skipped: 0, refused: 0, lines: 512 };
  assert.deepEqual(answers.at(-1), { ...sums, cut: 'nothing was received for too long' });
  assert.deepEqual(logged, [
    { code: 'import-cut', operator: 'anna', ...sums, reason: 'nothing was received for too long' },
  ]);
});

test('an import interrupted by shutdown ends and reports its progress', async (t) => {
  const { socket, ended, stopping } = await importServer(t);
  socket.write(chunk(Array.from({ length: 512 }, (_, n) => line(n)).join('')));
  await once(socket, 'data');
  stopping.abort();
  assert.deepEqual(answersIn(await ended).at(-1), {
    ...{ created: 512, skipped: 0, refused: 0, lines: 512 },
    cut: 'the server is shutting down',
  });
});

test('an import whose client disconnects is logged with its progress', async (t) => {
  const { socket, ended, logged } = await importServer(t);
  socket.write(chunk(Array.from({ length: 512 }, (_, n) => line(n)).join('')));
  await once(socket, 'data');
  socket.destroy();
  await ended;
  for (let n = 0; logged.length === 0 && n < 500; n++) await delay(10);
  const [one] = logged as { code: string; lines: number }[];
  assert.deepEqual([one?.code, one?.lines], ['import-cut', 512]);
});

test("every body except an import's must arrive within a time limit", async (t) => {
  const app = fastify({ requestTimeout: 0, forceCloseConnections: true });
  app.addHook('onRequest', async ({ raw }, reply) => limitBody(raw, reply.raw, 50));
  app.post('/', async () => ({}));
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const socket = connect((app.server.address() as { port: number }).port, '127.0.0.1');
  t.after(() => socket.destroy());
  // The connection may end with a reset, because more data is still in transit.
  socket.on('error', () => {});
  socket.resume();
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{');
  const timer = setInterval(() => socket.write(' '), 10);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(timer);
});
