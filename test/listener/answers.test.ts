import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { makeCertificate } from '../support/certificate.js';
import { balanceOf, bet, importPlayers } from '../support/client.js';
import { answersIn, postOf, rawRequest } from '../support/raw-request.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';

const TOKEN = 'a-token-of-operators';

async function withNode(settings: Record<string, unknown>, run: (node: TestNode) => Promise<void>): Promise<void> {
  const node = await TestNode.start(settings);
  try {
    await run(node);
  } finally {
    await node.close();
  }
}

test('paths with extra slashes or the prefix reach the endpoint', () =>
  withNode({ 'callbacks.prefix': '/wallet', 'callbacks.aliases': { '/bet': 'placeBets' } }, async (node) => {
    await importPlayers(node.adminUrl, ['ann'], 100);
    const status = async (path: string, n: number) => {
      const text = postOf(path, JSON.stringify(bet('ann', `b${n}`)));
      return answersIn(await rawRequest(node.callbackUrl, [text]))[0]?.[0];
    };
    const good = ['//placeBets', '/placeBets/', '/placeBets//', '///placeBets', '/wallet/placeBets', '/wallet//bet/'];
    for (const [n, path] of good.entries()) assert.equal(await status(path, n), 200, path);
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 100 - good.length);
    for (const path of ['/', '//', '/wallet', '/walletplaceBets', '/bets/placeBets']) {
      assert.equal(await status(path, 99), 404, path);
    }
    const get = await rawRequest(node.callbackUrl, ['GET //placeBets/ HTTP/1.1\r\nHost: localhost\r\n\r\n']);
    assert.match(get, /^HTTP\/1\.1 405 /);
  }));

test('callback answers announce how long a connection may be idle', () =>
  withNode({}, async (node) => {
    for (const path of ['/placeBets', '/nowhere']) {
      assert.match(await rawRequest(node.callbackUrl, [postOf(path, '{}')]), /\r\nKeep-Alive: timeout=7\r\n/);
    }
  }));

test('the operator API keeps an idle connection for limits.idleSeconds', () =>
  withNode({ 'limits.idleSeconds': 42 }, async (node) => {
    const asked = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
    assert.match(await rawRequest(node.adminUrl, [asked]), /\r\nKeep-Alive: timeout=42\r\n/i);
  }));

test('the log shows an unknown path with its method and caller', () =>
  withNode({}, async (node) => {
    await rawRequest(node.callbackUrl, [postOf(`/Wallet/placeBets${'x'.repeat(500)}`, '{}')]);
    const [line] = node.logLines.filter(({ code }) => code === 'callbacks-refused');
    assert.deepEqual(line?.refused, { 'unknown-path': 1 });
    assert.match(String(line?.from), /^post \/Wallet\/placeBetsx{183} from 127\.0\.0\.1$/);
  }));

test('an invalid path prefix prevents the start', async () => {
  for (const prefix of ['wallet', '/wallet/', '/w?x', '/*']) {
    await assert.rejects(TestNode.start({ 'callbacks.prefix': prefix }), /callbacks\.prefix is ".+": it is letters/);
  }
});

test('readiness reveals nothing about shards to strangers', () =>
  withNode({ 'admin.token': TOKEN }, async (node) => {
    const shards = async (headers: Record<string, string>, query = '') => {
      const response = await fetch(`${node.adminUrl}/readyz${query}`, { headers });
      assert.equal(response.status, 200);
      return ((await response.json()) as { shards: unknown[] }).shards.length;
    };
    assert.equal(await shards({}), 0);
    assert.equal(await shards({}, '?x=1'), 0);
    assert.equal(await shards({ Authorization: 'Bearer wrong' }), 0);
    assert.equal(await shards({ Authorization: `Bearer ${TOKEN}` }), 4);
  }));

test('without tokens, readiness shows shards to this machine but not to proxies', () =>
  withNode({}, async (node) => {
    const ask = async (headers: Record<string, string>) => (await fetch(`${node.adminUrl}/readyz`, { headers })).text();
    assert.match(await ask({}), /"players":0/);
    assert.equal(await ask({ 'X-Forwarded-For': '192.0.2.7' }), '{"status":"ready","shards":[]}');
  }));

test('operator API answers forbid caching', () =>
  withNode({ 'health.port': 0 }, async (node) => {
    const [health] = node.logLines.filter(({ listener }) => listener === 'health');
    const paths = ['/v1/players/nobody', '/nowhere', '/v1/transactions', '/metrics', '/livez', '/%zz'];
    for (const url of [...paths.map((path) => node.adminUrl + path), `${health?.url}/readyz?x=1`]) {
      const { headers } = await fetch(url);
      assert.deepEqual(
        [headers.get('cache-control'), headers.get('x-content-type-options')],
        ['no-store', 'nosniff'],
        url,
      );
      assert.equal(headers.get('strict-transport-security'), null);
    }
    assert.match(
      await rawRequest(node.adminUrl, ['GET / HTTP/9\r\n\r\n']),
      /^HTTP\/1\.1 400 [\s\S]*Cache-Control: no-store\r\n/,
    );
  }));

test('with TLS, static RSA and CBC are refused, and browsers keep using TLS', () =>
  inTempFolder(async (folder) => {
    const files = makeCertificate(folder, 'walletd.test', 2, 'rsa');
    const tls = { 'tls.certificateFile': files.certificateFile, 'tls.keyFile': files.keyFile };
    const admin = { 'admin.tls.certificateFile': files.certificateFile, 'admin.tls.keyFile': files.keyFile };
    await withNode({ ...tls, ...admin }, async (node) => {
      const outcome = async (url: string, ciphers?: string) => {
        const port = Number(new URL(url).port);
        const old = ciphers === undefined ? {} : { ciphers, maxVersion: 'TLSv1.2' as const };
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...old });
        const ended = await Promise.race([
          once(socket, 'secureConnect').then(() => socket.getCipher().name),
          once(socket, 'error').then(() => 'refused'),
        ]).catch(() => 'refused');
        socket.destroy();
        return ended;
      };
      for (const url of [node.callbackUrl, node.adminUrl]) {
        assert.match(await outcome(url), /^TLS_/);
        assert.equal(await outcome(url, 'ECDHE-RSA-AES128-GCM-SHA256'), 'ECDHE-RSA-AES128-GCM-SHA256');
        for (const cipher of ['AES128-GCM-SHA256', 'AES256-SHA', 'ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA384'])
          assert.equal(await outcome(url, cipher), 'refused', cipher);
      }
      const port = Number(new URL(node.adminUrl).port);
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      let received = '';
      socket.on('data', (data) => {
        received += data;
      });
      socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      await once(socket, 'close');
      assert.match(received, /strict-transport-security: max-age=31536000\r\n/i);
    });
  }));
