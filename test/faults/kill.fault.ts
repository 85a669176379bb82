import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { IS_NIGHTLY } from '../support/nightly.js';
import { until } from '../support/until.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { besideBets, betAndSettle, rollBack } from './rounds.js';
import { fault } from './scene.js';

const KILLS = IS_NIGHTLY ? 5 : 2;
const DEADLINE_MS = 1000;
/** Extra time beyond the deadline, because the client shares two cores with the servers. */
const LATE_MS = 2000;

for (const [workers, what, playRound] of [
  ['0', 'bets', betAndSettle],
  ['2', 'bets', betAndSettle],
  ['0', 'tips, rewards and movements', besideBets],
  ['0', 'rounds that are rolled back', rollBack],
] as const) {
  fault(`${KILLS} kill -9 under load of ${what} lose nothing answered (${workers} workers)`, async (scene) => {
    const redis = await scene.redis();
    let walletd = await scene.walletd(redis.url, { WALLETD_WORKERS: workers });
    const load = await scene.load(walletd, undefined, playRound);
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(400 + 50 * kill);
      await walletd.end('SIGKILL');
      walletd = await scene.walletd(redis.url, { WALLETD_WORKERS: workers });
      load.moveTo(walletd);
    }
    await until('answers after the last kill', () => load.firstAnswerAfter(performance.now() - 100));
    await load.stop();
    assert.ok(load.count('broken') > 0, 'the kills came while requests were in flight');
    scene.say(await prove([load], walletd, new RawRedis(redis)));
  });
}

fault('walletd survives three kill -9 of Redis by sending the same bytes again', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  for (let kill = 0; kill < 3; kill++) {
    await delay(500);
    await redis.end('SIGKILL');
    await delay(300 * kill);
    await redis.start();
    const backMs = performance.now();
    const answeredMs = await until('service after the restart', () => load.firstAnswerAfter(backMs));
    scene.say(`service is back ${Math.round(answeredMs - backMs)} ms after Redis`);
  }
  await load.stop();
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

fault('three kill -9 of Redis and walletd together lose no answered callback', async (scene) => {
  const redis = await scene.redis();
  let walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  for (let kill = 0; kill < 3; kill++) {
    await delay(500);
    await Promise.all([redis.end('SIGKILL'), walletd.end('SIGKILL')]);
    await redis.start();
    walletd = await scene.walletd(redis.url);
    load.moveTo(walletd);
  }
  await load.stop();
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

fault('a hanging Redis causes 503 at the deadline, then service resumes', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(500);
  redis.signal('SIGSTOP');
  await delay(5000);
  redis.signal('SIGCONT');
  const backMs = performance.now();
  const answeredMs = await until('service after SIGCONT', () => load.firstAnswerAfter(backMs));
  await delay(300);
  await load.stop();
  const busy = load.sent.filter(({ outcome }) => outcome === 'busy');
  const slowestMs = Math.max(...load.sent.map((one) => Math.round(one.endedMs - one.sentMs)));
  assert.ok(busy.length > 0, 'callers got 503');
  assert.equal(load.count('broken'), 0, 'no connection broke');
  assert.ok(slowestMs <= DEADLINE_MS + LATE_MS, `the slowest answer took ${slowestMs} ms`);
  scene.say(
    `service is back ${Math.round(answeredMs - backMs)} ms after Redis; the slowest answer took ${slowestMs} ms`,
  );
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});
