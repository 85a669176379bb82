import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { PlatformClient } from '../support/client.js';
import { IS_NIGHTLY } from '../support/nightly.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { FaultyNetwork, SLOW_MS } from './faulty-network.js';
import { BUSY, type Target } from './load.js';
import { prove } from './proof.js';
import { RawLmdb } from './raw-lmdb.js';
import { RawRedis } from './raw-redis.js';
import { fault, rareFault } from './scene.js';
import { SmallDisk } from './small-disk.js';

const KILLS = IS_NIGHTLY ? 5 : 2;
/** The setting that makes closed rounds leave memory immediately. */
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
  const one = workers === '0' ? rareFault : fault;
  one(
    `${KILLS} kill -9 while rounds move to PostgreSQL lose and repeat nothing (${workers} workers)`,
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

fault(`${KILLS} kill -9 while rounds move beside LMDB lose and repeat nothing`, async (scene) => {
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
});

fault('a PostgreSQL crash delays only the callbacks that need the archive', async (scene) => {
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
});

fault('with a hanging PostgreSQL, callbacks that need it get 503 by their deadline', async (scene) => {
  const postgres = scene.postgres();
  if (postgres === undefined) return;
  const redis = await scene.redis();
  const folder = new URL(postgres.url).searchParams.get('host') ?? '';
  const proxy = await FaultyNetwork.start(`${folder}/.s.PGSQL.5432`);
  scene.atEnd(() => proxy.close());
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  const walletd = await scene.walletd(redis.url, { ...AT_ONCE, WALLETD_ARCHIVE: url });
  const load = await scene.load(walletd);
  await until('rounds have moved', async () => (await archivedRounds(walletd)) > 100);
  proxy.faultMode = 'swallow-replies';
  const hangsMs = performance.now();
  const old = load.sent[0];
  const client = new PlatformClient(walletd.callbackUrl);
  assert.equal((await client.post('placeBets', { ...old?.body } as object)).statusCode, BUSY);
  await isSaidToBeAway(walletd);
  const during = load.sent.filter((one) => one.sentMs > hangsMs && one.outcome === 'answered').length;
  assert.ok(during > 50, `${during} answers while the archive hung`);
  proxy.faultMode = 'fair';
  proxy.cut();
  const again = await until('the repeat is answered', async () => {
    const answer = await client.post('placeBets', { ...old?.body } as object);
    return answer.statusCode === 0 && answer;
  });
  assert.equal(again.balanceAfter, old?.answer?.balanceAfter);
  client.close();
  await load.stop();
  scene.say(`${during} answers while PostgreSQL hung`);
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

rareFault('a slow PostgreSQL delays only callbacks that need it, and rounds still move', async (scene) => {
  const postgres = scene.postgres();
  if (postgres === undefined) return;
  const redis = await scene.redis();
  const folder = new URL(postgres.url).searchParams.get('host') ?? '';
  const proxy = await FaultyNetwork.start(`${folder}/.s.PGSQL.5432`);
  scene.atEnd(() => proxy.close());
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  const walletd = await scene.walletd(redis.url, { ...AT_ONCE, WALLETD_ARCHIVE: url });
  const load = await scene.load(walletd);
  await until('rounds have moved', async () => (await archivedRounds(walletd)) > 100);
  proxy.faultMode = 'slow-replies';
  const slowMs = performance.now();
  const before = await archivedRounds(walletd);
  const old = load.sent[0];
  const client = new PlatformClient(walletd.callbackUrl);
  const again = await client.post('placeBets', { ...old?.body } as object);
  client.close();
  assert.ok(performance.now() - slowMs >= SLOW_MS, 'the archive was asked');
  assert.deepEqual([again.statusCode, again.balanceAfter], [0, old?.answer?.balanceAfter]);
  await until('rounds move', async () => (await archivedRounds(walletd)) > before + 100);
  const during = load.sent.filter((one) => one.sentMs > slowMs && one.outcome === 'answered').length;
  assert.ok(during > 50, `${during} answers while the archive was slow`);
  const up = (await Scrape.of(walletd.adminUrl)).series('walletd_archive_up');
  assert.ok(up.every(({ value }) => Number(value) === 1));
  proxy.faultMode = 'fair';
  proxy.cut();
  await load.stop();
  scene.say(`${during} answers while PostgreSQL was slow`);
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

rareFault('a start with a damaged key filter reads the archive again', async (scene) => {
  const postgres = scene.postgres();
  if (postgres === undefined) return;
  const redis = await scene.redis();
  const nodeFolder = scene.makeFolder();
  const env = { ...AT_ONCE, WALLETD_ARCHIVE: postgres.url, WALLETD_NODE_FOLDER: nodeFolder };
  const first = await scene.walletd(redis.url, env);
  const load = await scene.load(first);
  await until('rounds have moved', async () => (await archivedRounds(first)) > 100);
  load.rest();
  await allHaveLeft(first);
  // Take the archived keys away from the next start: a snapshot trims the log's first entries, and the test removes the
  // node's file.
  await (await fetch(`${first.adminUrl}/v1/snapshots`, { method: 'POST' })).text();
  assert.equal(await first.end('SIGTERM'), 0);
  const files = readdirSync(nodeFolder).filter((name) => name.startsWith('archive-names-'));
  assert.ok(files.length > 0, 'the node has kept names');
  for (const name of files) rmSync(`${nodeFolder}/${name}`);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const { rowCount } = await client.query(
    'UPDATE walletd_saved SET names = set_byte(names, 9, get_byte(names, 9) # 1)',
  );
  await client.end();
  assert.ok((rowCount ?? 0) > 0, 'names were saved at the end');
  const second = await scene.walletd(redis.url, env);
  await second.waitFor(({ code }) => code === 'archive-names-reread');
  load.moveTo(second);
  await delay(500);
  await load.stop();
  scene.say(await prove([load], second, new RawRedis(redis)));
});

fault('archive moves wait on a full disk and resume with free space', async (scene) => {
  const disk = SmallDisk.tryMount(scene, 32);
  if (disk === undefined) return scene.skip('only root can mount a small disk');
  const folder = `${disk.path}/store`;
  const walletd = await scene.walletd(`lmdb:${folder}`, AT_ONCE);
  const load = await scene.load(walletd);
  await until('rounds have moved', async () => (await archivedRounds(walletd)) > 100);
  disk.fill();
  // Wait for either message. If an append fails first, the shard neither moves rounds to the archive nor queries it,
  // and the other message never appears.
  await walletd.waitFor(({ code }) => code === 'archive-away' || code === 'append-failed');
  await delay(500);
  disk.free();
  const before = await archivedRounds(walletd);
  await until('rounds move again', async () => (await archivedRounds(walletd)) > before + 100);
  await load.stop();
  scene.say(await prove([load], walletd, new RawLmdb(folder)));
  await walletd.end('SIGTERM');
  scene.say(await scene.run('verify', '--deep', '--no-server', '--store', `lmdb:${folder}`));
});

async function isSaidToBeAway(walletd: WalletdProcess): Promise<void> {
  await walletd.waitFor(({ code }) => code === 'archive-away');
  await until('the metric says it', async () => {
    const scrape = await Scrape.of(walletd.adminUrl);
    return scrape.series('walletd_archive_up').some(({ value }) => Number(value) === 0);
  });
}
