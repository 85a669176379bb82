import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { importPlayers } from '../support/client.js';
import { IS_NIGHTLY } from '../support/nightly.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { prove } from './proof.js';
import { signalAt } from './scene.js';
import { EAGER, unfinishedIn, wholeIn } from './snapshots.js';
import { faultOnEachStore } from './stores.js';
import { Witness } from './witness.js';

const KILLS = IS_NIGHTLY ? 20 : 8;
const KILLS_MS = 400_000;
const PAUSE_MS = 40;
/** Number of idle players, so large that walletd can be killed during a snapshot. */
const IDLE_PLAYERS = Array.from({ length: 20_000 }, (_, i) => `idle${i}`);
faultOnEachStore(
  `${KILLS} kill -9 during snapshots lose nothing answered, and the log is trimmed`,
  async (scene, place) => {
    const start = (kill: number) => scene.walletd(place.url, { ...EAGER, WALLETD_WORKERS: String(kill % 2) });
    let walletd = await start(0);
    const raw = place.open();
    const witness = await Witness.of(raw);
    await importPlayers(walletd.adminUrl, IDLE_PLAYERS, 7);
    const load = await scene.load(walletd, PAUSE_MS);
    let unfinished = 0;
    let fromSnapshots = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = await unfinishedIn(raw);
      const isBegun = async () => (await unfinishedIn(raw)).some((id) => !before.includes(id));
      // Alternate between three times for the kill: a random time, during a snapshot, and after the publication of a
      // snapshot that the next start can use.
      if (kill % 3 === 0) await delay(randomInt(200, 2000));
      else if (kill % 3 === 1) await until('a snapshot is being taken', isBegun).then(() => delay(randomInt(30)));
      else await walletd.waitFor(({ msg }) => msg === 'snapshot taken');
      await walletd.end('SIGKILL');
      load.rest();
      if (await isBegun()) unfinished++;
      fromSnapshots += recovered(walletd).filter(({ from }) => from !== '0-0').length;
      walletd = await start(kill);
      load.moveTo(walletd);
    }
    await until('answers after the last kill', () => load.firstAnswerAfter(performance.now() - 100));
    await load.stop();
    assert.ok(load.count('broken') > 0, 'the kills came while requests were in flight');
    scene.say(`${unfinished} kills left a snapshot unfinished; ${fromSnapshots} shards began with a snapshot`);
    scene.say(await prove([load], walletd, witness));
    const trimmed = await witness.trimmed();
    await witness.stop();
    assert.ok(trimmed > 0 && fromSnapshots > 0);
    scene.say(`${trimmed} entries were trimmed`);
  },
  KILLS_MS,
);

const STEPS = [
  'after beginSnapshot',
  'after writeChunk',
  'before publishSnapshot',
  'after publishSnapshot',
  'after deleteSnapshot',
  'before trimLog',
  'after trimLog',
];

faultOnEachStore('kill -9 at any snapshot step loses nothing and leaves nothing behind', async (scene, place) => {
  const env = { ...EAGER, WALLETD_SHARDS: '1' };
  let walletd = await scene.walletd(place.url, env);
  const raw = place.open();
  const witness = await Witness.of(raw);
  const load = await scene.load(walletd, PAUSE_MS);
  await until('as many snapshots as are kept', async () => (await wholeIn(raw)).length === 2);
  const abandoned = new Set<string>();
  for (const [i, step] of STEPS.entries()) {
    await walletd.end('SIGKILL');
    load.rest();
    const workers = String(i % 2);
    walletd = await scene.walletd(place.url, { ...env, ...signalAt('SIGKILL', step), WALLETD_WORKERS: workers });
    load.moveTo(walletd);
    await until(`${step}: it is killed`, () => walletd.child.signalCode === 'SIGKILL');
    const unfinished = await unfinishedIn(raw);
    for (const id of unfinished) abandoned.add(id);
    scene.say(`${step}: ${(await wholeIn(raw)).length} snapshots, and ${unfinished.length} unfinished`);
  }
  load.rest();
  walletd = await scene.walletd(place.url, env);
  load.moveTo(walletd);
  await walletd.waitFor(({ msg }) => msg === 'snapshot taken');
  await load.stop();
  scene.say(await prove([load], walletd, witness));
  scene.say(`${await witness.trimmed()} entries were trimmed`);
  await witness.stop();
  await walletd.end('SIGKILL');
  const left = (await raw.dump()).join();
  for (const id of abandoned) assert.ok(!left.includes(id), `nothing is left of ${id}`);
  assert.ok(abandoned.size >= 3);
  assert.equal((await wholeIn(raw)).length, 2);
});

const recovered = ({ log }: WalletdProcess) => log.filter(({ msg }) => msg === 'shard recovered');
