import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { formatLsn } from '../../src/ports/lsn.js';
import { checkBackup } from '../../src/tools/backup/backup-reader.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { jsonLines } from '../support/stored-node.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdCommand, WalletdProcess } from '../support/walletd-process.js';

const PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay'];
const FUNDS = 1_000_000;
const DEADLINE_MS = '20000';

/** Places bets until stopped. Resolves to the number of accepted bets per player. */
class Load {
  readonly accepted = new Map(PLAYERS.map((username) => [username, 0]));
  private isOn = true;
  private readonly client: PlatformClient;
  private readonly betting: Promise<unknown>;

  constructor(callbackUrl: string) {
    this.client = new PlatformClient(callbackUrl);
    this.betting = Promise.all(PLAYERS.map((username) => this.bet(username)));
  }

  get total(): number {
    return [...this.accepted.values()].reduce((sum, count) => sum + count, 0);
  }

  async until(total: number): Promise<void> {
    while (this.total < total) await delay(5);
  }

  async stop(): Promise<void> {
    this.isOn = false;
    await this.betting;
    this.client.close();
  }

  private async bet(username: string): Promise<void> {
    for (let i = 0; this.isOn; i++) {
      const { statusCode } = await this.client.post('placeBets', bet(username, `${username}-${i}`));
      assert.equal(statusCode, 0);
      this.accepted.set(username, i + 1);
    }
  }
}

test('a backup of a running server restores every earlier answer and no partial entry', () =>
  inTempFolder(async (folder) => {
    const from = `lmdb:${folder}/data`;
    const [file, to] = [`${folder}/wallets.backup`, `lmdb:${folder}/restored`];
    // Set long timeouts, so that no bet times out even if the shared disk is slow.
    const env = {
      WALLETD_STORE: from,
      WALLETD_SNAPSHOTS_EVERY_SECONDS: '1',
      WALLETD_REQUEST_DEADLINE_MS: DEADLINE_MS,
    };
    const walletd = await WalletdProcess.start(env);
    await importPlayers(walletd.adminUrl, PLAYERS, FUNDS);
    const load = new Load(walletd.callbackUrl);
    await load.until(500);
    const before = new Map(load.accepted);
    const backup = new WalletdCommand(['backup', '--to', file, '--json'], env);
    assert.equal(await backup.exit(), 0, backup.stderr);
    const after = new Map(load.accepted);
    await load.stop();
    assert.equal(await walletd.end('SIGTERM'), 0);

    const result = JSON.parse(backup.stdout) as { bytes: number; shards: { entries: number; lsn: string }[] };
    assert.equal(result.bytes, statSync(file).size);
    assert.equal(result.shards.length, 4);
    const restore = await runCommand(['restore', '--from', file, '--to', to, '--json']);
    assert.equal(restore.status, 0, restore.stderr);
    const restored = JSON.parse(restore.stdout) as { shards: { entries: number; lsn: string }[] };
    assert.deepEqual(
      restored.shards.map(({ lsn, entries }) => [lsn, entries]),
      result.shards.map(({ lsn, entries }) => [lsn, entries]),
    );
    const second = await WalletdProcess.start({ WALLETD_STORE: to });
    for (const username of PLAYERS) {
      const bets = FUNDS - (await balanceOf(second.adminUrl, username));
      const [least = 0, most = 0] = [before.get(username), after.get(username)];
      assert.ok(bets >= least && bets <= most + 1, `${username}: ${bets} bets, ${least} to ${most} answered`);
    }
    assert.equal(await second.end('SIGTERM'), 0);
    assert.equal(backup.stderr + restore.stderr, '', 'no bar where nobody can see it');
  }));

/** The newest entry of each shard. */
async function headsOfFile(file: string): Promise<string[]> {
  const { coverage } = await checkBackup(file);
  return coverage.shards.map(({ head }) => formatLsn(head.lsn));
}

async function headsOfStore(env: Record<string, string>): Promise<string[]> {
  const [report] = jsonLines((await runCommand(['verify', '--no-server', '--json'], env)).stdout);
  return (report as { shards: { lsn: string }[] }).shards.map(({ lsn }) => lsn);
}

test('a follower appends within seconds, ends on SIGTERM, and resumes after SIGKILL', () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_REQUEST_DEADLINE_MS: DEADLINE_MS };
    const file = `${folder}/wallets.backup`;
    const walletd = await WalletdProcess.start(env);
    await importPlayers(walletd.adminUrl, PLAYERS, FUNDS);
    const load = new Load(walletd.callbackUrl);
    await load.until(100);
    const follower = new WalletdCommand(['backup', '--to', file, '--follow'], env);
    await follower.said(/Following/);
    const size = statSync(file).size;
    while (statSync(file).size === size) await delay(20);
    await follower.exit('SIGKILL');
    appendFileSync(file, readFileSync(file).subarray(16, 30));
    await load.until(load.total + 100);

    const second = new WalletdCommand(['backup', '--to', file, '--follow'], env);
    await second.said(/Following/);
    assert.match(second.stderr, /the last segment of .* was cut off: its \d+ bytes are discarded/);
    assert.match(second.stdout, /^Continuing /m);
    await load.until(load.total + 100);
    await load.stop();
    await until('the file has all entries', async () =>
      isDeepStrictEqual(await headsOfFile(file), await headsOfStore(env)),
    );
    assert.equal(await second.exit('SIGTERM'), 0, second.stderr);
    assert.match(second.stdout, /^Appended \d+ entries in \d+ segments?;/m);
    assert.equal(await walletd.end('SIGTERM'), 0);

    const restore = await runCommand(['restore', '--from', file, '--to', `lmdb:${folder}/restored`]);
    assert.equal(restore.status, 0, restore.stderr);
    const restored = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder}/restored` });
    for (const username of PLAYERS) {
      const bets = FUNDS - (await balanceOf(restored.adminUrl, username));
      assert.equal(bets, load.accepted.get(username), username);
    }
    await restored.end('SIGTERM');
  }));

test('a backup interrupted during an outage ends soon and leaves no file', async () => {
  const server = await RedisServer.start();
  try {
    assert.equal((await runCommand(['init', server.url])).status, 0);
    await server.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '+@all', '-xrange');
    await inTempFolder(async (folder) => {
      const from = server.url.replace('//', '//blind:secret@');
      const backup = new WalletdCommand(['backup', '--to', `${folder}/file`, '--from', from]);
      await backup.said(/cannot read the log, retrying/);
      const startedMs = performance.now();
      assert.equal(await backup.exit('SIGINT'), 1, backup.stderr);
      assert.ok(performance.now() - startedMs < 20_000);
      assert.doesNotMatch(backup.stdout + backup.stderr, /secret/);
      assert.ok(!existsSync(`${folder}/file`));
    });
  } finally {
    await server.destroy();
  }
});
