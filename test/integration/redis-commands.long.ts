import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeProgram } from '../../src/cli/program.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

/*
 * Runs every command as the user in config/users.acl that docs/redis.md names for it. The server accepts no other user.
 */
const USERS = fileURLToPath(new URL('../../../config/users.acl', import.meta.url));
const PASSWORD = 'secret';
/** Commands that never open a store. */
const WITHOUT_STORE = ['status', 'cluster', 'config', 'simulate', 'completion', 'feed'];

test('the users in config/users.acl are sufficient for every command', () =>
  inTempFolder(async (folder) => {
    const file = `${folder}/users.acl`;
    writeFileSync(file, readFileSync(USERS, 'utf8').replaceAll('CHANGE-ME', PASSWORD));
    const redis = await RedisServer.start({ aclfile: file });
    const as = (user: string, database = 0) => `redis://${user}:${PASSWORD}@127.0.0.1:${redis.port}/${database}`;
    const env = { WALLETD_STORE: as('walletd'), WALLETD_NODE_FOLDER: `${folder}/node`, WALLETD_SHARDS: '2' };
    const used = new Set<string>();
    const run = async (args: readonly string[], said: RegExp, changes: Record<string, string> = {}) => {
      used.add(args[0] as string);
      // Run `export` in its own process, because it writes directly to the process's output streams.
      const ran = args[0] === 'export' ? runWalletd(args, { ...env, ...changes }) : null;
      const { status, stdout, stderr } = ran ?? (await runCommand(args, { ...env, ...changes }));
      assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
      assert.match(stdout, said, args.join(' '));
    };
    try {
      await run(['init', as('initiator')], /^Created store/);
      await run(['serve', '--check'], /It would start\./);
      const server = await WalletdProcess.start(env);
      await importPlayers(server.adminUrl, ['ann'], 1000);
      const platform = new PlatformClient(server.callbackUrl);
      assert.equal((await platform.post('placeBets', bet('ann', 'b1'))).statusCode, 0);
      platform.close();
      const admin = { WALLETD_ADMIN_PORT: new URL(server.adminUrl).port };
      await run(['doctor'], /^good +rights/m, admin);
      await run(['snapshot', 'take'], /taken/, admin);
      assert.equal(await server.end('SIGTERM'), 0);

      const backup = `${folder}/wallets.backup`;
      await run(['backup', '--from', as('reader'), '--to', backup], /^Store redis:/m);
      await run(['verify', '--deep', '--no-server', '--store', as('reader')], /Nothing differs\./);
      await run(['inspect', 'player', 'ann', '--store', as('reader')], /bet-placed/);
      await run(['export', '--store', as('reader')], /"type":"player-imported"/);
      await run(['snapshot', 'list', '--store', as('reader')], /whole/);
      await run(['undo', '--operator', 'local', '--since', '0', '--store', as('reader')], /1 correction of \S+ THB;/);
      const history = `${folder}/history.jsonl`;
      const played = { betId: 'b1', username: 'ann', currency: 'THB', productId: 'P', roundId: 'r-b1', stake: 1 };
      const record = { ...played, payout: null, betStatus: 'OPEN', updatedDate: new Date().toISOString() };
      writeFileSync(history, `${JSON.stringify(record)}\n`);
      await run(['reconcile', '--from', history, '--store', as('reader')], /P +THB +1 +1 +1 +1 /);
      await run(['accept-loss'], /Nothing is missing/);

      await run(['restore', '--from', as('reader'), '--to', as('restorer', 1), '--dry-run'], /Nothing was written\./);
      await run(['restore', '--from', backup, '--to', as('restorer', 1)], /is in redis:/);
      await run(['init', as('initiator', 2)], /^Created store/);
      for (const dry of [['--dry-run'], []]) {
        const refused = await runCommand(['restore', '--from', backup, '--to', as('walletd', 2), ...dry], env);
        assert.equal(refused.status, 1);
        assert.match(
          refused.stderr,
          /this user may not remove it: restore as a user who may \(restorer in config\/users\.acl\)/,
        );
      }
      await run(['restore', '--from', backup, '--to', as('restorer', 2), '--dry-run'], /Nothing was written\./);
      await run(['restore', '--from', backup, '--to', as('restorer', 2)], /is in redis:/);
      await run(['verify', '--no-server', '--store', as('reader', 2)], /Nothing differs\./);
      const all = (await makeProgram()).commands.map((command) => command.name());
      assert.deepEqual(
        all.filter((name) => !used.has(name) && !WITHOUT_STORE.includes(name)),
        [],
      );
    } finally {
      await redis.destroy();
    }
  }));
