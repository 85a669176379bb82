import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FeedEvent } from '../../src/feed/event.js';
import { endFeed, startFeed } from '../cli/start-feed.js';
import { makeCertificate } from '../support/certificate.js';
import { balanceOf, importPlayers, PlatformClient } from '../support/client.js';
import { ConsumerBooks, sumsOf, unitsOf } from '../support/consumer-books.js';
import { until } from '../support/until.js';
import { archivedMachine } from './archived-machine.js';
import { Machine } from './machine.js';
import { Night, rareReplay } from './night.js';
import { betsAndCredits, proveNothingLost } from './night-proof.js';
import type { Scene } from './scene.js';
import { SmallDisk } from './small-disk.js';

/*
 * Replays of docs/runbook-service.md, except incident 10, which is in reconcile.fault.ts. For incident 5, walletd's own
 * behavior is tested in disk.fault.ts.
 */
const FENCED = 3;
const DISK_MIB = 24;
const MIB = 1024 * 1024;

rareReplay(5, 'the disk of Redis is full, and Redis has ended', async (scene) => {
  const disk = SmallDisk.tryMount(scene, DISK_MIB);
  if (disk === undefined) return scene.skip('only root can mount a small disk');
  const redis = await scene.redis({ dir: disk.path });
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits);
  await delay(500);
  disk.fill();
  await until('Redis has ended', () => redis.hasEnded);
  await until('callers get 503', () => machine.load.count('busy') > 0);
  const night = new Night(machine, 5);
  await night.byHand('Free up space', () => disk.free());
  await night.byHand('start Redis again', () => redis.start());
  await night.run();
  assert.match(await night.run(), /\broom\b/);
  night.end();
  await delay(500);
  scene.say(await proveNothingLost(machine));
});

/** Starts a machine whose walletd serves until another process takes over the store. */
async function fencedMachine(scene: Scene) {
  const redis = await scene.redis();
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits);
  await delay(300);
  machine.load.rest();
  const first = machine.walletd;
  const second = await scene.walletd(redis.url, { WALLETD_NODE_FOLDER: scene.makeFolder() });
  assert.equal(await first.exit(), FENCED);
  assert.ok(first.log.some((line) => 'takenBy' in line));
  return { machine, second };
}

rareReplay(7, 'two processes have one store, and the other one is to stay', async (scene) => {
  const { machine, second } = await fencedMachine(scene);
  const night = new Night(machine, 7);
  await night.byHand('Do not start this walletd again');
  await night.run({ exit: 1 });
  await night.byHand('direct the platform to it', () => machine.load.moveTo(second));
  const movedMs = performance.now();
  await until('the other one answers', () => machine.load.firstAnswerAfter(movedMs));
  night.leaveOut('this process should serve');
  night.leaveOut('this process should serve');
  night.end();
  await delay(300);
  scene.say(await proveNothingLost({ load: machine.load, walletd: second }));
});

rareReplay(7, 'two processes have one store, and this one is to stay', async (scene) => {
  const { machine, second } = await fencedMachine(scene);
  machine.load.moveTo(second);
  await delay(500);
  machine.load.rest();
  const night = new Night(machine, 7);
  await night.byHand('Do not start this walletd again');
  assert.match(await night.run({ exit: 1 }), /does not answer|ECONNREFUSED|refused/);
  night.leaveOut('the other process should serve');
  await night.byHand('stop the other process', () => second.end('SIGTERM'));
  await night.run();
  night.end();
  await delay(300);
  scene.say(await proveNothingLost(machine));
});

