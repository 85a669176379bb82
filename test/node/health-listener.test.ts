import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { ConnectionCounts } from '../../src/listener/connection-counts.js';
import { HealthListener } from '../../src/node/boot/health-listener.js';
import type { Readiness } from '../../src/threads/wallet-service.js';
import { inTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

const counts = new ConnectionCounts();

async function ask(port: number, path: string, method = 'GET') {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  return { status: response.status, body: await response.text() };
}

test('without a port there is no health listener', async () => {
  assert.equal(await HealthListener.openIfSet({ host: '127.0.0.1', port: null }, () => 'ready', counts), undefined);
});

test('the health listener serves the current health and nothing else', async (t) => {
  let readiness: Readiness = 'starting';
  const health = await HealthListener.openIfSet({ host: '127.0.0.1', port: 0 }, () => readiness, counts);
  assert.ok(health);
  t.after(() => health.close());
  assert.deepEqual(await ask(health.port, '/livez'), { status: 200, body: '{"status":"ok"}' });
  assert.deepEqual(await ask(health.port, '/readyz'), { status: 503, body: '{"status":"starting"}' });
  readiness = 'ready';
  assert.deepEqual(await ask(health.port, '/readyz'), { status: 200, body: '{"status":"ready"}' });
  for (const path of ['/', '/metrics', '/v1/players/ann', '/openapi.json', '/placeBets', '/livez/'])
    assert.equal((await ask(health.port, path)).status, 404, path);
  assert.equal((await ask(health.port, '/livez', 'POST')).status, 405);
});

test('a port in use is reported with the settings to change', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  await assert.rejects(
    HealthListener.openIfSet({ host: '127.0.0.1', port }, () => 'ready', counts),
    /^UserError: cannot listen on 127\.0\.0\.1:\d+ for load balancers \(health\.host, health\.port\): .*EADDRINUSE/,
  );
});

test('a load balancer needs no token even if the operator API does', () =>
  inTempFolder(async (folder) => {
    const walletd = await WalletdProcess.start({
      WALLETD_STORE: `lmdb:${folder}/data`,
      WALLETD_ADMIN_TOKEN: 'a-token-of-operators',
      WALLETD_HEALTH_PORT: '0',
    });
    const ready = await walletd.waitFor(({ msg }) => msg === 'walletd is ready');
    const response = await fetch(`${ready.health}/readyz`);
    assert.deepEqual([response.status, await response.text()], [200, '{"status":"ready"}']);
    assert.equal((await fetch(`${ready.health}/metrics`)).status, 404);
    assert.equal(await walletd.end('SIGTERM'), 0);
  }));
