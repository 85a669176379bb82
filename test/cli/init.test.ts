import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

test('init creates a store and leaves an existing one unchanged', () =>
  inTempFolder(async (folder) => {
    const store = `lmdb:${folder}/data`;
    const env = { WALLETD_STORE: store, WALLETD_SHARDS: '2' };
    const first = await runCommand(['init'], env);
    assert.equal(first.status, 0);
    assert.match(first.stdout, /^Created store lmdb:.*: 2 shards/);
    const second = await runCommand(['init', store], { WALLETD_SHARDS: '2' });
    assert.equal(second.status, 0);
    assert.match(second.stdout, /^There is already a store .* Nothing was changed\.$/m);
    const other = await runCommand(['init'], { ...env, WALLETD_SHARDS: '3' });
    assert.equal(other.status, 2);
    assert.match(other.stderr, /^walletd: shards is 3, but the store was created with 2/);
  }));

test("init refuses if the node's folder has the record of a store", () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_NODE_FOLDER: `${folder}/node` };
    const walletd = await WalletdProcess.start(env);
    assert.equal(await walletd.end('SIGTERM'), 0);
    rmSync(`${folder}/data`, { recursive: true });
    for (const subcommand of ['init', 'doctor']) {
      const { status, stderr } = await runCommand([subcommand], env);
      assert.equal(status, 1, subcommand);
      assert.match(stderr, /there is no store at .*, and this node has served \S+ there: .*docs\/runbook\.md, night 1/);
    }
    assert.ok(!existsSync(`${folder}/data`));
  }));

test('init and doctor refer to the runbook when a running server lost its Redis', () => sendToRunbook(''));
test('init and doctor refer to the runbook when the lost Redis has a password', () => sendToRunbook('default:secret@'));

/** Loses a running server's Redis. `login` is the login in the server's address; this Redis accepts any password. */
function sendToRunbook(login: string): Promise<void> {
  return inTempFolder(async (folder) => {
    const redis = await RedisServer.start();
    const env = {
      WALLETD_STORE: redis.url.replace('//', `//${login}`),
      WALLETD_INIT: 'auto',
      WALLETD_NODE_FOLDER: `${folder}/node`,
    };
    const walletd = await WalletdProcess.start(env);
    const { port } = new URL(walletd.adminUrl);
    try {
      await redis.call('FLUSHALL');
      const elsewhere = { WALLETD_STORE: redis.url, WALLETD_NODE_FOLDER: `${folder}/other`, WALLETD_ADMIN_PORT: port };
      for (const [settings, remembered] of [
        [env, /this node has served \S+ there/],
        [elsewhere, /the walletd at \S+ is running on that store/],
      ] as const) {
        const init = await runCommand(['init'], settings);
        assert.equal(init.status, 1);
        assert.match(init.stderr, remembered);
        assert.match(init.stderr, /docs\/runbook\.md, night 1 if a walletd/);
        const doctor = await runCommand(['doctor', '--json'], settings);
        assert.equal(doctor.status, 1);
        const [first = ''] = doctor.stdout.split('\n');
        const { verdict, says, todo } = JSON.parse(first) as Record<string, string>;
        assert.deepEqual([verdict, remembered.test(String(says))], ['bad', true]);
        assert.match(String(todo), /^never walletd init; bring that store back: docs\/runbook\.md/);
      }
      assert.equal(await redis.call('EXISTS', 'walletd:meta'), 0);
      const elsewhereFree = { ...elsewhere, WALLETD_STORE: `${redis.url}/3` };
      assert.equal((await runCommand(['init'], elsewhereFree)).status, 0, 'another address is free');
    } finally {
      await walletd.end('SIGKILL');
      await redis.destroy();
    }
  });
}