rareReplay(8, 'a certificate ends soon, and is replaced without a restart', async (scene) => {
  const folder = scene.makeFolder();
  const old = makeCertificate(folder, 'served.test', 10);
  const next = makeCertificate(folder, 'next.test', 90);
  const machine = await Machine.of(scene, { WALLETD_STORE: `lmdb:${folder}/store` });
  machine.set('WALLETD_TLS_CERTIFICATE_FILE', old.certificateFile);
  machine.set('WALLETD_TLS_KEY_FILE', old.keyFile);
  await machine.systemctl('stop', 'walletd');
  await machine.systemctl('start', 'walletd');
  machine.load.rest();
  const { walletd } = machine;
  assert.ok(walletd.log.some(({ code }) => code === 'certificate-ends'));
  const night = new Night(machine, 8);
  await night.byHand('Replace the old files with the new files', () => {
    copyFileSync(next.certificateFile, old.certificateFile);
    copyFileSync(next.keyFile, old.keyFile);
  });
  await night.run();
  await walletd.waitFor(({ msg }) => msg === 'certificate reloaded');
  assert.doesNotMatch(await night.run(), /certificate of callbacks ends in/);
  night.end();
  assert.equal(machine.walletd, walletd);
});

async function moveStore(scene: Scene, archive: boolean): Promise<void> {
  const redis = await scene.redis();
  const next = await scene.redis();
  const archived = archive ? await archivedMachine(scene, redis.url) : undefined;
  if (archive && archived === undefined) return;
  const machine = archived?.machine ?? (await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits));
  await delay(500);
  const night = new Night(machine, 9, { ...archived?.variables, NEW_STORE: next.url });
  await night.run();
  await night.run();
  if (archived !== undefined) {
    await night.run();
    await night.byHand('write `$NEW_ARCHIVE`', () => machine.set('WALLETD_ARCHIVE', archived.variables.NEW_ARCHIVE));
  } else {
    night.leaveOut('create a new database');
    night.leaveOut('write `$NEW_ARCHIVE`');
  }
  await night.run();
  await night.run();
  await night.byHand('Write `$NEW_STORE` as `WALLETD_STORE`', () => machine.set('WALLETD_STORE', next.url));
  await night.run();
  await night.byHand('Remove the old store', () => redis.end());
  night.end();
  await delay(500);
  scene.say(await proveNothingLost(machine));
}

rareReplay(9, 'a store moves to another Redis with its archive', (scene) => moveStore(scene, true));

rareReplay(9, 'a store moves to another Redis', (scene) => moveStore(scene, false));

rareReplay(13, 'memory is full of open bets, and gets more', async (scene) => {
  const folder = scene.makeFolder();
  const settings = {
    WALLETD_STORE: `lmdb:${folder}/store`,
    WALLETD_MEMORY_MAX_BYTES: String(96 * MIB),
    WALLETD_OPEN_BETS_MAX: '1000000',
  };
  const machine = await Machine.of(scene, settings, betsAndCredits);
  await delay(500);
  machine.load.rest();
  const whales = ['whale0', 'whale1'];
  await importPlayers(machine.walletd.adminUrl, whales, 1e9);
  const place = async (n: number) => {
    const txns = Array.from({ length: 200 }, (_, i) => {
      const id = `bet-number-${n}-${i}`;
      return { id, status: 'OPEN', roundId: `round-${id}`, betAmount: 1, gameCode: 'g', playInfo: 'p' };
    });
    const username = whales[n % whales.length] as string;
    const platform = new PlatformClient(machine.walletd.callbackUrl);
    const body = { id: `q${n}`, timestampMillis: 1, productId: 'P', currency: 'THB', username, txns };
    return (await platform.post('placeBets', body).finally(() => platform.close())).statusCode;
  };
  let placed = 0;
  while (placed < 4000 && (await place(placed)) === 0) placed++;
  assert.equal(await place(placed), 50001, `${placed} requests`);
  const night = new Night(machine, 13);
  await night.run({ exit: 'any' });
  await night.byHand('Raise `WALLETD_MEMORY_MAX_BYTES` in `$SETTINGS`', () =>
    machine.set('WALLETD_MEMORY_MAX_BYTES', String(256 * MIB)),
  );
  await night.run();
  await night.run();
  night.end();
  assert.equal(await place(placed), 0, 'bets are taken again');
  assert.equal(await place(placed), 0, 'a repeat');
  const left = await Promise.all(whales.map((username) => balanceOf(machine.walletd.adminUrl, username)));
  assert.equal(2e9 - left.reduce((sum, one) => sum + one, 0), 200 * (placed + 1));
  scene.say(await proveNothingLost(machine));
});

