import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

test('status names an unresponsive member until it recovers', () =>
  inTempFolder(async (folder) => {
    const redis = await RedisServer.start();
    const start = async (name: string) =>
      await WalletdProcess.start({
        WALLETD_STORE: redis.url,
        WALLETD_INIT: 'auto',
        WALLETD_SHARDS: '4',
        WALLETD_WORKERS: '0',
        WALLETD_NODE_FOLDER: `${folder}/${name}`,
        WALLETD_CLUSTER_NAME: name,
        WALLETD_CLUSTER_HOST: '127.0.0.1',
        WALLETD_CLUSTER_PORT: String(await freePort()),
        WALLETD_CLUSTER_SECRET: 'a-secret-of-the-cluster-of-this-test',
      });
    const [one, two] = [await start('one'), await start('two')];
    const env = { WALLETD_ADMIN_PORT: new URL(one.adminUrl).port };
    const status = async () => await runCommand(['status'], env);
    try {
      await until('both are up', async () => /^nodes +2 up *$/m.test((await status()).stdout));
      process.kill(two.pid, 'SIGSTOP');
      await until('it is missing', async () => /^WRONG +Missing in the cluster: two\./m.test((await status()).stdout));
      const { stdout, status: code } = await status();
      assert.match(stdout, /^nodes +1 up +two MISSING$/m);
      assert.equal(code, 1);
      process.kill(two.pid, 'SIGCONT');
      await until('it is back', async () => /^nodes +2 up *$/m.test((await status()).stdout));
      assert.doesNotMatch((await status()).stdout, /Missing/);
      assert.equal(await two.end('SIGTERM'), 0);
      await until('it has left', async () => /^nodes +1 up *$/m.test((await status()).stdout));
      assert.doesNotMatch((await status()).stdout, /Missing/, 'a node that was stopped is not missing');
    } finally {
      await one.end('SIGKILL');
      await two.end('SIGKILL');
      await redis.destroy();
    }
  }));
