import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Coded, Logger } from '../../src/base/logger.js';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { shardOf } from '../../src/threads/placement.js';
import { bet, PlatformClient } from '../support/client.js';
import { settingsWith } from '../support/settings.js';
import { until } from '../support/until.js';
import { BUSY, type Load, longestSilenceMs, OPENING_BALANCE, PLAYERS, type Target } from './load.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault, type Scene } from './scene.js';
import { shardStates } from './shard-states.js';

const SHARDS = 4;
const WORKERS = 2;
const DYING_WORKER = new URL('../support/dying-worker.js', import.meta.url);
/** True if the player is on the second of two workers, which has the odd-numbered shards. */
const isDoomed = (username: string) => shardOf(username, SHARDS) % WORKERS === 1;
const DOOMED = PLAYERS.find(isDoomed) as string;

/** Starts a walletd in this process whose workers can be killed. */
async function startNode(scene: Scene, store: string): Promise<Target & { log: string[] }> {
  const log: string[] = [];
  const note = ({ code }: Coded) => void log.push(code);
  const info = (_fields: object, message: string) => void log.push(message);
  const logger: Logger = { debug() {}, info, warn: note, error: note };
  const settings = settingsWith({
    store,
    init: 'auto',
    port: 0,
    'admin.port': 0,
    workers: WORKERS,
    requestDeadlineMs: 1000,
    // Log level of the workers, which have their own loggers.
    'log.level': 'silent',
  });
  const node = await WalletNode.open({ settings, sources: new Map() }, logger, () => {}, DYING_WORKER);
  await node.start();
  scene.atEnd(() => node.stop());
  const at = (port: number) => `http://127.0.0.1:${port}`;
  return { callbackUrl: at(node.callbackPort), adminUrl: at(node.adminPort), pid: process.pid, log };
}

async function kill(target: Target, id: string): Promise<void> {
  const client = new PlatformClient(target.callbackUrl, 5000);
  // The stake exceeds the balance, so that the log cannot contain this bet, whatever happens.
  const deadly = { ...bet(DOOMED, id, 2 * OPENING_BALANCE), productId: 'DIE' };
  const { statusCode } = await client.post('placeBets', deadly);
  client.close();
  assert.equal(statusCode, BUSY, 'callers that wait for a dead worker get 503');
}

function firstAnswerOf(load: Load, whom: (username: string) => boolean, afterMs: number): number | undefined {
  return load.sent.find((one) => one.outcome === 'answered' && whom(one.username) && one.endedMs > afterMs)?.endedMs;
}

fault('shards of a dead worker return, but not after two deaths a minute', async (scene) => {
  const redis = await scene.redis();
  const node = await startNode(scene, redis.url);
  const load = await scene.load(node);
  await delay(700);

  const killedMs = performance.now();
  await kill(node, 'deadly-1');
  const backMs = await until('the shards of the worker serve again', () => {
    return node.log.includes('worker restarted') && firstAnswerOf(load, isDoomed, performance.now() - 50);
  });
  await delay(300);
  await load.stop();
  const othersMs = longestSilenceMs(load.sent, (username) => !isDoomed(username));
  assert.ok(othersMs < backMs - killedMs, `the others waited ${othersMs} ms`);
  assert.ok(load.count('busy') > 0, 'players of the worker got 503');
  assert.equal(load.count('broken'), 0);
  scene.say(
    `back ${Math.round(backMs - killedMs)} ms after the death; the others never waited longer than ${othersMs} ms`,
  );
  scene.say(await prove([load], node, new RawRedis(redis)));

  const next = scene.play(node);
  await kill(node, 'deadly-2');
  await until('the shards stay stopped', async () => (await shardStates(node)).includes('stopped'));
  assert.deepEqual(await shardStates(node), ['serving', 'stopped', 'serving', 'stopped']);
  const stoppedMs = performance.now();
  await delay(500);
  await next.stop();
  assert.ok(
    firstAnswerOf(next, (username) => !isDoomed(username), stoppedMs),
    'the others go on',
  );
  assert.equal(firstAnswerOf(next, isDoomed, stoppedMs), undefined, 'a stopped shard answers nothing');
  assert.ok(node.log.includes('worker-died-twice'));

  const newOwner = await scene.walletd(redis.url);
  scene.say(await prove([load, next], newOwner, new RawRedis(redis)));
});

fault('shards of a worker that dies during a Redis hang return with Redis', async (scene) => {
  const redis = await scene.redis();
  const node = await startNode(scene, redis.url);
  const load = await scene.load(node);
  await delay(300);
  redis.signal('SIGSTOP');
  await kill(node, 'deadly-1');
  await delay(12_000);
  redis.signal('SIGCONT');
  const backMs = performance.now();
  await until('service of the others', () => firstAnswerOf(load, (name) => !isDoomed(name), backMs));
  await until('service of its shards', () => firstAnswerOf(load, isDoomed, backMs));
  await load.stop();
  scene.say(await prove([load], node, new RawRedis(redis)));
});
