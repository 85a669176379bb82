import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { shardOf } from '../../src/threads/placement.js';
import { cleanUp } from '../support/clean-up.js';
import { balanceOf, bet, type CallbackAnswer, importPlayers, PlatformClient, settledRound } from '../support/client.js';
import { LocalCluster } from '../support/local-cluster.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresStandby } from '../support/postgres-standby.js';
import { RedisServer } from '../support/redis-server.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';

const SHARDS = 4;
const BUSY = 50001;
const BALANCE = 1000;
const PLAYERS = Array.from({ length: 16 }, (_, i) => `p${i}`);
const ENV = {
  WALLETD_RETENTION_MEMORY_SECONDS: '0.02',
  WALLETD_REQUEST_DEADLINE_MS: '700',
  WALLETD_SHARDS: String(SHARDS),
};

after(async () => await cleanUp());

/** Shards 0 and 1 have archived through node 0, the others through node 1. */
const crossedBy = (owners: readonly number[]) =>
  owners.flatMap((node, shard) => (node === (shard < 2 ? 0 : 1) ? [] : [shard]));

/*
 * Split brain of an archive: its replica was promoted, but the former primary is still alive. The two nodes use
 * different servers, both with the ID that the store names. Each server has rounds that the other lacks, and only the
 * archive marks (positions up to which each shard is archived) reveal it.
 */
test('nodes that use two primaries of one archive apply nothing twice', { skip: whyNoPostgres() }, async () => {
  const primary = startPostgres(tmpdir());
  const redis = await RedisServer.start();
  const env = { ...ENV, WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_ARCHIVE: primary.url };
  const cluster = await LocalCluster.start({ nodes: 2, env });
  const client = new PlatformClient(cluster.callbackUrl);
  const answers = new Map<string, { readonly player: string; readonly n: number; readonly answer: CallbackAnswer }>();
  const settle = (player: string, n: number) => client.post('settleBets', settledRound(player, n));
  const sum = async (name: string) => {
    const scraped = await Promise.all(cluster.living.map(({ adminUrl }) => Scrape.of(adminUrl)));
    return scraped.flatMap((one) => one.series(name)).reduce((all, { value }) => all + Number(value), 0);
  };
  const settleAll = async (n: number) => {
    for (const player of PLAYERS) {
      const answer = await settle(player, n);
      assert.equal(answer.statusCode, 0, `round ${n} of ${player}`);
      answers.set(`${player} ${n}`, { player, n, answer });
    }
  };
  const haveLeft = () => until('all has left memory', async () => (await sum('walletd_transactions')) === 0);
  const moveTo = async (wanted: readonly number[]) => {
    for (const [shard, node] of wanted.entries()) {
      await cluster.ask(`/v1/cluster/shards/${shard}/move`, { node: `node-${node}` });
    }
    const owners = wanted.map((node) => `node-${node}`).join();
    await until(`the shards are on ${owners}`, async () => (await cluster.owners()).join() === owners);
  };
  const balances = () => Promise.all(PLAYERS.map((player) => balanceOf(cluster.adminUrl, player)));
  /** Repeats everything. Resolves to the shards whose callbacks got 503. */
  const repeatAll = async () => {
    const before = await balances();
    const busy = new Set<number>();
    const repeats = [...answers.values()].map(async ({ player, n, answer }) => {
      const again = await settle(player, n);
      if (again.statusCode === BUSY) busy.add(shardOf(player, SHARDS));
      else
        assert.deepEqual([again.statusCode, again.balanceAfter], [0, answer.balanceAfter], `round ${n} of ${player}`);
    });
    await Promise.all(repeats);
    assert.deepEqual(await balances(), before, 'no repeat moves money');
    return [...busy].sort();
  };
  try {
    await importPlayers(cluster.adminUrl, PLAYERS, BALANCE);
    await settleAll(1);
    await haveLeft();
    const standby = PostgresStandby.start(primary);
    await standby.inStep();
    standby.promote();
    assert.equal(await cluster.end(1, 'SIGTERM'), 0);
    await cluster.startNode(1, { WALLETD_ARCHIVE: standby.url });
    await moveTo([0, 0, 1, 1]);
    await settleAll(2);
    await haveLeft();
    assert.deepEqual(await repeatAll(), [], 'each node has what it archived');
    await haveLeft();

    for (const [wanted, id] of [
      [[1, 1, 0, 0], 'crossed'],
      [[0, 1, 0, 1], 'half'],
      [[1, 0, 1, 0], 'other-half'],
    ] as const) {
      await moveTo(wanted);
      // Expect at least this number: nodes that only follow a shard also report the metric.
      const least = crossedBy(wanted).length;
      await until(`${id}: the metric reports it`, async () => (await sum('walletd_archive_behind_log')) >= least);
      for (const player of PLAYERS) assert.equal((await client.post('placeBets', bet(player, id))).statusCode, 0, id);
      assert.deepEqual(await repeatAll(), crossedBy(wanted), `${id}: only what the other primary has waits`);
    }

    await moveTo([0, 0, 1, 1]);
    assert.deepEqual(await repeatAll(), []);
    for (const balance of await balances())
      assert.equal(balance, BALANCE + 2 - 3, 'three bets of 1 after two wins of 1');
  } finally {
    client.close();
    await cluster.close();
    await redis.destroy();
  }
});
