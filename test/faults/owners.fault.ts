import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { bet, PlatformClient } from '../support/client.js';
import { IS_NIGHTLY } from '../support/nightly.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { PLAYERS } from './load.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault } from './scene.js';

const ROUNDS = IS_NIGHTLY ? 4 : 2;
const FENCED = 3;

const isAlive = ({ child }: WalletdProcess) => child.exitCode === null && child.signalCode === null;

fault(`of two owners started together one ends with code 3 (${ROUNDS} times)`, async (scene) => {
  const redis = await scene.redis();
  let owner = await scene.walletd(redis.url);
  const loads = [await scene.load(owner)];
  for (let round = 1; round <= ROUNDS; round++) {
    const starts = [1, 2].map(() => scene.walletd(redis.url, { WALLETD_WORKERS: String(round % 2) }));
    const owners = [owner];
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === 'fulfilled') owners.push(start.value);
      else assert.match(start.reason.message, /ended with 3/, 'who does not start has been fenced while it did');
    }
    // Each of these processes may consider itself the owner until it has to check the log.
    const rivals = owners.map((one) => scene.play(one));
    const left = await until('one owner is left', () => {
      const alive = owners.filter(isAlive);
      return alive.length === 1 && alive;
    });
    await delay(100);
    loads.push(...rivals);
    await Promise.all(loads.map((load) => load.stop()));
    for (const loser of owners.filter((one) => !isAlive(one))) assert.equal(loser.child.exitCode, FENCED);
    scene.say(`round ${round}: ${owners.length - 1} of 2 said that they are ready, one stayed`);
    [owner] = left as [WalletdProcess];
  }
  scene.say(await prove(loads, owner, new RawRedis(redis)));
});

for (const workers of ['0', '2']) {
  fault(`a paused owner that was replaced answers nothing stale and ends (${workers} workers)`, async (scene) => {
    const redis = await scene.redis();
    const former = await scene.walletd(redis.url, { WALLETD_WORKERS: workers });
    const load = await scene.load(former);
    await delay(500);
    process.kill(former.pid, 'SIGSTOP');
    const successor = await scene.walletd(redis.url, { WALLETD_WORKERS: workers });
    const next = scene.play(successor);
    await delay(500);

    // Send bets to the stopped owner. They wait in its sockets, and it reads them only after its successor's fence.
    const late = new PlatformClient(former.callbackUrl, 5000);
    const bets = PLAYERS.map((username) => reported(late.post('placeBets', bet(username, `late-${username}`))));
    const reads = PLAYERS.map((username) => reported(read(`${former.adminUrl}/v1/players/${username}`)));
    await delay(200);
    process.kill(former.pid, 'SIGCONT');
    const wokenMs = performance.now();
    await until('the former owner ends', () => !isAlive(former));
    const tookMs = Math.round(performance.now() - wokenMs);
    assert.equal(former.child.exitCode, FENCED);
    const { takenBy } = await until('it names its successor', () =>
      former.log.find(({ code }) => code === 'store-fenced'),
    );
    assert.match(String(takenBy), new RegExp(`process ${successor.pid} on `));
    for (const answer of await Promise.all([...bets, ...reads])) {
      assert.ok(answer === 'nothing' || answer === 'busy', `the former owner answered ${answer}`);
    }
    late.close();
    await delay(300);
    await Promise.all([load.stop(), next.stop()]);
    scene.say(`the former owner ended ${tookMs} ms after it woke`);
    scene.say(await prove([load, next], successor, new RawRedis(redis)));
  });
}

fault('an idle owner ends by itself after a takeover', async (scene) => {
  const redis = await scene.redis();
  const former = await scene.walletd(redis.url);
  await scene.walletd(redis.url);
  await until('the former owner ends', () => !isAlive(former));
  assert.equal(former.child.exitCode, FENCED);
});

async function read(url: string): Promise<{ statusCode: number }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
  await response.text();
  return { statusCode: response.status === 503 ? 50_001 : response.status };
}

/** Describes the outcome of a request in one word. */
async function reported(answer: Promise<{ statusCode: number }>): Promise<string> {
  return await answer.then(
    ({ statusCode }) => (statusCode === 50_001 ? 'busy' : `statusCode ${statusCode}`),
    () => 'nothing',
  );
}
