import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

/**
 * Number of callbacks whose log lines take 1.6 MB, which is more than a pipe (64 KiB) and the server's buffer (1 MiB)
 * can hold together.
 */
const CALLBACKS = 4500;
const IMMEDIATE = 100;

for (const workers of ['0', '1']) {
  test(`a stalled log reader delays neither callbacks nor SIGTERM (${workers} workers)`, async () => {
    const folder = makeTempFolder();
    const env = { WALLETD_STORE: `lmdb:${folder.path}`, WALLETD_LOG_CALLBACKS: 'all', WALLETD_WORKERS: workers };
    const walletd = await WalletdProcess.start(env);
    const client = new PlatformClient(walletd.callbackUrl);
    try {
      await importPlayers(walletd.adminUrl, ['ann'], 1e6);
      walletd.child.stdout?.pause();
      for (let sent = 0; sent < CALLBACKS; sent += IMMEDIATE) {
        const answers = Array.from({ length: IMMEDIATE }, (_, i) =>
          client.post('placeBets', bet('ann', `t${sent + i}`)),
        );
        for (const { statusCode } of await Promise.all(answers)) assert.equal(statusCode, 0);
      }
      client.close();
      const exited = once(walletd.child, 'exit');
      process.kill(walletd.pid, 'SIGTERM');
      const [exitCode] = await exited;
      assert.equal(exitCode, 0);
    } finally {
      client.close();
      await walletd.end('SIGKILL');
      folder.remove();
    }
  });
}
