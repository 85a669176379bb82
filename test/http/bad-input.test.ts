import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { rawRequest } from '../support/raw-request.js';
import { TestNode } from '../support/test-node.js';

/** Cases that transcripts cannot express: sockets that are slow, interrupted or misbehaving. */
let node: TestNode;
before(async () => {
  node = await TestNode.start();
  const json = { 'Content-Type': 'application/json' };
  await fetch(`${node.adminUrl}/v1/players/ann`, { method: 'PUT', headers: json, body: '{"currency":"THB"}' });
  await fetch(`${node.adminUrl}/v1/players/ann/deposits`, {
    method: 'POST',
    headers: json,
    body: '{"id":"d1","amount":100}',
  });
});
after(() => node.close());

function bet(id: string, playInfo = 'p'): string {
  return JSON.stringify({
    id: `req-${id}`,
    timestampMillis: 1,
    productId: 'P1',
    currency: 'THB',
    username: 'ann',
    txns: [{ id, status: 'OPEN', roundId: 'r', betAmount: 1, gameCode: 'g', playInfo }],
  });
}

async function post(path: string, body: string | Buffer | ReadableStream): Promise<{ status: number; body: string }> {
  const response = await fetch(node.callbackUrl + path, { method: 'POST', body, duplex: 'half' } as RequestInit);
  return { status: response.status, body: await response.text() };
}

async function balance(): Promise<number> {
  const response = await fetch(`${node.adminUrl}/v1/players/ann`);
  return ((await response.json()) as { balance: number }).balance;
}

/** Writes the parts with a pause between them. Resolves to everything received. */
const rawSocket = (parts: readonly (string | Buffer)[], pauseMs: number) =>
  rawRequest(node.callbackUrl, parts, { pauseMs });

/** Writes a request or a part of one, and closes the connection after `ms`. */
async function hangUpAfter(piece: string, ms: number): Promise<void> {
  const { hostname, port } = new URL(node.callbackUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // A reset by the server is expected here.
  socket.on('error', () => {});
  socket.write(piece);
  await delay(ms);
  socket.destroy();
}

const head = (length: number, extra = '') =>
  `POST /placeBets HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${length}\r\n${extra}\r\n`;

test('a body over 256 KiB gets 413, immediately if its length was announced', async () => {
  const large = bet('large', 'x'.repeat(300_000));
  const answer = await post('/placeBets', large);
  assert.equal(answer.status, 413);
  assert.match(answer.body, /^\{"id":"","statusCode":40003,"timestampMillis":\d+,"productId":""\}$/);
  assert.match(await rawSocket([head(300_000)], 100), /^HTTP\/1\.1 413 /);
});

test('a body over 256 KiB in chunks without a length gets 413', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      if (sent++ < 8) controller.enqueue(chunk);
      else controller.close();
    },
  });
  const outcome = await post('/placeBets', endless).catch((error: Error) => error);
  // The server may close before the client has sent everything. In both cases nothing is applied.
  if (!(outcome instanceof Error)) assert.equal(outcome.status, 413);
  assert.equal(await balance(), 100);
});

test('a chunked body is parsed like any other', async () => {
  const text = bet('chunked');
  const stream = new ReadableStream({
    start(controller) {
      for (const char of [text.slice(0, 10), text.slice(10, 100), text.slice(100)])
        controller.enqueue(Buffer.from(char));
      controller.close();
    },
  });
  const answer = await post('/placeBets', stream);
  assert.equal(answer.status, 200);
  assert.match(answer.body, /"statusCode":0/);
});

test('a slow body is parsed, even with a character split in two', async () => {
  const body = Buffer.from(bet('slow-🎲'));
  const at = body.indexOf(0xf0) + 2;
  const parts = [head(body.length), body.subarray(0, at), body.subarray(at)];
  const received = await rawSocket(parts, 30);
  assert.match(received, /^HTTP\/1\.1 200 OK/);
  assert.match(received, /"statusCode":0/);
});

