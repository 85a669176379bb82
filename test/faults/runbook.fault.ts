import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { runWalletd } from '../support/walletd-process.js';
import { archivedMachine, archivedRounds, archivedScene, dumpOf, restoreDump } from './archived-machine.js';
import type { Sent } from './load.js';
import { Machine } from './machine.js';
import { Night, rareReplay, replay } from './night.js';
import { betsAndCredits, proveLoss, proveNothingLost, proveRepeats } from './night-proof.js';
import type { Scene } from './scene.js';
import { Sentinels } from './sentinels.js';

/*
 * Replays of docs/runbook.md: incidents in which the store is lost. Includes incident 11 of docs/runbook-archive.md, in
 * which the store may be abandoned. For incident 6, walletd's own behavior is tested in failover.fault.ts.
 */
const HEALED = 'entries-reappended';

/** Waits until callers get 503 because the store is unreachable. */
async function isAway({ load }: Machine): Promise<void> {
  const before = load.count('busy');
  await until('callers get 503', () => load.count('busy') > before);
}

replay(1, 'Redis is empty beneath a living walletd, and the backup is behind', async (scene) => {
  const redis = await scene.redis();
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits);
  await delay(1000);
  await machine.systemctl('stop', 'walletd-backup');
  await delay(500);
  await redis.end('SIGKILL');
  await isAway(machine);
  const night = new Night(machine, 1);
  await night.byHand('Start an empty Redis at the same address', () => redis.startEmpty());
  const asked = await night.run({ yes: true });
  assert.match(asked, /serves store|does it serve this store/);
  night.leaveOut('a new scratch database');
  await night.run();
  await machine.walletd.waitFor(({ code }) => code === HEALED);
  await night.run();
  night.leaveOut('the scratch database');
  await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
});

rareReplay(1, 'FLUSHALL beneath a living walletd with an archive', async (scene) => {
  const redis = await scene.redis();
  const archived = await archivedMachine(scene, redis.url);
  if (archived === undefined) return;
  const { machine, variables } = archived;
  await delay(1000);
  await redis.call('FLUSHALL');
  await isAway(machine);
  const night = new Night(machine, 1, variables);
  await night.byHand('After a FLUSHALL, leave Redis running');
  const settings = { WALLETD_ADMIN_PORT: machine.get('WALLETD_ADMIN_PORT'), WALLETD_NODE_FOLDER: scene.nodeFolder };
  assert.equal(runWalletd(['init', redis.url], settings).status, 1, 'init refuses an emptied store');
  const used = { ...settings, WALLETD_ARCHIVE: machine.get('WALLETD_ARCHIVE') };
  const intoUsed = ['restore', '--from', machine.backup, '--to', redis.url, '--yes'];
  for (const args of [[...intoUsed, '--dry-run'], intoUsed]) {
    const { status, stderr } = runWalletd(args, used);
    assert.equal(status, 1);
    assert.match(stderr, /never empty it: set WALLETD_ARCHIVE to a new database, for this restore only/);
  }
  assert.equal(await redis.call('EXISTS', 'walletd:meta'), 0, 'nothing was begun');
  night.leaveOut('no archive in PostgreSQL');
  await night.run({ yes: true });
  await night.run();
  await night.run();
  await night.run();
  await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
});

/** Kills Redis and walletd after answering only callbacks that the follower had time to copy. */
async function die(machine: Machine, redis: RedisServer): Promise<void> {
  machine.load.rest();
  await delay(4000);
  await redis.end('SIGKILL');
  await machine.killWalletd();
}

rareReplay(2, 'Redis and walletd are gone, and the backup had followed to the end', async (scene) => {
  const redis = await scene.redis();
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits);
  await delay(1000);
  await die(machine, redis);
  const night = new Night(machine, 2);
  await night.run();
  await night.byHand('start an empty Redis at the same address', () => redis.startEmpty());
  night.leaveOut('create a new database');
  night.leaveOut('write `$NEW_ARCHIVE`');
  for (let step = 5; step <= 8; step++) await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
});

replay(2, 'Redis and walletd are gone, and the archive lives', async (scene) => {
  const redis = await scene.redis();
  const archived = await archivedMachine(scene, redis.url);
  if (archived === undefined) return;
  const { machine, variables } = archived;
  await delay(1000);
  await die(machine, redis);
  const night = new Night(machine, 2, variables);
  await night.run();
  await night.byHand('start an empty Redis at the same address', () => redis.startEmpty());
  await night.run();
  await night.byHand('write `$NEW_ARCHIVE`', () => machine.set('WALLETD_ARCHIVE', variables.NEW_ARCHIVE));
  for (let step = 5; step <= 8; step++) await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
});

