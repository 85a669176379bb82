import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { PlatformClient } from '../support/client.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { BUSY, type Target } from './load.js';
import { prove } from './proof.js';
import { RawLmdb } from './raw-lmdb.js';
import { RawRedis } from './raw-redis.js';
import { fault } from './scene.js';

const KILLS = 5;
/** Closed rounds leave memory at once. */
const AT_ONCE = { WALLETD_RETENTION_MEMORY_SECONDS: '0.02' };

async function archivedRounds({ adminUrl }: Target): Promise<number> {
  return (await Scrape.of(adminUrl)).value('walletd_archived_rounds_total');
}

async function allHaveLeft({ adminUrl }: Target): Promise<void> {
  let before = -1;
  await until('closed rounds have left memory', async () => {
    const scrape = await Scrape.of(adminUrl);
    const held = scrape.value('walletd_transactions');
    const isStill = held === before;
    before = held;
    await delay(1200);
    return isStill && scrape.value('walletd_archived_rounds_total') > 0;
  });
}

for (const workers of ['0', '2']) {
  fault(
    `kill -9 under load while rounds move to PostgreSQL, ${KILLS} times, ${workers} workers: nothing is lost or done twice`,
    async (scene) => {
      const postgres = scene.postgres();
      if (postgres === undefined) return;
      const redis = await scene.redis();
      const env = { ...AT_ONCE, WALLETD_WORKERS: workers, WALLETD_ARCHIVE: postgres.url };
      let walletd = await scene.walletd(redis.url, env);
      const load = await scene.load(walletd);
      for (let kill = 0; kill < KILLS; kill++) {
        await delay(700 + 50 * kill);
        await walletd.end('SIGKILL');
        walletd = await scene.walletd(redis.url, env);
        load.moveTo(walletd);
      }
      await until('answers after the last kill', () => load.firstAnswerAfter(performance.now() - 100));
      await load.stop();
      await allHaveLeft(walletd);
      scene.say(`${await archivedRounds(walletd)} rounds moved since the last kill`);
      scene.say(await prove([load], walletd, new RawRedis(redis)));
    },
  );
}

fault(
  `kill -9 under load while rounds move beside LMDB, ${KILLS} times: nothing is lost or done twice`,
  async (scene) => {
    const folder = scene.makeFolder();
    const store = `lmdb:${folder}`;
    let walletd = await scene.walletd(store, AT_ONCE);
    const load = await scene.load(walletd);
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(700 + 50 * kill);
      await walletd.end('SIGKILL');
      walletd = await scene.walletd(store, AT_ONCE);
      load.moveTo(walletd);
    }
    await until('answers after the last kill', () => load.firstAnswerAfter(performance.now() - 100));
    await load.stop();
    await allHaveLeft(walletd);
    scene.say(await prove([load], walletd, new RawLmdb(folder)));
    await walletd.end('SIGTERM');
    scene.say(await scene.run('verify', '--deep', '--no-server', '--store', store));
  },
);

fault(
  'PostgreSQL crashes under load: what needs it gets 503, all else goes on, and nothing is decided blindly',
  async (scene) => {
    const postgres = scene.postgres();
    if (postgres === undefined) return;
    const redis = await scene.redis();
    const walletd = await scene.walletd(redis.url, { ...AT_ONCE, WALLETD_ARCHIVE: postgres.url });
    const load = await scene.load(walletd);
    await until('rounds have moved', async () => (await archivedRounds(walletd)) > 100);
    const old = load.sent[0];
    postgres.crash();
    const crashedMs = performance.now();
    await isSaidToBeAway(walletd);
    const client = new PlatformClient(walletd.callbackUrl);
    const repeat = await client.post('placeBets', { ...old?.body } as object);
    assert.equal(repeat.statusCode, BUSY, 'a repeat of what is in the archive waits for it');
    await delay(1000);
    const during = load.sent.filter((one) => one.sentMs > crashedMs && one.outcome === 'answered').length;
    assert.ok(during > 50, `${during} answers while the archive was away`);
    postgres.start();
    await until('rounds move again', async () => (await Scrape.of(walletd.adminUrl)).value('walletd_archive_up') > 0);
    const again = await until('the repeat is answered', async () => {
      const answer = await client.post('placeBets', { ...old?.body } as object);
      return answer.statusCode === 0 && answer;
    });
    assert.equal(again.balanceAfter, old?.answer?.balanceAfter);
    client.close();
    await load.stop();
    scene.say(`${during} answers while PostgreSQL was away`);
    scene.say(await prove([load], walletd, new RawRedis(redis)));
  },
);

async function isSaidToBeAway(walletd: WalletdProcess): Promise<void> {
  await walletd.waitFor(({ msg }) => /archive does not answer/.test(msg));
  await until('the metric says it', async () => {
    const scrape = await Scrape.of(walletd.adminUrl);
    return scrape.series('walletd_archive_up').some(({ value }) => Number(value) === 0);
  });
}