rareReplay(12, 'the node folder is lost', async (scene) => {
  const redis = await scene.redis();
  const folder = join(scene.makeFolder(), 'node');
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url, WALLETD_NODE_FOLDER: folder }, betsAndCredits);
  await delay(500);
  rmSync(folder, { recursive: true });
  await delay(500);
  const night = new Night(machine, 12);
  await night.byHand('Decide whether the store is in doubt as well');
  await night.byHand('create the folder there with the same owner');
  await night.run();
  await night.run();
  await night.run();
  night.end();
  await delay(300);
  scene.say(await proveNothingLost(machine));
});

/** A feed with events that its consumer has not acknowledged, because the Redis Stream that it fills is away. */
async function consumerBehind(scene: Scene) {
  const machine = await Machine.of(scene, { WALLETD_STORE: `lmdb:${scene.makeFolder()}/store` }, betsAndCredits);
  const { adminUrl } = machine.walletd;
  const sink = await scene.redis();
  await sink.end();
  const args = ['--name', 'crm', '--to', `${sink.url}#wallets`, '--from', 'start', '--server', adminUrl];
  const feed = startFeed(args);
  scene.atEnd(() => feed.child.kill('SIGKILL'));
  await until('the feed says that the sink is away', () => feed.output.log.includes('feed-sink-away'));
  const night = new Night(machine, 18, { OPERATOR_API: adminUrl, TOKEN: 'none', FEED: 'crm' });
  const { lag } = JSON.parse(await night.run()) as Feed;
  assert.ok(lag.entries > 0 && lag.millis > 0, JSON.stringify(lag));
  return { machine, adminUrl, sink, feed, night };
}

interface Feed {
  readonly lag: { readonly entries: number; readonly millis: number };
}

rareReplay(18, 'the sink of a feed is away, and is started again', async (scene) => {
  const { machine, adminUrl, sink, feed, night } = await consumerBehind(scene);
  await until('the metrics show the lag that the alert waits for', async () => {
    return /^walletd_feed_lag_seconds\{[^}]*feed="crm"[^}]*\} [1-9]/m.test(
      await (await fetch(`${adminUrl}/metrics`)).text(),
    );
  });
  night.leaveOut('If nothing needs the feed any more');
  await night.byHand('repair the sink', () => sink.start());
  night.leaveOut('If the consumer has ended');
  machine.load.rest();
  await night.run();
  await until('the lag is gone', async () => (JSON.parse(await night.runAgain()) as Feed).lag.entries === 0);
  night.leaveOut('feed-events-lost');
  night.end();
  assert.doesNotMatch(feed.output.log, /feed-events-lost/);
  const books = new ConsumerBooks();
  const items = (await sink.call('XRANGE', 'wallets', '-', '+')) as [id: string, fields: string[]][];
  for (const [, fields] of items) books.take(JSON.parse(fields[5] as string) as FeedEvent);
  for (const [player, sum] of sumsOf(books.moves())) {
    assert.equal(sum, unitsOf(String(await balanceOf(adminUrl, player))), player);
  }
  scene.say(`${books.count} events; ${await proveNothingLost(machine)}`);
});

rareReplay(18, 'a feed that nothing needs is deleted', async (scene) => {
  const { machine, adminUrl, feed, night } = await consumerBehind(scene);
  await endFeed(feed, 'SIGKILL');
  await night.run();
  night.goOnIn('this night ends');
  assert.equal((await fetch(`${adminUrl}/v1/feeds/crm`)).status, 404);
  scene.say(await proveNothingLost(machine));
});
