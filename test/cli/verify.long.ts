import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runCommand } from '../support/run-command.js';
import { play, serving } from './served-store.js';

test('verify finds balances that only the server has, and reports a missing server', async () => {
  await serving(async ({ env, server, folder }) => {
    const to = `lmdb:${folder}/copy`;
    assert.equal((await runCommand(['restore', '--from', env.WALLETD_STORE as string, '--to', to], env)).status, 0);
    await play(server, 'more', 1);
    const found = await runCommand(['verify', '--store', to, '--server', server.adminUrl], env);
    assert.equal(found.status, 1);
    assert.match(
      found.stdout,
      /4 found:\n {2}server: shard \d: ann has version 13 on the server, but the log ends with version 11\n/,
    );
    const away = await runCommand(['verify', '--server', 'http://127.0.0.1:9'], env);
    assert.deepEqual([away.status, away.stdout], [1, '']);
    assert.match(away.stderr, /^walletd: cannot reach the server at http:\/\/127\.0\.0\.1:9: /);
  });
});

test('verify ignores servers of other stores and programs that are not walletd', () =>
  serving(async ({ env, server, folder }) => {
    const other = { ...env, WALLETD_STORE: `lmdb:${folder}/other`, WALLETD_NODE_FOLDER: `${folder}/node` };
    const run = (subcommand: string, adminUrl: string) =>
      runCommand(subcommand.split(' '), { ...other, WALLETD_ADMIN_PORT: new URL(adminUrl).port });
    await run('init', server.adminUrl);
    const web = createServer((_, res) => res.end('<html>')).listen(0, '127.0.0.1');
    await once(web, 'listening');
    const webUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    for (const url of [server.adminUrl, webUrl]) {
      const verified = await run('verify', url);
      assert.match(verified.stdout, /Not compared with a running server\.\nNothing differs\./);
      assert.equal((await run('snapshot take --stopped', url)).status, 0);
    }
    const refused = await run(`verify --server ${server.adminUrl}`, server.adminUrl);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /serves a different store: \S+, not \S+/);
    const asked = await run(`verify --server ${webUrl}`, server.adminUrl);
    assert.match(asked.stderr, /^walletd: the program at \S+ does not answer like walletd$/m);
    web.close();
  }));
