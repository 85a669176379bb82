import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { balanceOf, PlatformClient } from '../support/client.js';
import type { Postgres } from '../support/postgres.js';
import { PostgresStandby, socketOf } from '../support/postgres-standby.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';
import { FaultyNetwork } from './faulty-network.js';
import { BUSY, PLAYERS, type Sent, type Target } from './load.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault, rareFault, type Scene } from './scene.js';

/** Settings that make closed rounds leave memory immediately. */
const AT_ONCE = { WALLETD_RETENTION_MEMORY_SECONDS: '0.02', WALLETD_REQUEST_DEADLINE_MS: '300' };
const CONNECTIONS = 32;
/** Number of acknowledged callbacks that are repeated during the wait. */
const REPEATS = 300;

/** Starts a replica of the primary, and a proxy address for walletd. The test points the proxy at the current primary. */
async function replicated(scene: Scene, primary: Postgres) {
  const standby = PostgresStandby.start(primary);
  const address = await FaultyNetwork.start(socketOf(primary));
  scene.atEnd(() => address.close());
  return { standby, address, url: `postgres://postgres@127.0.0.1:${address.port}/postgres` };
}

const archivedBy = async ({ adminUrl }: Target) => (await Scrape.of(adminUrl)).value('walletd_archived_rounds_total');
const isBehind = async ({ adminUrl }: Target) =>
  (await Scrape.of(adminUrl)).series('walletd_archive_behind_log').some(({ value }) => Number(value) === 1);

/**
 * Repeats acknowledged callbacks of various ages. Each gets its first answer or 503, and no balance changes. Resolves
 * to the number of 503 answers.
 */
async function repeatOnce(sent: readonly Sent[], target: Target): Promise<number> {
  const client = new PlatformClient(target.callbackUrl, 10_000);
  const reported = sent.filter(({ outcome }) => outcome === 'answered');
  const rest = reported.filter((_, i) => i % Math.ceil(reported.length / REPEATS) === 0);
  let busy = 0;
  const repeat = async () => {
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
      const again = await client.post(one.endpoint, one.body);
      if (again.statusCode === BUSY) busy++;
      else assert.equal(again.balanceAfter, one.answer?.balanceAfter, `${one.body.id} is answered as at first`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, repeat));
  client.close();
  return busy;
}

async function balances({ adminUrl }: Target): Promise<Map<string, number>> {
  return new Map(await Promise.all(PLAYERS.map(async (name) => [name, await balanceOf(adminUrl, name)] as const)));
}

for (const [workers, formerly] of [
  ['0', 'crashes'],
  ['0', 'stays alive'],
  ['2', 'crashes'],
] as const) {
  (workers === '0' && formerly === 'crashes' ? fault : rareFault)(
    `PostgreSQL fails over to a replica that lags, the former primary ${formerly}, ${workers} workers: repeats wait, nothing is doubled`,
    async (scene) => {
      const primary = scene.postgres();
      if (primary === undefined) return;
      const { standby, address, url } = await replicated(scene, primary);
      const redis = await scene.redis();
      const walletd = await scene.walletd(redis.url, { ...AT_ONCE, WALLETD_WORKERS: workers, WALLETD_ARCHIVE: url });
      const load = await scene.load(walletd);
      await until('rounds have moved', async () => (await archivedBy(walletd)) > 100);
      await standby.inStep();
      await standby.stopReceiving();
      const before = await archivedBy(walletd);
      await until('rounds have moved that the replica lacks', async () => (await archivedBy(walletd)) > before + 200);
      if (formerly === 'crashes') primary.crash();
      standby.promote();
      address.target = socketOf(standby);
      address.cut();
      const failedOverMs = performance.now();
      await until('the archive is behind the log', () => isBehind(walletd));
      await walletd.waitFor(({ code }) => code === 'archive-behind-log');
      await until('new bets go on', () => load.firstAnswerAfter(failedOverMs + 500));
      load.rest();
      await delay(1500);
      const found = await balances(walletd);
      const sent = [...load.sent];
      const busy = await repeatOnce(sent, walletd);
      assert.ok(busy > 0, 'some repeats needed the archive');
      assert.deepEqual(await balances(walletd), found, 'no repeat has moved money');
      scene.say(`${busy} repeats got 503`);

      if (formerly === 'crashes') primary.start();
      address.target = socketOf(primary);
      address.cut();
      load.moveTo(walletd);
      await until('the archive is believed again', async () => !(await isBehind(walletd)));
      await delay(500);
      await load.stop();
      scene.say(await prove([load], walletd, new RawRedis(redis)));
    },
  );
}
