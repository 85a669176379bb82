import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../simulation/random.js';
import { FragileFolder, whyNoPowerLoss } from '../support/power-loss/fragile-folder.js';
import { until } from '../support/until.js';
import { Books } from './books.js';
import { prove } from './proof.js';
import { RawLmdb } from './raw-lmdb.js';
import { RawRedis } from './raw-redis.js';
import { besideBets, betAndSettle, type PlayRound } from './rounds.js';
import { fault, rareFault, type Scene } from './scene.js';

const LOSSES = 4;
/** Settings for snapshots every second without trimming, with which closed rounds move to the archive immediately. */
const ENV = {
  WALLETD_SHARDS: '3',
  WALLETD_SNAPSHOTS_EVERY_SECONDS: '1',
  WALLETD_SNAPSHOTS_KEEP: '100',
  WALLETD_RETENTION_MEMORY_SECONDS: '0.02',
};
const SHIPPED = new URL('../../../config/redis.conf', import.meta.url);

function fragile(scene: Scene, path: string): FragileFolder {
  const folder = new FragileFolder(path);
  scene.atEnd(() => folder.remove());
  return folder;
}

/** The Redis settings that walletd ships, except those that depend on the machine. */
function shipped(): Record<string, string> {
  const lines = readFileSync(SHIPPED, 'utf8').split('\n');
  const settings = lines.filter((line) => /^[a-z]/.test(line)).map((line) => /^(\S+) (.*)$/.exec(line) ?? []);
  const all = Object.fromEntries(settings.map(([, name = '', value = '']) => [name, value.replaceAll('"', '')]));
  const { bind: _bind, port: _port, dir: _dir, ...rest } = all;
  return rest;
}

/** Starts a Redis on a simulated disk that can lose power. */
async function fragileRedis(scene: Scene, settings: Record<string, string> = {}) {
  const redis = await scene.redis({ ...shipped(), ...settings });
  await redis.end('SIGTERM');
  const disk = fragile(scene, redis.path);
  redis.env = disk.env;
  await redis.start();
  return { redis, disk };
}

function seeded(scene: Scene): Random {
  const seed = randomInt(1, 2 ** 31 - 1);
  scene.say(`seed ${seed}`);
  return new Random(seed);
}

const allKinds: PlayRound = (username, id, i) => (i % 3 === 2 ? besideBets : betAndSettle)(username, id, i);

/**
 * Random numbers that decide which unsynced data survives a power loss. Undefined for every second loss: in this worst
 * case, no unsynced data survives.
 */
const survivors = (loss: number, random: Random) => (loss % 2 === 0 ? undefined : random);

for (const workers of ['0', '2']) {
  (workers === '0' ? fault : rareFault)(
    `power loss of walletd on LMDB under load, ${LOSSES} times, ${workers} workers: what was acknowledged had been synced`,
    async (scene) => {
      const why = whyNoPowerLoss();
      if (why !== undefined) return scene.skip(why);
      const random = seeded(scene);
      const disk = fragile(scene, scene.makeFolder());
      const folder = join(disk.path, 'store');
      const env = { ...ENV, ...disk.env, WALLETD_WORKERS: workers, WALLETD_NODE_FOLDER: join(disk.path, 'node') };
      let walletd = await scene.walletd(`lmdb:${folder}`, env);
      const load = await scene.load(walletd, undefined, allKinds);
      for (let loss = 0; loss < LOSSES; loss++) {
        await delay(800 + 200 * loss);
        await walletd.end('SIGKILL');
        load.rest();
        scene.say(`${disk.losePower(survivors(loss, random))} changes had not been synced`);
        walletd = await scene.walletd(`lmdb:${folder}`, env);
        load.moveTo(walletd);
      }
      await until('answers after the last loss', () => load.firstAnswerAfter(performance.now() - 100));
      await load.stop();
      scene.say(await prove([load], walletd, new RawLmdb(folder)));
      await walletd.end('SIGTERM');
      disk.mustHaveSeenAll();
      scene.say(await scene.run('verify', '--deep', '--no-server', '--store', `lmdb:${folder}`));
    },
  );
}

fault(`${LOSSES} power losses with the shipped settings lose no acknowledged callback`, async (scene) => {
  const why = whyNoPowerLoss();
  if (why !== undefined) return scene.skip(why);
  const random = seeded(scene);
  const { redis, disk } = await fragileRedis(scene);
  const own = fragile(scene, scene.makeFolder());
  const env = { ...ENV, ...own.env, WALLETD_NODE_FOLDER: own.path };
  let walletd = await scene.walletd(redis.url, env);
  const load = await scene.load(walletd, undefined, allKinds);
  for (let loss = 0; loss < LOSSES; loss++) {
    await delay(600 + 200 * loss);
    await Promise.all([redis.end('SIGKILL'), walletd.end('SIGKILL')]);
    load.rest();
    const unsynced = [disk, own].map((one) => one.losePower(survivors(loss, random)));
    scene.say(`${unsynced.join(' and ')} changes had not been synced`);
    await redis.start();
    walletd = await scene.walletd(redis.url, env);
    load.moveTo(walletd);
  }
  await until('answers after the last loss', () => load.firstAnswerAfter(performance.now() - 100));
  await load.stop();
  scene.say(await prove([load], walletd, new RawRedis(redis)));
  await walletd.end('SIGTERM');
  await redis.end('SIGTERM');
  for (const one of [disk, own]) one.mustHaveSeenAll();
});

fault('a power loss with appendfsync everysec loses unsynced answers', async (scene) => {
  const why = whyNoPowerLoss();
  if (why !== undefined) return scene.skip(why);
  const { redis, disk } = await fragileRedis(scene, { appendfsync: 'everysec' });
  const env = { ...ENV, WALLETD_DURABILITY: 'os', WALLETD_SNAPSHOTS_EVERY_SECONDS: '3600' };
  const walletd = await scene.walletd(redis.url, env);
  const load = await scene.load(walletd);
  await delay(1700);
  await Promise.all([redis.end('SIGKILL'), walletd.end('SIGKILL')]);
  await load.stop();
  scene.say(`${disk.losePower()} changes had not been synced`);
  await redis.start();
  const { callbacks } = await Books.read(new RawRedis(redis));
  const reported = load.sent.filter(({ outcome }) => outcome === 'answered');
  const lost = reported.filter(({ body }) => !callbacks.has(body.id));
  assert.ok(lost.length > 0, `all of ${reported.length} answers are there: no power was lost`);
  scene.say(`${lost.length} of ${reported.length} answers are lost`);
});