rareReplay(2, 'the disk of the embedded store is gone', async (scene) => {
  const folder = join(scene.makeFolder(), 'data');
  const settings = { WALLETD_STORE: `lmdb:${folder}`, WALLETD_RETENTION_MEMORY_SECONDS: '0.2' };
  const machine = await Machine.of(scene, settings, betsAndCredits);
  await until('rounds are in the archive', async () => (await archivedRounds(machine)) > 200);
  machine.load.rest();
  await delay(4000);
  await machine.killWalletd();
  rmSync(folder, { recursive: true });
  const night = new Night(machine, 2);
  await night.run();
  night.leaveOut('start an empty Redis');
  night.leaveOut('create a new database');
  night.leaveOut('write `$NEW_ARCHIVE`');
  for (let step = 5; step <= 8; step++) await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
});

/**
 * Loses Redis and walletd, and restores a store that lacks the newest answers. `newer` is a backup that contains them.
 */
async function behind(scene: Scene) {
  const redis = await scene.redis();
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits);
  await delay(1000);
  await machine.systemctl('stop', 'walletd-backup');
  // Wait longer than the node's own record can lag.
  await delay(2500);
  machine.load.rest();
  await delay(1500);
  const newer = join(machine.folder, 'newer.backup');
  await scene.run('backup', '--from', redis.url, '--to', newer);
  await redis.end('SIGKILL');
  await machine.killWalletd();
  const lostAtMs = performance.now();
  const second = new Night(machine, 2);
  await second.run();
  await second.byHand('start an empty Redis', () => redis.startEmpty());
  second.leaveOut('create a new database');
  second.leaveOut('write `$NEW_ARCHIVE`');
  await second.run();
  await second.run();
  assert.match(machine.refusal, /accept-loss/);
  second.goOnIn('go to [night 3]');
  return { machine, lostAtMs, night: new Night(machine, 3, { NEWER: newer }) };
}

rareReplay(3, 'the backup is behind, and shards go on without what is missing', async (scene) => {
  const { machine, lostAtMs, night } = await behind(scene);
  await night.run();
  await night.byHand('Look for a source that is newer');
  night.leaveOut('there is a newer source');
  const shown = await night.run({ yes: true });
  await night.run();
  const exported = await night.run();
  await night.run();
  night.end();
  scene.say(await proveLoss(machine, lostAtMs, shown, exported));
});

rareReplay(3, 'the backup is behind, and something newer is found', async (scene) => {
  const { machine, night } = await behind(scene);
  await night.run();
  await night.byHand('Look for a source that is newer');
  await night.run();
  night.leaveOut('there is no newer source');
  await night.run();
  await night.run();
  await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
});

/**
 * Restores a PostgreSQL dump beneath a running walletd, although the log relies on newer rounds. Players keep playing.
 */
async function dumpRestored(scene: Scene) {
  const archived = await archivedScene(scene);
  if (archived === undefined) return undefined;
  const { machine, variables } = archived;
  const archive = machine.get('WALLETD_ARCHIVE');
  const dump = dumpOf(archive);
  const before = await archivedRounds(machine);
  await until('more rounds are in the archive', async () => (await archivedRounds(machine)) > before + 200);
  restoreDump(archive, dump);
  await machine.walletd.waitFor(({ code }) => code === 'archive-behind-log');
  const night = new Night(machine, 11, variables);
  assert.match(await night.run({ exit: 1 }), /behind/i);
  await night.byHand('Look for the right archive');
  return { ...archived, night };
}