test("a sender of tiny chunks is disconnected, because each costs a callback's work", async () => {
  const text = bet('crumbs').padEnd(2000);
  const crumbs = [...text].map((char) => `1\r\n${char}\r\n`).join('');
  const chunked =
    'POST /placeBets HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
  assert.equal(await rawSocket([chunked, crumbs, '0\r\n\r\n'], 100), '');
  const pieces = text.match(/.{1,100}/gs) as string[];
  const bites = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
  assert.match(await rawSocket([chunked, bites, '0\r\n\r\n'], 100), /^HTTP\/1\.1 200 OK/);
});

test('an interrupted upload applies nothing, and the server continues', async () => {
  const before = await balance();
  const text = bet('cut-off');
  for (let i = 0; i < 20; i++) await hangUpAfter(head(text.length) + text.slice(0, text.length - 5), 5);
  assert.equal(await balance(), before);
});

test('after an early disconnect, the bet is applied at most once', async () => {
  for (let i = 0; i < 20; i++) {
    const text = bet(`hung-up-${i}`);
    await hangUpAfter(head(text.length) + text, 0);
    const { body } = await post('/placeBets', text);
    const answer = JSON.parse(body) as { balanceBefore: number; balanceAfter: number };
    assert.equal(answer.balanceBefore - answer.balanceAfter, 1);
    assert.equal(await balance(), answer.balanceAfter);
  }
});

test('garbage, pipelined requests and huge headers never crash the server', async () => {
  const text = bet('rude');
  const requests = [
    'GARBAGE\r\n\r\n',
    '\x00\x01\x02\x03\r\n\r\n',
    'POST /placeBets HTTP/1.1\r\n\r\n',
    `POST /placeBets HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n`,
    `POST /placeBets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n`,
    `${head(text.length)}${text}`.repeat(3),
    head(2, `X-Huge: ${'x'.repeat(100_000)}\r\n`),
    `POST /placeBets HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
  ];
  for (const request of requests) await hangUpAfter(request, 20);
  assert.equal((await post('/placeBets', bet('after-rude'))).status, 200);
});

test('HEAD responses have no body', async () => {
  for (const path of ['/placeBets', '/nowhere']) {
    const received = await rawSocket([`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`], 100);
    assert.match(received, /^HTTP\/1\.1 40[45] [^{]*\r\n\r\n$/);
  }
});

test('headers up to 16 KiB are accepted', async () => {
  const text = bet('headers');
  const received = await rawSocket([head(text.length, `X-Long: ${'x'.repeat(12_000)}\r\n`) + text], 200);
  assert.match(received, /^HTTP\/1\.1 200 OK/);
});

test('IDs may have 256 characters; longer ones are refused and not echoed', async () => {
  const withId = (id: string) => bet('t').replace('"id":"req-t"', `"id":"${id}"`).replace('"id":"t"', `"id":"${id}"`);
  for (const id of ['x'.repeat(256), '🎲'.repeat(256)]) {
    const answer = await post('/placeBets', withId(id));
    assert.equal(answer.status, 200);
    assert.equal((JSON.parse(answer.body) as { id: string }).id, id);
  }
  for (const id of ['x'.repeat(257), '🎲'.repeat(257), 'x'.repeat(5000)]) {
    const answer = await post('/placeBets', withId(id));
    assert.equal(answer.status, 400);
    assert.equal((JSON.parse(answer.body) as { id: string }).id, '');
  }
});

test('deeply nested and very wide JSON is refused', async () => {
  assert.equal((await post('/placeBets', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)).status, 400);
  assert.equal(
    (await post('/placeBets', `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(',')}}`)).status,
    400,
  );
});

test('a property named __proto__ does not replace a missing field', async () => {
  const body =
    '{"__proto__":{"id":"q","timestampMillis":1,"productId":"P1","currency":"THB","username":"ann"},"txns":[]}';
  assert.equal((await post('/placeBets', body)).status, 400);
});

test('a field unknown to its endpoint may contain anything, even next to an escape', async () => {
  const body =
    '{"id":"q","timestampMillis":1,"productId":"P1","currency":"THB","username":"ann","txns":' +
    '[{"id":"\\u0041","status":"REFUND","roundId":"r","betAmount":1,"gameCode":5,"playInfo":{"a":1}}]}';
  assert.equal((await post('/cancelTips', body)).status, 200);
});
