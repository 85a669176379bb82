import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { OperatorToken, OverviewSource } from '../../src/admin/admin-deps.js';
import { benchmarkTime, findBenchmarkReport } from '../../src/admin/console/benchmark-report.js';
import { LiveFeed } from '../../src/admin/console/live-feed.js';
import { SESSION_MS, Sessions } from '../../src/admin/console/session.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';

const ANNA = 'a-token-of-anna-alone';
const AUDITOR = 'a-token-of-the-auditor';
const TOKENS: readonly OperatorToken[] = [
  { name: 'anna', role: 'operate', token: ANNA },
  { name: 'auditor', role: 'read', token: AUDITOR },
];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Uses node:http, because `fetch` reorders a browser's headers and forbids some of them. */
function ask(url: string, method: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const received = new Headers(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string]),
        );
        resolve({ status: response.statusCode ?? 0, headers: received, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const NONE_SIGNED_OUT = { has: () => false };
const JSON_TYPE = { 'Content-Type': 'application/json' };

test("the operator API's root leads to the console, and startup logs its address", async () => {
  const node = await TestNode.start();
  try {
    const { status, headers } = await ask(`${node.adminUrl}/`, 'GET');
    assert.deepEqual([status, headers.get('location')], [302, '/console/']);
    const ready = node.logLines.find(({ message }) => message === 'walletd is ready');
    assert.equal(ready?.console, `${node.adminUrl}/console/`);
  } finally {
    await node.close();
  }
});

describe('console sessions', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ 'admin.tokens': TOKENS });
  });
  after(() => node.close());

  const signIn = async (token: string, headers: Record<string, string> = {}) =>
    await ask(`${node.adminUrl}/console/session`, 'POST', { ...JSON_TYPE, ...headers }, JSON.stringify({ token }));
  const sessionOf = async (token: string) => {
    const { headers, text } = await signIn(token);
    const cookie = (headers.get('set-cookie') ?? '').split(';')[0] as string;
    return { cookie, csrf: (JSON.parse(text) as { csrf: string }).csrf };
  };
  const put = (name: string, headers: Record<string, string>) =>
    ask(`${node.adminUrl}/v1/players/${name}`, 'PUT', { ...JSON_TYPE, ...headers }, '{"currency":"THB"}');

  test('the session cookie is hidden from scripts and other sites, and expires', async () => {
    const { status, headers } = await signIn(ANNA);
    assert.equal(status, 200);
    const attributes = `; Path=/; Max-Age=${SESSION_MS / 1000}; HttpOnly; SameSite=Strict`;
    assert.ok(headers.get('set-cookie')?.endsWith(attributes), headers.get('set-cookie') ?? 'none');
    const behindTls = await signIn(ANNA, { 'X-Forwarded-Proto': 'https' });
    assert.match(behindTls.headers.get('set-cookie') ?? '', /^__Host-walletd-.*; Secure$/);
  });

  test('neither a wrong token nor a page of a different site begins a session', async () => {
    assert.equal((await signIn('wrong')).status, 401);
    const foreign = await signIn(ANNA, { Origin: 'http://evil.example' });
    assert.deepEqual([foreign.status, foreign.headers.get('set-cookie')], [403, null]);
  });

  test("a session can read, but changes need its CSRF token and the console's page", async () => {
    const { cookie, csrf } = await sessionOf(ANNA);
    const other = await sessionOf(ANNA);
    assert.equal((await ask(`${node.adminUrl}/v1/players`, 'GET', { Cookie: cookie })).status, 200);
    assert.equal((await put('pia', { Cookie: cookie })).status, 403);
    assert.equal((await put('pia', { Cookie: cookie, 'X-Walletd-Csrf': 'x' })).status, 403);
    assert.equal((await put('pia', { Cookie: cookie, 'X-Walletd-Csrf': other.csrf })).status, 403);
    const foreign = { Cookie: cookie, 'X-Walletd-Csrf': csrf, Origin: 'http://evil.example' };
    assert.equal((await put('pia', foreign)).status, 403);
    assert.equal((await ask(`${node.adminUrl}/v1/players/pia`, 'GET', { Cookie: cookie })).status, 404);
    assert.equal((await put('pia', { Cookie: cookie, 'X-Walletd-Csrf': csrf })).status, 201);
    const { text } = await ask(`${node.adminUrl}/v1/players/pia/operations`, 'GET', { Cookie: cookie });
    assert.match(text, /"name":"anna"/);
  });

  test('the read role cannot change anything, even with its CSRF token', async () => {
    const { cookie, csrf } = await sessionOf(AUDITOR);
    assert.equal((await put('rea', { Cookie: cookie, 'X-Walletd-Csrf': csrf })).status, 403);
  });

  test('each sign-in and sign-out is logged with its address, without secrets', async () => {
    const lines = () => node.logLines.filter(({ message }) => /signed (in|out)/.test(message));
    const before = lines().length;
    const from = { 'X-Forwarded-For': '198.51.100.7' };
    const signedIn = await signIn(ANNA, from);
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] as string;
    const out = (headers: Record<string, string>) => ask(`${node.adminUrl}/console/session`, 'DELETE', headers);
    assert.equal((await out({ ...from, Cookie: cookie })).status, 200);
    assert.equal((await out(from)).status, 200);
    const by = { name: 'anna', address: '198.51.100.7' };
    const reported = lines().slice(before);
    assert.deepEqual(reported, [
      { level: 'info', message: 'operator signed in to the console', by },
      { level: 'info', message: 'operator signed out of the console', by },
    ]);
    const text = JSON.stringify(node.logLines);
    assert.ok(!text.includes(ANNA) && !text.includes(cookie.slice(cookie.indexOf('=') + 1)));
  });

  test('a modified cookie is invalid', async () => {
    const { cookie } = await sessionOf(AUDITOR);
    const [name = '', value = ''] = cookie.split('=', 2);
    const [payload = '', signature = ''] = value.split('.');
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...content, name: 'anna' })).toString('base64url');
    for (const bad of [`${forged}.${signature}`, `${payload}.`, payload, '', 'x.y', `${payload}.${signature}x.`]) {
      const { status } = await ask(`${node.adminUrl}/v1/players`, 'GET', { Cookie: `${name}=${bad}` });
      assert.equal(status, 401, bad);
    }
  });

  test('without a session, only the page and the sign-in are served', async () => {
    for (const path of ['/console/live', '/console/%6Cive', '/console/../v1/players', '/console/%2e%2e/v1/players']) {
      const { status, text } = await ask(node.adminUrl + path, 'GET');
      assert.ok(status === 401 || text.startsWith('<!doctype html>'), `${path}: ${status} ${text}`);
    }
    assert.equal((await ask(`${node.adminUrl}/console/session`, 'GET')).status, 401);
    assert.equal((await ask(`${node.adminUrl}/console/benchmark-report`, 'GET')).status, 401);
  });

  test('the page loads nothing from other sites, and its files are cached by content', async () => {
    const page = await ask(`${node.adminUrl}/console/players?prefix=x`, 'GET');
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(page.headers.get('cache-control'), 'no-cache');
    const files = [...page.text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
    assert.equal(files.length, 3);
    let bytes = 0;
    for (const path of files) {
      const file = await ask(node.adminUrl + path, 'GET', { 'Accept-Encoding': 'gzip' });
      assert.deepEqual([file.status, file.headers.get('content-encoding')], [200, 'gzip']);
      assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      bytes += Number(file.headers.get('content-length'));
    }
    assert.ok(bytes < 150_000, `${bytes} bytes`);
    assert.equal((await ask(`${node.adminUrl}/console/assets/..%2f..%2fpackage.json`, 'GET')).status, 404);
  });
});

