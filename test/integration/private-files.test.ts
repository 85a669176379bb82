import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importPlayers } from '../support/client.js';
import { inTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

/** The umask of login shells on most systems. */
const OPEN_UMASK = ['sh', '-c', 'umask 022; exec "$@"', 'sh'];

function openToOthers(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((entry) => join(folder, entry));
  return [folder, ...paths].filter((path) => (statSync(path).mode & 0o077) !== 0);
}

test('store and node files are private regardless of the umask', () =>
  inTempFolder(async (folder) => {
    const data = join(folder, 'data');
    const env = { WALLETD_STORE: `lmdb:${data}`, WALLETD_NODE_FOLDER: join(data, '../node'), WALLETD_INIT: 'auto' };
    const first = await WalletdProcess.start(env, OPEN_UMASK);
    await importPlayers(first.adminUrl, ['ann'], 1000);
    await first.end('SIGTERM');
    assert.deepEqual([...openToOthers(data), ...openToOthers(join(folder, 'node'))], []);

    const before = join(data, 'data.mdb');
    chmodSync(data, 0o755);
    chmodSync(before, 0o644);
    const second = await WalletdProcess.start(env, OPEN_UMASK);
    assert.deepEqual(openToOthers(data), []);
    const line = second.log.find(({ msg }) => msg === 'file permissions restricted to this user');
    assert.deepEqual([line?.paths, line?.first], [2, data]);
    await second.end('SIGTERM');
  }));

test('SIGUSR1 does not open the inspector', () =>
  inTempFolder(async (folder) => {
    const walletd = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_INIT: 'auto' });
    process.kill(walletd.pid, 'SIGUSR1');
    await walletd.waitFor(({ code }) => code === 'inspector-refused');
    assert.equal((await fetch(`${walletd.adminUrl}/readyz`)).status, 200);
    assert.doesNotMatch(walletd.errors, /Debugger listening/);
    await walletd.end('SIGTERM');
  }));