rareReplay(11, 'the followed backup is behind, and is restored at a new address', async (scene) => {
  const begun = await dumpRestored(scene);
  if (begun === undefined) return;
  const { machine, variables, night } = begun;
  // Stop the follower. At the end of the log it would keep running, because no more rounds leave memory.
  await machine.systemctl('stop', 'walletd-backup');
  const before = machine.load.count('answered');
  await until('more is answered', () => machine.load.count('answered') > before + 200);
  await night.run();
  const lostAtMs = performance.now();
  await night.run();
  const next = await scene.redis();
  await night.byHand('write `$NEW_ARCHIVE`', () => {
    machine.set('WALLETD_ARCHIVE', variables.NEW_ARCHIVE);
    machine.set('WALLETD_STORE', next.url);
  });
  await night.run();
  night.leaveOut('there is no backup');
  night.leaveOut('you continue without the rounds');
  await night.run();
  assert.match(machine.refusal, /this node has acknowledged.*accept-loss/);
  night.goOnIn('go to [night 3]');
  const third = new Night(machine, 3, variables);
  await third.run();
  await third.byHand('Look for a source that is newer');
  third.leaveOut('there is a newer source');
  const shown = await third.run({ yes: true });
  await third.run();
  const exported = await third.run();
  await third.run();
  third.end();
  scene.say(await proveLoss(machine, lostAtMs, shown, exported));
});

rareReplay(11, 'no backup has the rounds, and walletd goes on without them', async (scene) => {
  const begun = await dumpRestored(scene);
  if (begun === undefined) return;
  const { machine, night } = begun;
  for (let step = 3; step <= 5; step++) night.leaveOut('backup');
  night.leaveOut('restore it');
  await night.run();
  await night.run({ yes: true });
  await night.run();
  await night.run();
  await night.byHand('Compare all callbacks');
  night.end();
  await machine.load.stop();
  const lists = readdirSync(scene.nodeFolder).filter((name) => name.startsWith('lost-rounds-'));
  const lost = readFileSync(join(scene.nodeFolder, lists.sort().at(-1) ?? ''), 'utf8');
  const isKept = ({ username, body: { txns } }: Sent) => {
    const { roundId, refId } = txns[0] as { readonly roundId?: string; readonly refId?: string };
    return !lost.includes(`,${username},P,${roundId ?? refId},`);
  };
  const answered = machine.load.sent.filter(({ answer }) => answer !== undefined);
  const kept = answered.filter(isKept);
  assert.ok(kept.length < answered.length, 'something is lost');
  await proveRepeats(machine, kept);
  scene.say(`${kept.length} of ${answered.length} answers repeated, the others are of rounds that are listed`);
});

/** Promotes a replica that lacks the newest answers, and restarts walletd in the meantime. */
async function failedOver(scene: Scene, archive: boolean) {
  const master = await scene.redis();
  const replica = await scene.redis({ replicaof: `127.0.0.1 ${master.port}` });
  await until('the replica is in step', () => master.hasReplica());
  const sentinels = await Sentinels.watch(master, 1);
  scene.atEnd(() => sentinels.destroy());
  const archived = archive ? await archivedMachine(scene, sentinels.url) : undefined;
  if (archive && archived === undefined) return undefined;
  const machine = archived?.machine ?? (await Machine.of(scene, { WALLETD_STORE: sentinels.url }, betsAndCredits));
  await delay(300);
  await replica.call('REPLICAOF', '127.0.0.1', await freePort());
  // Wait longer than the node's own record can lag.
  await delay(2500);
  await machine.killWalletd();
  await master.end('SIGKILL');
  const former = master.port;
  await until('the sentinels promote the replica', () => sentinels.otherMaster(former));
  await machine.systemctl('start', 'walletd');
  assert.match(machine.refusal, /the log of shard \d lacks/);
  return { machine, master, variables: { ...archived?.variables, NEW_STORE: replica.url } };
}

async function bringFormerMaster(scene: Scene, archive: boolean): Promise<void> {
  const failed = await failedOver(scene, archive);
  if (failed === undefined) return;
  const { machine, master, variables } = failed;
  const former: Record<string, string> = {};
  const night = new Night(machine, 6, variables);
  await night.run();
  await night.byHand('`redis-server redis.conf --port 7379 --replicaof no one`', async () => {
    await master.startElsewhere();
    former.FORMER_STORE = master.url;
  });
  await night.run({ with: former });
  await night.run();
  await night.run();
  if (archive) {
    await night.run();
    await night.byHand('write `$NEW_ARCHIVE`', () => machine.set('WALLETD_ARCHIVE', String(variables.NEW_ARCHIVE)));
  } else {
    night.leaveOut('create a new database');
    night.leaveOut('write `$NEW_ARCHIVE`');
  }
  await night.run();
  await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
}

rareReplay(6, 'a failover lost entries, and they come from the disk of the former master', (scene) =>
  bringFormerMaster(scene, false),
);

rareReplay(6, 'a failover lost entries of a store with an archive', (scene) => bringFormerMaster(scene, true));
