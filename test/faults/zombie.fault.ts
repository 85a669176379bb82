import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { prove } from './proof.js';
import { type Scene, signalAt } from './scene.js';
import { EAGER } from './snapshots.js';
import { faultOnEachStore } from './stores.js';
import { Witness } from './witness.js';

const FENCED = 3;
const PLAY_MS = 300;
const SETTLED_MS = 50;
const ENV = { ...EAGER, WALLETD_SHARDS: '1', WALLETD_SNAPSHOTS_KEEP: '1' };

type Step = readonly [what: string, step: string, time: number];

const REDIS_STEPS: readonly Step[] = [
  ['a chunk', 'before writeChunk', 1],
  ['the manifest', 'before publishSnapshot', 1],
  ['the deletion of the old snapshot', 'before deleteSnapshot', 1],
  ['the trimming', 'before trimLog', 1],
];

/**
 * Additional steps for LMDB, at which the owner has read the head and recognized it as its own, but has not yet queued
 * the write that compares the head.
 */
const LMDB_STEPS: readonly Step[] = REDIS_STEPS.map(([what], i) => [what, 'before compareAndWrite', i + 2]);

faultOnEachStore('an owner replaced during its snapshot changes nothing in the store', async (scene, place) => {
  const first = await scene.walletd(place.url, ENV);
  const raw = place.open();
  const witness = await Witness.of(raw);
  const loads = [await playAndEnd(scene, first)];
  for (const [what, step, time] of place.kind === 'LMDB' ? LMDB_STEPS : REDIS_STEPS) {
    const sleeper = await scene.walletd(place.url, { ...ENV, ...signalAt('SIGSTOP', step, time) });
    loads.push(await play(scene, sleeper));
    await until(`it sleeps before ${what}`, () => isAsleep(sleeper));
    loads.push(await playAndEnd(scene, await scene.walletd(place.url, ENV)));
    const left = await raw.dump();
    process.kill(sleeper.pid, 'SIGCONT');
    const wokenMs = performance.now();
    assert.equal(await sleeper.exit(), FENCED);
    const tookMs = Math.round(performance.now() - wokenMs);
    assert.deepEqual(await raw.dump(), left, `${what}: the store is as the successor left it`);
    const said = sleeper.log.filter(({ msg }) => /^snapshot (taken|abandoned)$/.test(msg));
    scene.say(`before ${what}: ${said.map(({ msg, reason }) => reason ?? msg)}; ended after ${tookMs} ms`);
  }
  const newOwner = await scene.walletd(place.url, ENV);
  scene.say(await prove(loads, newOwner, witness));
  await witness.stop();
});

/** Plays bets for some players. The log is idle when the promise resolves. */
async function play(scene: Scene, walletd: WalletdProcess) {
  const load = await scene.load(walletd);
  await delay(PLAY_MS);
  await load.stop();
  await delay(SETTLED_MS);
  return load;
}

/** Starts a process that plays and then stops cleanly, taking its own snapshot. */
async function playAndEnd(scene: Scene, walletd: WalletdProcess) {
  const load = await play(scene, walletd);
  assert.equal(await walletd.end('SIGTERM'), 0);
  assert.ok(walletd.log.some(({ msg }) => msg === 'snapshot taken'));
  return load;
}

function isAsleep({ pid }: WalletdProcess): boolean {
  return /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
