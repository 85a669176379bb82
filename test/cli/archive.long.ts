import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { cleanUp } from '../support/clean-up.js';
import { importPlayers, PlatformClient, settledRound } from '../support/client.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { Scrape } from '../support/scrape.js';
import { StoredNode } from '../support/stored-node.js';
import { until } from '../support/until.js';

const ROUNDS = 30;

/** The stores of this scenario: the original, and the store into which it is restored. */
interface Places {
  readonly env: Record<string, string>;
  readonly copyEnv: Record<string, string> & { readonly WALLETD_STORE: string };
  /** Removes rounds from the original's archive. */
  loseRounds(): Promise<void>;
  /** The sentence that `verify` prints about the lost rounds. */
  readonly isLost: RegExp;
}

async function tell(node: StoredNode, { env: placeEnv, copyEnv: place, loseRounds, isLost }: Places): Promise<void> {
  Object.assign(node.env, placeEnv);
  const env = { WALLETD_RETENTION_MEMORY_SECONDS: '0.05' };
  const walletd = await node.start(env);
  await importPlayers(walletd.adminUrl, ['ann', 'bob'], 100);
  const client = new PlatformClient(walletd.callbackUrl);
  const play = async (from: number) => {
    for (let i = from; i < from + ROUNDS; i++) {
      for (const username of ['ann', 'bob']) {
        assert.equal((await client.post('settleBets', settledRound(username, i))).statusCode, 0);
      }
    }
  };
  const archived = async (rounds: number) =>
    await until('the rounds are in the archive', async () => {
      const scrape = await Scrape.of(walletd.adminUrl);
      return scrape.value('walletd_archived_rounds_total') >= rounds && scrape.value('walletd_transactions') === 0;
    });
  await play(0);
  await archived(2 * ROUNDS);
  const again = await client.post('settleBets', settledRound('ann', 3));
  assert.equal(again.statusCode, 0);
  client.close();
  await node.stop();

  const verified = await node.run(['verify', '--deep', '--json', '--no-server']);
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);
  const report = JSON.parse(verified.stdout) as { clean: boolean; shards: { archived: number }[] };
  assert.ok(report.clean);
  assert.ok(report.shards.reduce((sum, shard) => sum + shard.archived, 0) >= 2 * ROUNDS);

  const file = `${node.folder.path}/backup`;
  assert.equal((await node.run(['backup', '--to', file])).status, 0);
  const copyEnv = { ...place, WALLETD_NODE_FOLDER: `${node.folder.path}/node2` };
  const restoring = ['restore', '--from', file, '--to', place.WALLETD_STORE];
  const dry = await runCommand([...restoring, '--dry-run'], { ...node.env, ...copyEnv });
  assert.equal(dry.status, 0, dry.stderr);
  const restore = await runCommand(restoring, { ...node.env, ...copyEnv });
  assert.equal(restore.status, 0, restore.stderr);
  const checked = await runCommand(['verify', '--json', '--no-server'], copyEnv);
  assert.equal(checked.status, 0, checked.stdout);
  const copy = await node.start({ ...env, ...copyEnv });
  const other = new PlatformClient(copy.callbackUrl);
  for (let i = 0; i < ROUNDS; i++) {
    const answer = await other.post('settleBets', settledRound('bob', i));
    assert.deepEqual(
      [answer.statusCode, answer.balanceBefore, answer.balanceAfter],
      [0, 100 + i, 101 + i],
      'the first answer',
    );
  }
  other.close();
  await node.stop();

  await loseRounds();
  const lost = await node.run(['verify', '--deep', '--json', '--no-server']);
  assert.notEqual(lost.status, 0);
  assert.match(lost.stdout + lost.stderr, isLost);
}

const TITLE = 'rounds in the archive are verified, backed up and restored with the wallets';

test(`LMDB: ${TITLE}`, async (t) => {
  const node = new StoredNode(t, 2);
  const folder = `${node.store}/archive`;
  await tell(node, {
    env: {},
    copyEnv: { WALLETD_STORE: `lmdb:${node.folder.path}/restored` },
    loseRounds: async () => {
      const day = readdirSync(folder).find((name) => /^\d.*\.mdb$/.test(name)) as string;
      assert.ok(statSync(`${folder}/${day}`).size > 0);
      rmSync(`${folder}/${day}`);
    },
    isLost: /the archive lacks \S+\.mdb, which had \d+ records/,
  });
});

async function onRedis(t: TestContext): Promise<void> {
  const postgres = startPostgres(tmpdir());
  const redis = await RedisServer.start();
  after(async () => {
    await redis.destroy();
    await cleanUp();
  });
  const query = async (sql: string, url = postgres.url) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  await query('CREATE DATABASE copy');
  const common = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto' };
  await tell(new StoredNode(t, 2), {
    env: { ...common, WALLETD_STORE_PREFIX: 'first', WALLETD_ARCHIVE: postgres.url },
    copyEnv: {
      ...common,
      WALLETD_STORE_PREFIX: 'copy',
      WALLETD_ARCHIVE: postgres.url.replace('/postgres?', '/copy?'),
    },
    loseRounds: () => query('DELETE FROM walletd_rounds WHERE shard = 0'),
    isLost: /is not in the archive/,
  });
}

test(`Redis with PostgreSQL: ${TITLE}`, { skip: whyNoPostgres() ?? false }, onRedis);
