import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { parseHeader } from '../../src/cli/header-option.js';
import { Client, type Header } from '../../src/simulate/client.js';
import { curlLines } from '../../src/simulate/explain.js';
import { bodyOf } from '../../src/simulate/message.js';
import { Pace } from '../../src/simulate/pace.js';
import { Platform } from '../../src/simulate/platform.js';
import { DEFAULT_PROFILE, parseProfile } from '../../src/simulate/profile.js';
import { usernamesOf } from '../../src/simulate/usernames.js';

const PLAYER = { username: 'ann', currency: 'THB', balance: 1000 };
const TIMEOUT_MS = 60_000;

/** Headers that a server receives from a client with these headers. */
async function received(headers: readonly Header[]): Promise<IncomingHttpHeaders> {
  let seen: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    seen = request.headers;
    request.resume();
    response.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new Client(`http://127.0.0.1:${port}`, TIMEOUT_MS, undefined, headers);
  try {
    await client.post('/a', '{}');
    return seen;
  } finally {
    client.close();
    server.close();
  }
}

test('each request has a User-Agent and the added headers', async () => {
  const seen = await received([parseHeader('X-Api-Key: secret:1')]);
  assert.deepEqual([seen['user-agent'], seen['x-api-key']], ['walletd-simulate', 'secret:1']);
  const other = await received([parseHeader('user-agent:Platform/2')]);
  assert.equal(other['user-agent'], 'Platform/2');
});

test('a header that simulate sets, or that is invalid, is refused', () => {
  for (const text of ['Host: a', 'content-type:text/plain', 'Sapi-Signature: 1', 'Connection:close']) {
    assert.throws(() => parseHeader(text), /simulate sets .* itself$/, text);
  }
  for (const text of ['name', ': value', 'a b: c', 'a: b\r\nc: d']) {
    assert.throws(() => parseHeader(text), /^Error: It must be NAME:VALUE in ASCII$/, text);
  }
});

test('curl commands name added headers without their values', () => {
  const message = new Platform().bet('b1', 100);
  const body = bodyOf(message, PLAYER, 'P', 0);
  const history = [
    { endpoint: message.endpoint, path: '/placeBets', body, signature: undefined, how: 'plain' as const },
  ];
  for (const signs of [false, true]) {
    const lines = curlLines(
      { player: PLAYER, history, expected: [], balances: { before: [], after: [] }, signs, headerNames: ['X-Api-Key'] },
      'http://a',
    );
    assert.ok(lines.includes('# HEADER_X_API_KEY is the value of the header X-Api-Key'));
    assert.ok(lines.join('\n').includes(' -H "X-Api-Key: $HEADER_X_API_KEY"'));
  }
});

test("a profile fills a request's txnId, sessionToken, gameCode and playInfo", () => {
  const text = '{"txnId": true, "sessionToken": "token-{username}", "gameCode": "slot-7", "playInfo": "main"}';
  const profile = parseProfile(text);
  const p = new Platform();
  const bet = p.bet('b1', 100);
  const bodies = [bet, bet, p.anew(bet), p.bet('b2', 100, { gameCode: 'other', txnId: 'own' })].map((message) => {
    return JSON.parse(bodyOf(message, PLAYER, profile.productId, 0, profile)) as Record<string, unknown>;
  });
  const elements = bodies.map(({ txns }) => (txns as Record<string, unknown>[])[0]);
  assert.equal(bodies[0]?.sessionToken, 'token-ann');
  assert.deepEqual(
    elements.map((txn) => [txn?.txnId, txn?.gameCode, txn?.playInfo]),
    [
      ['ann-t1-0', 'slot-7', 'main'],
      ['ann-t1-0', 'slot-7', 'main'],
      ['ann-t2-0', 'slot-7', 'main'],
      ['own', 'other', 'main'],
    ],
  );
  const [plain] = (JSON.parse(bodyOf(bet, PLAYER, 'P', 0, DEFAULT_PROFILE)) as { txns: object[] }).txns;
  assert.ok(!('txnId' in (plain as object)));
});

test('usernames follow their pattern and keep its length', () => {
  const next = usernamesOf('sim#######', 0.5);
  const names = Array.from({ length: 1000 }, next);
  assert.equal(new Set(names).size, 1000);
  for (const name of names) assert.match(name, /^sim[0-9a-z]{7}$/);
  const last = usernamesOf('####x', 1 - Number.EPSILON);
  assert.deepEqual([last(), last()], ['zzzzx', '0000x']);
  for (const pattern of ['sim', 'sim###', '####-####', '###########']) {
    assert.throws(() => usernamesOf(pattern, 0), /must have 4 to 10 # in a row/, pattern);
  }
});

test('a pace spreads messages evenly over time', () => {
  const pace = new Pace(10);
  assert.equal(pace.restMs(1000, 1), 0);
  assert.equal(pace.restMs(1000, 3), 100);
  assert.equal(pace.restMs(1000, 1), 400);
  assert.equal(pace.restMs(5000, 1), 0, 'time that was not used is not made up for');
});
