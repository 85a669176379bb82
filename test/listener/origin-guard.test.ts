import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKeys, type SignatureKey, sign } from '../../src/http/signature.js';
import { isLoopbackHost, originOf } from '../../src/listener/origin-guard.js';
import { balanceOf, bet } from '../support/client.js';
import { answersIn, postOf, rawRequest } from '../support/raw-request.js';
import type { TestNode } from '../support/test-node.js';
import { withNode } from '../support/with-node.js';

/** Each of these headers alone reveals that a browser or proxy carried the request. */
const CARRIED = [
  'Origin: https://casino.example',
  'Origin: null',
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Dest: empty',
  'Sec-Fetch-User: ?1',
  'Forwarded: for=192.0.2.7',
  'Via: 1.1 proxy',
  'X-Real-IP: 192.0.2.7',
  'X-Forwarded-For: 192.0.2.7',
  'X-Forwarded-Host: casino.example',
  'x-forwarded-proto: https',
];
const FOREIGN_HOSTS = ['casino.example', '127.0.0.1.casino.example', '192.0.2.7:3000', 'localhost.casino.example', ''];
const OWN_HOSTS = ['localhost', 'LOCALHOST:3000', '127.0.0.1:1', '127.8.9.1', '[::1]:3000'];
const BODY = JSON.stringify({ ...bet('ann', 'b1') });

const ask = async (node: TestNode, headers: readonly string[], host = 'localhost') =>
  answersIn(await rawRequest(node.callbackUrl, [postOf('/placeBets', BODY, headers).replace('localhost', host)]));

test('foreign hosts and headers of carried requests are recognized', () => {
  for (const host of OWN_HOSTS) assert.ok(isLoopbackHost(host), host);
  for (const host of FOREIGN_HOSTS) assert.ok(!isLoopbackHost(host), host);
  for (const name of ['host', 'accept', 'sec-fetch-mode', 'x-forwarded', 'x-request-id', 'viaduct']) {
    assert.equal(originOf(name), undefined, name);
  }
});

test('an open loopback listener moves no money for browsers or proxies', () =>
  withNode({}, async (node) => {
    for (const header of CARRIED) assert.deepEqual(await ask(node, [header]), [[403, 40003]], header);
    for (const host of FOREIGN_HOSTS) assert.deepEqual(await ask(node, [], host), [[403, 40003]], host);
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 100);
    for (const host of OWN_HOSTS) assert.deepEqual(await ask(node, ['Sec-Fetch-Mode: cors'], host), [[200, 0]], host);
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 99);
  }));

test('the PROXY protocol reveals a proxy', () =>
  withNode({}, async (node) => {
    const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
    const header = Buffer.from([0x21, 0x11, 0, 12, 192, 0, 2, 7, 127, 0, 0, 1, 0, 80, 0, 80]);
    const request = Buffer.concat([signature, header, Buffer.from(postOf('/placeBets', BODY))]);
    assert.deepEqual(answersIn(await rawRequest(node.callbackUrl, [request])), [[403, 40003]]);
  }));

test('the log names the header and the fix', () =>
  withNode({}, async (node) => {
    await ask(node, ['X-Forwarded-For: 192.0.2.7']);
    const [line] = node.logLines.filter(({ code }) => code === 'callbacks-refused');
    const [reason = ''] = Object.keys(line?.refused as object);
    assert.match(
      reason,
      /X-Forwarded-\*, which a proxy adds: without signature\.keys or allow\.networks, .*proxies\.md/,
    );
  }));

test('callers that authenticate themselves may use proxies', async () => {
  const keys = 'new:a-secret-of-the-platform';
  const [key] = parseKeys(keys) as [SignatureKey];
  const timestamp = String(Date.now());
  const signature = [
    `sapi-timestamp: ${timestamp}`,
    `sapi-signature: ${sign(key.secret, Buffer.from(BODY), timestamp)}`,
  ];
  for (const [settings, headers] of [
    [{ 'signature.keys': keys }, signature],
    [{ 'allow.networks': '127.0.0.1' }, []],
    [{ insecure: true }, []],
  ] as const) {
    await withNode(settings, async (node) => {
      assert.deepEqual(await ask(node, [...headers, 'X-Forwarded-For: 192.0.2.7'], 'casino.example'), [[200, 0]]);
    });
  }
});

test('without a token the operator API refuses foreign requests, except from its own page', () =>
  withNode({}, async (node) => {
    const { host } = new URL(node.adminUrl);
    const deposit = async (headers: readonly string[]) => {
      const body = '{"id":"d1","amount":1}';
      const json = 'Content-Type: application/json';
      const text = postOf('/v1/players/ann/deposits', body, [json, 'Connection: close', ...headers]);
      const received = await rawRequest(node.adminUrl, [text.replace('localhost', host)]);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1]);
    };
    const ofBrowsers = /^Sec-Fetch-(Dest|User)/;
    for (const header of CARRIED.filter((one) => !ofBrowsers.test(one)))
      assert.equal(await deposit([header]), 401, header);
    assert.equal(await deposit(['Sec-Fetch-Site: same-site', `Origin: http://${host}`]), 401);
    const page = [
      'Sec-Fetch-Site: same-origin',
      'Sec-Fetch-Dest: empty',
      'Sec-Fetch-Mode: cors',
      `Origin: http://${host}`,
    ];
    assert.equal(await deposit(page), 200);
    const reasons = node.logLines.filter(({ code }) => code === 'operator-api-refused');
    assert.match(JSON.stringify(reasons[0]?.refused), /Origin, which a browser adds: without admin\.token/);
  }));

test('startup logs the allowed callers of each listener', () =>
  withNode({ 'health.port': 0 }, async (node) => {
    const lines = node.logLines.filter(({ message }) => message === 'listener open');
    assert.deepEqual(
      lines.map(({ listener }) => listener),
      ['callbacks', 'operator API', 'health'],
    );
    for (const { url, callers } of lines) assert.match(`${url} ${callers}`, /^http:\/\/127\.0\.0\.1:[1-9]\d* \S/);
  }));
