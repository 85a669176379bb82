import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { cleanUp } from '../support/clean-up.js';
import { importPlayers, PlatformClient, settledRound } from '../support/client.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { RedisServer } from '../support/redis-server.js';
import { Scrape } from '../support/scrape.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdCommand, WalletdProcess } from '../support/walletd-process.js';

const OTHER_ARCHIVE = 5;

test('a follower exits with 5 if walletd uses a different archive', { skip: whyNoPostgres() ?? false }, () =>
  inTempFolder(async (folder) => {
    const postgres = startPostgres(tmpdir());
    after(async () => await cleanUp());
    const databases = new PostgresDatabases(postgres);
    const redis = await RedisServer.start();
    const archive = await databases.create();
    const env = {
      WALLETD_STORE: redis.url,
      WALLETD_INIT: 'auto',
      WALLETD_SHARDS: '1',
      WALLETD_NODE_FOLDER: `${folder}/node`,
      WALLETD_RETENTION_MEMORY_SECONDS: '0.05',
      WALLETD_ARCHIVE: databases.url(archive),
    };
    let i = 0;
    const play = async ({ callbackUrl, adminUrl }: WalletdProcess) => {
      const platform = new PlatformClient(callbackUrl);
      for (const end = i + 10; i < end; i++) {
        assert.equal((await platform.post('settleBets', settledRound('ann', i))).statusCode, 0);
      }
      platform.close();
      const left = async () => (await Scrape.of(adminUrl)).value('walletd_transactions') === 0;
      await until('the rounds are in the archive', left);
    };
    const first = await WalletdProcess.start(env);
    await importPlayers(first.adminUrl, ['ann'], 100);
    await play(first);
    assert.equal(await first.end('SIGTERM'), 0);
    // Simulate that the archive has been moved with pg_dump, but that the follower still uses the former one.
    await runSql(postgres.url, `CREATE DATABASE former TEMPLATE ${archive}`);
    const follow = (name: string, database: string) =>
      new WalletdCommand(['backup', '--follow', '--to', `${folder}/${name}`, '--metrics', `${folder}/${name}.prom`], {
        ...env,
        WALLETD_ARCHIVE: databases.url(database),
      });
    const good = follow('good', archive);
    await good.said(/Following/);
    const misled = follow('misled', 'former');
    await misled.said(/Following/);
    const second = await WalletdProcess.start(env);
    await play(second);
    assert.equal(await misled.exit(), OTHER_ARCHIVE, misled.stderr);
    assert.match(
      misled.stderr,
      /the log of shard 0 relies on record \S+ of the archive, which ends with record \S+: walletd uses a different archive/,
    );
    assert.match(readFileSync(`${folder}/misled.prom`, 'utf8'), /^walletd_backup_archive_differs 1$/m);
    assert.equal(await good.exit('SIGTERM'), 0, good.stderr);
    assert.match(readFileSync(`${folder}/good.prom`, 'utf8'), /^walletd_backup_archive_differs 0$/m);
    const stranger = await databases.create();
    await runSql(databases.url(stranger), "CREATE TABLE walletd_archive AS SELECT 1 AS version, 'another' AS store_id");
    const lost = follow('lost', stranger);
    assert.notEqual(await lost.exit(), 0);
    assert.match(lost.stderr, /the archive in PostgreSQL belongs to a different store: another/);
    await second.end('SIGTERM');
    await redis.destroy();
  }),
);
