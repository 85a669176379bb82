import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { HttpApp, HttpConnection, HttpResponse } from '../../src/http/http-port.js';
import { NODE_HTTP } from '../../src/http/node-http.js';
import { postOf, rawRequest } from '../support/raw-request.js';
import { until } from '../support/until.js';

interface Serving {
  readonly url: string;
  readonly app: HttpApp;
  /** Received requests: each path with its body. */
  readonly requests: string[];
  /** Answers that `/late` has not sent yet. */
  readonly late: HttpResponse[];
  readonly hosts: string[];
  readonly open: Set<HttpConnection>;
}

/** Serves paths that answer immediately, and `/late`, whose answers the test triggers. */
async function serve(t: TestContext): Promise<Serving> {
  const app = NODE_HTTP.createApp(undefined);
  const serving = { app, requests: [], late: [], hosts: [], open: new Set<HttpConnection>() } as Omit<Serving, 'url'>;
  app.filter((connection, change) => (change > 0 ? serving.open.add(connection) : serving.open.delete(connection)));
  app.post('/late', (res) => {
    serving.late.push(res);
    res.onAborted(() => serving.late.splice(serving.late.indexOf(res), 1));
  });
  app.any('/*', (res, req) => {
    const path = req.getUrl();
    serving.hosts.push(req.getHeader('host'));
    res.onData((chunk, isLast) => {
      if (!isLast) return;
      serving.requests.push(`${path} ${Buffer.from(chunk).toString()}`);
      res.end('done');
    });
  });
  const socket = await NODE_HTTP.listen(app, '127.0.0.1', 0);
  assert.ok(socket);
  t.after(() => app.close());
  return { ...serving, url: `http://127.0.0.1:${socket.port}` };
}

/** PROXY protocol header, version 2. */
function proxied(command: 'PROXY' | 'LOCAL', text: string): Buffer {
  const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
  const header = Buffer.from([
    command === 'PROXY' ? 0x21 : 0x20,
    0x11,
    0,
    12,
    192,
    0,
    2,
    7,
    127,
    0,
    0,
    1,
    0,
    80,
    0,
    80,
  ]);
  return Buffer.concat([signature, header, Buffer.from(text)]);
}

function open({ url }: Serving, text: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write(text);
  return socket;
}

test('a request before the previous answer closes the connection', async (t) => {
  const serving = await serve(t);
  assert.equal(await rawRequest(serving.url, [postOf('/late', '') + postOf('/x', '')]), '');
  assert.deepEqual(serving.requests, []);
  assert.equal(serving.late.length, 0);
});

test('an unreadable request gets 400 unless an earlier answer is pending', async (t) => {
  const serving = await serve(t);
  assert.match(
    await rawRequest(serving.url, ['GARBAGE\r\n\r\n']),
    /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/,
  );
  assert.equal(await rawRequest(serving.url, [postOf('/late', ''), 'GARBAGE\r\n\r\n']), '');
  assert.match(await rawRequest(serving.url, ['GET / HTTP/1.0\r\nHost: x\r\n\r\n']), /^HTTP\/1\.1 505 /);
  assert.match(await rawRequest(serving.url, [postOf('/x', 'ab', ['Content-Length: 4'])]), /^HTTP\/1\.1 400 /);
  assert.deepEqual(serving.requests, []);
});

test('a request with two Host headers has no host name', async (t) => {
  const serving = await serve(t);
  await rawRequest(serving.url, [postOf('/x', '', ['Host: casino.example'])]);
  assert.deepEqual(serving.hosts, ['localhost, casino.example']);
});

test('a PROXY header may arrive in pieces, but only before the first request', async (t) => {
  const serving = await serve(t);
  const bytes = proxied('PROXY', postOf('/x', 'whole'));
  const pieces = [bytes.subarray(0, 7), bytes.subarray(7, 20), bytes.subarray(20)];
  assert.match(await rawRequest(serving.url, pieces), /done$/);
  const again = await rawRequest(serving.url, [postOf('/x', 'first'), proxied('PROXY', postOf('/x', 'second'))]);
  assert.match(again, /doneHTTP\/1\.1 400 /);
  assert.deepEqual(serving.requests, ['/x whole', '/x first']);
});

test('only the command PROXY conveys an address', async (t) => {
  const { url, app } = await serve(t);
  const addresses: string[] = [];
  app.post('/who', (res) => {
    addresses.push(Buffer.from(res.getProxiedRemoteAddress()).join('.'));
    res.end('');
  });
  for (const command of ['PROXY', 'LOCAL'] as const) await rawRequest(url, [proxied(command, postOf('/who', ''))]);
  assert.deepEqual(addresses, ['192.0.2.7', '']);
});

test("close calls the connection's end handlers before it returns", async (t) => {
  const serving = await serve(t);
  open(serving, postOf('/late', ''));
  await until('the request is there', () => serving.late.length === 1);
  serving.late[0]?.close();
  assert.deepEqual([serving.late.length, serving.open.size], [0, 0]);
});

test('a caller that closes its side while it waits is disconnected', async (t) => {
  const serving = await serve(t);
  const socket = open(serving, postOf('/late', ''));
  await until('the request is there', () => serving.late.length === 1);
  socket.end();
  await once(socket, 'close');
  assert.equal(serving.late.length, 0);
});

test('new connections go to the successor, and earlier ones remain', async (t) => {
  const first = await serve(t);
  const second = await serve(t);
  const kept = open(first, postOf('/x', '1'));
  await until('the first app has answered', () => first.requests.length === 1);
  NODE_HTTP.handConnectionsTo(second.app, first.app, first.app);
  await rawRequest(first.url, [postOf('/x', '2')]);
  kept.write(postOf('/x', '3'));
  await until('the first app has answered again', () => first.requests.length === 2);
  assert.deepEqual([first.requests, second.requests], [['/x 1', '/x 3'], ['/x 2']]);
});

test('only connections that wait for an answer outlast the idle timeout', async (t) => {
  const serving = await serve(t);
  const idle = [open(serving, ''), open(serving, 'POST /x HTTP/1.1\r\nHost:'), open(serving, postOf('/x', ''))];
  const waiting = open(serving, postOf('/late', ''));
  await Promise.all(idle.map((socket) => once(socket, 'close')));
  assert.deepEqual([serving.open.size, serving.late.length, waiting.destroyed], [1, 1, false]);
});
