import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inForce, meaningOf, RunningSettings } from '../../src/config/in-force.js';
import { loadWithSources } from '../../src/config/load.js';

const of = (settings: ReturnType<typeof inForce>, wanted: string) => settings.find(({ setting }) => setting === wanted);

test('a running server keeps its startup settings except those that SIGHUP reloads', () => {
  const running = new RunningSettings(loadWithSources({ WALLETD_SHARDS: '2', WALLETD_LOG_LEVEL: 'warn' }));
  running.noteReload(
    loadWithSources({
      WALLETD_SHARDS: '8',
      WALLETD_LOG_METRICS_SECONDS: '7',
      WALLETD_LOG_CALLBACKS: 'slow',
      WALLETD_SIGNATURE_MAX_SKEW_MS: '5',
      WALLETD_ADMIN_TOKEN: '0123456789abcdef',
      WALLETD_ALLOW_NETWORKS: '192.0.2.0/24',
    }),
  );
  const all = running.all();
  assert.deepEqual(of(all, 'shards'), { setting: 'shards', value: 2, from: 'WALLETD_SHARDS' });
  assert.deepEqual(of(all, 'log.metricsSeconds'), { setting: 'log.metricsSeconds', value: 60, from: 'default' });
  assert.deepEqual(of(all, 'log.level'), { setting: 'log.level', value: 'info', from: 'default' });
  assert.deepEqual(of(all, 'log.callbacks'), {
    setting: 'log.callbacks',
    value: 'slow',
    from: 'WALLETD_LOG_CALLBACKS',
  });
  assert.equal(of(all, 'admin.token')?.from, 'WALLETD_ADMIN_TOKEN');
  assert.equal(of(all, 'signature.maxSkewMs')?.value, 300_000, 'a restart changes it');
  assert.equal(of(all, 'allow.networks')?.value, '192.0.2.0/24');
});

test('every setting has a description', () => {
  const without = inForce(loadWithSources({})).filter(({ setting }) => meaningOf(setting) === '');
  assert.deepEqual(without, []);
});