test('without tokens, the console serves only this machine, and no foreign web page', async () => {
  const node = await TestNode.start();
  const { port } = new URL(node.adminUrl);
  const session = (headers: Record<string, string>) => ask(`${node.adminUrl}/console/session`, 'GET', headers);
  assert.deepEqual(JSON.parse((await session({})).text), { name: 'local', role: 'operate', csrf: null });
  assert.equal((await session({ Host: `evil.example:${port}` })).status, 403);
  assert.equal((await session({ Origin: 'http://evil.example' })).status, 403);
  const live = await ask(`${node.adminUrl}/console/live`, 'GET', { Origin: `http://evil.example:${port}` });
  assert.equal(live.status, 401);
  await node.close();
});

test('a session ends when it expires or its token is revoked', () => {
  let nowMs = 1_000_000;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  const sessions = new Sessions(TOKENS, 'store-1', clock, NONE_SIGNED_OUT);
  const cookie = sessions.begin('anna');
  assert.equal(sessions.tryRead(cookie)?.role, 'operate');
  assert.equal(
    new Sessions(TOKENS, 'store-1', clock, NONE_SIGNED_OUT).tryRead(cookie)?.name,
    'anna',
    'another node knows it',
  );
  assert.equal(new Sessions(TOKENS, 'store-2', clock, NONE_SIGNED_OUT).tryRead(cookie), undefined);
  const changed = TOKENS.map((one) => ({ ...one, token: `${one.token}-new` }));
  assert.equal(new Sessions(changed, 'store-1', clock, NONE_SIGNED_OUT).tryRead(cookie), undefined);
  nowMs += SESSION_MS - 1;
  assert.notEqual(sessions.tryRead(cookie), undefined);
  nowMs += 1;
  assert.equal(sessions.tryRead(cookie), undefined);
});

test('the live feed measures once for all viewers, and not at all without viewers', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let measured = 0;
  const source = {
    begin: () => {},
    take: () => ({ n: ++measured }),
    lastHour: () => [],
  } as unknown as OverviewSource;
  const feed = new LiveFeed(source);
  t.mock.timers.tick(5000);
  assert.equal(measured, 0);
  const listener = () => {
    const written: string[] = [];
    let close = () => {};
    const response = {
      writableNeedDrain: false,
      writeHead() {},
      write: (text: string) => written.push(text),
      once: (_: string, hear: () => void) => {
        close = hear;
      },
      end: () => close(),
    };
    feed.join(response as never);
    return { written, close: () => close(), response };
  };
  const [one, two] = [listener(), listener()];
  assert.equal(measured, 1);
  t.mock.timers.tick(3000);
  assert.equal(measured, 4);
  assert.equal(one.written.length, 4);
  assert.deepEqual(one.written.slice(1), two.written.slice(1));
  two.response.writableNeedDrain = true;
  t.mock.timers.tick(1000);
  assert.deepEqual([one.written.length, two.written.length], [5, 4], 'who does not read is not sent more');
  one.close();
  two.close();
  t.mock.timers.tick(5000);
  assert.equal(measured, 5);
  for (let n = 0; n < 32; n++) listener();
  assert.throws(() => listener(), /32 pages are already open/);
  feed.close();
  const before = measured;
  t.mock.timers.tick(5000);
  assert.equal(measured, before);
});

test('a benchmark report is listed and served if there is one', () =>
  inTempFolder(async (folder) => {
    const file = `${folder}/report.html`;
    assert.deepEqual([benchmarkTime(file), await findBenchmarkReport(file)], [null, undefined]);
    writeFileSync(file, '<!doctype html>');
    assert.equal((await findBenchmarkReport(file))?.toString(), '<!doctype html>');
    assert.ok(Math.abs((benchmarkTime(file) ?? 0) - Date.now()) < 60_000);
  }));
