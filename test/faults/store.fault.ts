import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { importPlayers } from '../support/client.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { FaultyNetwork } from './faulty-network.js';
import type { Load } from './load.js';
import { readOrphans } from './orphans.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault, rareFault } from './scene.js';
import { unfinishedIn } from './snapshots.js';

const SILENT_MS = 2000;
/**
 * Maximum time from SIGTERM to walletd's end during an outage: five seconds, plus extra time because the client shares
 * two cores with the servers.
 */
const ENDED_MS = 10_000;
/** Number of idle players, so large that snapshots are slow. */
const IDLE_PLAYERS = Array.from({ length: 100_000 }, (_, i) => `idle-${i}`);
const FULL = /Redis is at its memory limit and wrote nothing: raise maxmemory/;

/** Checks a fault that walletd reports with this text. walletd must acknowledge nothing until the fault is repaired. */
async function refusedUntil(walletd: WalletdProcess, load: Load, words: RegExp, mend: () => Promise<unknown>) {
  const said = await walletd.waitFor(({ error }) => words.test(String(error)));
  const sinceMs = performance.now();
  await delay(SILENT_MS);
  assert.equal(load.firstAnswerAfter(sinceMs), undefined, 'nothing is acknowledged meanwhile');
  assert.ok(load.count('busy') > 0, 'callers get 503');
  await mend();
  const mendedMs = performance.now();
  const answeredMs = await until('service', () => load.firstAnswerAfter(mendedMs));
  return `"${said.error}"; service was back after ${Math.round(answeredMs - mendedMs)} ms`;
}

fault('a Redis at its memory limit causes 503 until it has memory', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(500);
  await redis.call('CONFIG', 'SET', 'maxmemory', '1mb');
  const mend = () => redis.call('CONFIG', 'SET', 'maxmemory', '0');
  scene.say(await refusedUntil(walletd, load, FULL, mend));
  await load.stop();
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

rareFault('a Redis at its memory limit regains the memory of an unfinished snapshot', async (scene) => {
  const redis = await scene.redis();
  const raw = new RawRedis(redis);
  const walletd = await scene.walletd(redis.url);
  await importPlayers(walletd.adminUrl, IDLE_PLAYERS, 1);
  const load = await scene.load(walletd);
  const taking = fetch(`${walletd.adminUrl}/v1/snapshots`, { method: 'POST' });
  await until('a snapshot that has begun', async () => (await unfinishedIn(raw)).length > 0);
  await redis.call('CONFIG', 'SET', 'maxmemory', '1mb');
  const said = await walletd.waitFor(({ code }) => code === 'snapshot-abandoned');
  assert.match(String(said.reason), FULL);
  assert.deepEqual(await unfinishedIn(raw), []);
  assert.equal((await taking).status, 200);
  await redis.call('CONFIG', 'SET', 'maxmemory', '0');
  const mendedMs = performance.now();
  await until('service', () => load.firstAnswerAfter(mendedMs));
  await load.stop();
  scene.say(await prove([load], walletd, raw));
});

fault('walletd reloads missing Redis functions', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  for (let flush = 0; flush < 3; flush++) {
    await delay(300);
    await redis.call('FUNCTION', 'FLUSH');
    const flushedMs = performance.now();
    await until('service', () => load.firstAnswerAfter(flushedMs));
  }
  await load.stop();
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

fault('an empty Redis causes 503 and no writes until the store returns', async (scene) => {
  const [redis, empty] = [await scene.redis(), await scene.redis()];
  const proxy = await FaultyNetwork.start(redis.port);
  scene.atEnd(() => proxy.close());
  const walletd = await scene.walletd(proxy.url);
  const load = await scene.load(walletd);
  await delay(500);
  const leadTo = ({ port }: { port: number }) => {
    proxy.target = port;
    proxy.cut();
  };
  leadTo(empty);
  const words = /is empty: the store \S+ is gone; nothing is written until the store is back/;
  scene.say(await refusedUntil(walletd, load, words, async () => leadTo(redis)));
  await load.stop();
  assert.equal(await empty.call('DBSIZE'), 0);
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

fault('after FLUSHALL an older copy receives the missing entries again', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(500);
  const client = redis.client();
  scene.atEnd(() => client.disconnect());
  const copy = await copyOf(client);
  await delay(300);
  await client.flushall();
  const words = /is empty: the store \S+ is gone; nothing is written until the store is back/;
  scene.say(await refusedUntil(walletd, load, words, () => client.multi(copy).exec()));
  await load.stop();
  scene.say(await prove([load], walletd, new RawRedis(redis)));
});

fault('SIGTERM while Redis hangs ends walletd in five seconds without loss', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(500);
  redis.signal('SIGSTOP');
  await delay(300);
  const answeredMs = performance.now();
  await walletd.end('SIGTERM');
  const tookMs = Math.round(performance.now() - answeredMs);
  assert.ok(tookMs < ENDED_MS, `${tookMs} ms`);
  await load.stop();
  redis.signal('SIGCONT');
  const successor = await scene.walletd(redis.url);
  assert.equal(walletd.child.exitCode, 1, 'some outcomes are unknown');
  scene.say(`ended after ${tookMs} ms`);
  scene.say(await prove([load], successor, new RawRedis(redis)));
});

for (const [workers, traffic] of [
  ['0', 'under load'],
  ['2', 'under load'],
  ['0', 'without traffic'],
  ['2', 'without traffic'],
] as const) {
  fault(`SIGTERM without Redis saves the last answers, ${traffic} with ${workers} workers`, async (scene) => {
    const redis = await scene.redis();
    const walletd = await scene.walletd(redis.url, { WALLETD_WORKERS: workers });
    const load = await scene.load(walletd);
    await delay(500);
    if (traffic === 'without traffic') await load.stop();
    await redis.end('SIGKILL');
    await delay(300);
    const answeredMs = performance.now();
    await walletd.end('SIGTERM');
    const tookMs = Math.round(performance.now() - answeredMs);
    await load.stop();
    const kept = Buffer.concat([...readOrphans(scene.nodeFolder).values()].flat());
    const answered = load.sent.filter(({ outcome }) => outcome === 'answered');
    for (const { body } of answered.slice(-100)) assert.ok(kept.includes(body.id), `${body.id} is not kept`);
    assert.ok(tookMs < ENDED_MS, `${tookMs} ms`);
    scene.say(`ended after ${tookMs} ms; ${answered.length} answered, ${kept.length} bytes of entries kept`);
    await redis.start();
    const successor = await scene.walletd(redis.url);
    scene.say(await prove([load], successor, new RawRedis(redis)));
  });
}

/** Copies all keys at one point in time, as commands that restore them. */
async function copyOf(client: Redis): Promise<[string, string, number, Buffer][]> {
  const keys = await client.keys('*');
  const dumps = client.multi();
  for (const key of keys) dumps.dumpBuffer(key);
  const replies = (await dumps.exec()) as [Error | null, Buffer][];
  return keys.map((key, i) => ['restore', key, 0, (replies[i] as [null, Buffer])[1]]);
}
