import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cleanUp } from '../support/clean-up.js';
import { balanceOf, importPlayers, PlatformClient, type RequestBody } from '../support/client.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { copyDatabase, PostgresDatabases } from '../support/postgres-databases.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

/*
 * Repeats of answered callbacks with an empty, outdated or wrong archive. Before archives had marks, each repeat was
 * credited again.
 */
const AT_ONCE = { WALLETD_RETENTION_MEMORY_SECONDS: '0.02', WALLETD_SHARDS: '1', WALLETD_REQUEST_DEADLINE_MS: '500' };

const REWARD: RequestBody = {
  id: 'q1',
  timestampMillis: 1000,
  productId: 'P',
  currency: 'THB',
  username: 'ann',
  txns: [{ id: 'w1', status: 'SETTLED', roundId: 'r1', payoutAmount: 100, gameCode: 'g', playInfo: 'p' }],
} as unknown as RequestBody;

/** Credits a reward. Resolves when its round is in the archive and its event in the log. */
async function credit(env: Record<string, string>): Promise<void> {
  const walletd = await WalletdProcess.start({ ...AT_ONCE, ...env });
  await importPlayers(walletd.adminUrl, ['ann'], 1000);
  const { statusCode } = await once(walletd, REWARD);
  assert.equal(statusCode, 0);
  await until('the round in the archive', async () => (await metric(walletd, 'walletd_archive_names')) > 0);
  await until('its event', async () => (await metric(walletd, 'walletd_transactions')) === 0);
  assert.equal(await walletd.end('SIGTERM'), 0);
}

async function once(walletd: WalletdProcess, body: RequestBody): Promise<{ statusCode: number }> {
  const client = new PlatformClient(walletd.callbackUrl);
  try {
    return await client.post('winRewards', body);
  } finally {
    client.close();
  }
}

async function metric(walletd: WalletdProcess, name: string): Promise<number> {
  const text = await (await fetch(`${walletd.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/** Asserts that the repeat moves nothing and does not succeed, and that the log and the metric give the reason. */
async function refusesRepeat(env: Record<string, string>): Promise<void> {
  const walletd = await WalletdProcess.start({ ...AT_ONCE, ...env });
  const { statusCode } = await once(walletd, REWARD);
  assert.equal(statusCode, 50001);
  assert.equal(await balanceOf(walletd.adminUrl, 'ann'), 1100);
  assert.ok(walletd.log.some(({ code }) => code === 'archive-behind-log'));
  assert.equal(await metric(walletd, 'walletd_archive_behind_log'), 1);
  assert.equal(await walletd.end('SIGTERM'), 0);
}

async function answersRepeat(env: Record<string, string>): Promise<void> {
  const walletd = await WalletdProcess.start({ ...AT_ONCE, ...env });
  const answer = (await once(walletd, REWARD)) as { statusCode: number; balanceBefore?: number; balanceAfter?: number };
  assert.deepEqual([answer.statusCode, answer.balanceBefore, answer.balanceAfter], [0, 1000, 1100]);
  assert.equal(await balanceOf(walletd.adminUrl, 'ann'), 1100);
  assert.equal(await walletd.end('SIGTERM'), 0);
}

test('LMDB: a repeat moves nothing while its rounds are missing from the archive', async () => {
  const folder = makeTempFolder();
  const env = { WALLETD_STORE: `lmdb:${folder.path}/data` };
  const archive = join(folder.path, 'data', 'archive');
  await credit(env);
  renameSync(archive, `${archive}.away`);
  mkdirSync(archive);
  cpSync(`${archive}.away/archive.json`, `${archive}/archive.json`);
  await refusesRepeat(env);
  rmSync(archive, { recursive: true });
  cpSync(`${archive}.away`, archive, { recursive: true });
  await answersRepeat(env);
  folder.remove();
});

const noPostgres = whyNoPostgres();
test('PostgreSQL: a repeat moves nothing if the database is outdated or missing', {
  skip: noPostgres,
}, async () => {
  const folder = makeTempFolder();
  const databases = new PostgresDatabases(startPostgres(tmpdir()));
  after(async () => await cleanUp());
  const redis = await RedisServer.start();
  const env = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_NODE_FOLDER: `${folder.path}/node` };
  const [mine, other] = [databases.url(await databases.create()), databases.url(await databases.create())];
  const first = await WalletdProcess.start({ ...AT_ONCE, ...env, WALLETD_ARCHIVE: mine });
  assert.equal(await first.end('SIGTERM'), 0);
  copyDatabase(mine, other);
  await credit({ ...env, WALLETD_ARCHIVE: mine });
  await refusesRepeat({ ...env, WALLETD_ARCHIVE: other });
  const without = runWalletd(['serve'], { ...AT_ONCE, ...env });
  assert.equal(without.status, 1);
  assert.match(
    without.stderr,
    /closed rounds of the store .* in the archive .*no archive is configured: set WALLETD_ARCHIVE/,
  );
  await answersRepeat({ ...env, WALLETD_ARCHIVE: mine });
  await redis.destroy();
  folder.remove();
});
