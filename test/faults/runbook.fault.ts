import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../bench/support/free-port.js';
import { makeCertificate } from '../support/certificate.js';
import { balanceOf, bet, type CallbackAnswer, importPlayers, PlatformClient } from '../support/client.js';
import { PostgresDatabases } from '../support/postgres-databases.js';
import type { RedisServer } from '../support/redis-server.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';
import { runWalletd, type WalletdProcess } from '../support/walletd-process.js';
import { type Load, PLAYERS, type Target } from './load.js';
import { Night } from './night.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault, type Scene } from './scene.js';
import { Sentinels } from './sentinels.js';
import { shardStates } from './shard-states.js';
import { SmallDisk } from './small-disk.js';

/*
 * docs/runbook.md, carried out, but for night 10, which is in reconcile.fault.ts. What walletd does by itself in nights 5 and 6 has faults of its own, in
 * disk.fault.ts and failover.fault.ts.
 */
const HEALED = 'the store has lost acknowledged entries: appending them again';
const FENCED = 3;
const DISK_MIB = 24;

interface Followed {
  readonly redis: RedisServer;
  readonly walletd: WalletdProcess;
  readonly load: Load;
  readonly backup: string;
  readonly follower: ReturnType<Scene['command']>;
}

/** walletd on Redis under load, and a follower who keeps a backup. */
async function followed(scene: Scene): Promise<Followed> {
  const redis = await scene.redis();
  const { url } = redis;
  const walletd = await scene.walletd(url);
  const load = await scene.load(walletd);
  const backup = join(scene.makeFolder(), 'followed.backup');
  const follower = scene.command('backup', '--follow', '--from', url, '--to', backup);
  await follower.said(/follow/i);
  await delay(1500);
  return { redis, walletd, load, backup, follower };
}

/** A copy of a store has not the whole log: what was answered shows in its repeats, which get the first answers. */
async function proveByRepeats(load: Load, target: Target): Promise<void> {
  const answered = load.sent.filter(({ answer }) => answer !== undefined);
  await load.repeatAll(target, answered);
  const moneyIn = (answer: CallbackAnswer | undefined) =>
    answer && [answer.statusCode, answer.balanceBefore, answer.balanceAfter];
  for (const { body, answer, repeat } of answered) assert.deepEqual(moneyIn(repeat), moneyIn(answer), body.id);
}

fault(
  'night 1: Redis is gone for good and walletd is alive: what was answered after the backup goes in again',
  async (scene) => {
    const { redis, walletd, load, backup, follower } = await followed(scene);
    // From here on the backup is behind.
    await follower.exit('SIGTERM');
    await delay(500);
    await redis.end('SIGKILL');
    const goneMs = performance.now();
    await until('callers are told 503', () => load.count('busy') > 0);
    await redis.startEmpty();
    const night = new Night(scene, '1. Redis is gone for good, and walletd is alive', {
      BACKUP: backup,
      STORE: redis.url,
    });
    const settings = { WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port };
    const asked = night.runAndSayYes(settings, 'walletd restore --from $BACKUP --to $STORE');
    assert.match(asked, /serves store|is it serving this store/);
    night.mustSay(HEALED.slice(0, 30));
    const lost = await walletd.waitFor(({ msg }) => msg === HEALED);
    const backMs = await until('service', () => load.firstAnswerAfter(goneMs + 500));
    await delay(500);
    await load.stop();
    scene.say(
      `service after ${Math.round(backMs - goneMs)} ms; the backup lacked ${lost.lost} entries of shard ${lost.shard}`,
    );
    await proveByRepeats(load, walletd);
    await night.run('walletd verify --store $STORE');
  },
);

/** An archive in PostgreSQL, and settings that have rounds go there at once. */
async function archived(scene: Scene) {
  const postgres = scene.postgres();
  if (postgres === undefined) return undefined;
  const databases = new PostgresDatabases(postgres);
  const redis = await scene.redis();
  const address = databases.url(await databases.create());
  const env = { WALLETD_ARCHIVE: address, WALLETD_RETENTION_MEMORY_SECONDS: '0.2' };
  const walletd = await scene.walletd(redis.url, env);
  const load = await scene.load(walletd);
  const leftMemory = async () => (await Scrape.of(walletd.adminUrl)).value('walletd_archived_rounds_total') > 0;
  await until('rounds are in the archive', leftMemory);
  const backup = join(scene.makeFolder(), 'archived.backup');
  const { status, stderr } = runWalletd(['backup', '--from', redis.url, '--to', backup], env);
  assert.equal(status, 0, stderr);
  return { redis, walletd, load, backup, databases, env };
}

fault('night 1 with an archive: FLUSHALL, and a restore with a scratch database', async (scene) => {
  const scenery = await archived(scene);
  if (scenery === undefined) return;
  const { redis, walletd, load, backup, databases, env } = scenery;
  await redis.call('FLUSHALL');
  const goneMs = performance.now();
  await until('callers are told 503', () => load.count('busy') > 0);
  const variables = { BACKUP: backup, STORE: redis.url };
  const night = new Night(scene, '1. Redis is gone for good, and walletd is alive', variables);
  night.mustSay('Never run `walletd init`');
  const settings = { WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port, WALLETD_NODE_FOLDER: scene.nodeFolder };
  const init = runWalletd(['init', redis.url], settings);
  assert.equal(init.status, 1, 'init obeys nobody tonight');
  const command = 'walletd restore --from $BACKUP --to $STORE';
  night.mustSay('Never empty or replace the database that walletd uses');
  const used = night.try(command, { ...settings, ...env });
  assert.equal(used.status, 1);
  assert.match(used.stderr, /never empty it: name a new database in WALLETD_ARCHIVE, for this restore alone/);
  assert.equal(await redis.call('EXISTS', 'walletd:meta'), 0, 'nothing was begun');
  night.mustSay('scratch database');
  const scratch = databases.url(await databases.create());
  night.runAndSayYes({ ...settings, WALLETD_ARCHIVE: scratch }, command);
  await until('service', () => load.firstAnswerAfter(goneMs + 500));
  await load.stop();
  await proveByRepeats(load, walletd);
  night.runAt(env, 'walletd verify --store $STORE');
});

fault('night 2 with an archive: a new Redis and a new database', async (scene) => {
  const scenery = await archived(scene);
  if (scenery === undefined) return;
  const { redis, walletd, load, databases, env } = scenery;
  await load.stop();
  await delay(500);
  const backup = join(scene.makeFolder(), 'last.backup');
  const last = runWalletd(['backup', '--from', redis.url, '--to', backup], env);
  assert.equal(last.status, 0, last.stderr);
  await redis.end('SIGKILL');
  await walletd.end('SIGKILL');
  await redis.startEmpty();
  const variables = { BACKUP: backup, STORE: redis.url };
  const night = new Night(scene, '2. Redis is gone for good, and walletd too', variables);
  night.mustSay('make a new, empty database');
  const moved = { ...env, WALLETD_ARCHIVE: databases.url(await databases.create()) };
  night.runAt(moved, 'walletd restore --from $BACKUP --to $STORE');
  const heir = await scene.walletd(redis.url, moved);
  await proveByRepeats(load, heir);
  night.runAt(moved, 'walletd verify --store $STORE');
});

fault('night 2: Redis and walletd are gone: a backup that had followed to the end brings all back', async (scene) => {
  const { redis, walletd, load, backup, follower } = await followed(scene);
  await load.stop();
  // What it follows comes within some seconds.
  await delay(3000);
  await follower.exit('SIGTERM');
  await redis.end('SIGKILL');
  await walletd.end('SIGKILL');
  await redis.startEmpty();
  const night = new Night(scene, '2. Redis is gone for good, and walletd too', { BACKUP: backup, STORE: redis.url });
  await night.run('walletd restore --from $BACKUP --to $STORE');
  const heir = await scene.walletd(redis.url);
  await proveByRepeats(load, heir);
  await night.run('walletd verify --store $STORE');
});

/** Redis and walletd are gone, and what is restored lacks what was answered last; `newer` is a backup that has it. */
async function behind(scene: Scene) {
  const { redis, walletd, load, backup, follower } = await followed(scene);
  await follower.exit('SIGTERM');
  // Longer than the node's own record is behind.
  await delay(2500);
  await load.stop();
  const newer = join(scene.makeFolder(), 'newer.backup');
  await scene.run('backup', '--from', redis.url, '--to', newer);
  await redis.end('SIGKILL');
  await walletd.end('SIGKILL');
  await redis.startEmpty();
  await scene.run('restore', '--from', backup, '--to', redis.url);
  assert.match(await scene.refusal(redis.url), /accept-loss/);
  const night = new Night(scene, '3. The backup is behind', { STORE: redis.url });
  return { redis, load, newer, night };
}

fault('night 3: the backup is behind, and something newer is found: all is there again', async (scene) => {
  const { redis, load, newer, night } = await behind(scene);
  night.mustSay('`redis-cli FLUSHALL`');
  await redis.call('FLUSHALL');
  await scene.run('restore', '--from', newer, '--to', redis.url);
  await proveByRepeats(load, await scene.walletd(redis.url));
});

fault(
  'night 3: the backup is behind: shards stop, and go on without what is missing once somebody says so',
  async (scene) => {
    const { redis, night } = await behind(scene);
    const settings = { WALLETD_STORE: redis.url, WALLETD_NODE_FOLDER: scene.nodeFolder };
    const shown = night.runAndSayYes(settings, 'walletd accept-loss');
    assert.match(shown, /^ {2}\d+ acknowledged entr\w+, from \S+Z to \S+Z, (is|are) missing\.$/m);
    const heir = await scene.walletd(redis.url);
    const states = await shardStates(heir);
    assert.ok(
      states.every((state) => state === 'serving'),
      states.join(' '),
    );
    const lines = await night.run('walletd export --store $STORE');
    assert.ok(lines.length > 0);
  },
);

fault('night 4: a wrong mass deposit is taken back by undo, which may be run twice', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  await importPlayers(walletd.adminUrl, PLAYERS, 100);
  const since = new Date().toISOString();
  await delay(20);
  for (const username of PLAYERS) {
    await fetch(`${walletd.adminUrl}/v1/players/${username}/deposits`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: `gift-${username}`, amount: 50 }),
    });
  }
  const platform = new PlatformClient(walletd.callbackUrl);
  assert.equal((await platform.post('placeBets', bet('p0', 'spent', 120))).statusCode, 0);
  platform.close();
  const night = new Night(scene, '4. A wrong mass deposit', {
    STORE: redis.url,
    SINCE: since,
    OPERATOR: 'local',
  });
  const settings = { WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port };
  const show = 'walletd undo --store $STORE --operator $OPERATOR --since $SINCE --type deposit';
  const shown = night.runAt(settings, show);
  assert.match(shown, new RegExp(`^${PLAYERS.length} corrections; --yes writes them\\.$`, 'm'));
  assert.equal(await balanceOf(walletd.adminUrl, 'p1'), 150);
  for (let time = 0; time < 2; time++) night.runAt(settings, `${show} --allow-negative-balance --yes`);
  assert.equal(await balanceOf(walletd.adminUrl, 'p0'), 100 - 120);
  assert.equal(await balanceOf(walletd.adminUrl, 'p1'), 100);
  await night.run('walletd verify --store $STORE');
});

fault('night 5: the disk of Redis is full: it ends, and with room and another start all goes on', async (scene) => {
  const disk = SmallDisk.maybeMount(scene, DISK_MIB);
  if (disk === undefined) return scene.skip('nobody but root mounts a small disk');
  const redis = await scene.redis({ dir: disk.path });
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(500);
  disk.fill();
  await until('Redis has ended', () => redis.hasEnded);
  const night = new Night(scene, '5. A full disk', { STORE: redis.url });
  night.mustSay('Redis has ended');
  await until('callers are told 503', () => load.count('busy') > 0);
  disk.free();
  await redis.start();
  const startedMs = performance.now();
  await until('service', () => load.firstAnswerAfter(startedMs));
  await delay(500);
  await load.stop();
  scene.say(await prove([load], walletd, new RawRedis(redis)));
  assert.match(await night.run('walletd doctor $STORE'), /\broom\b/);
});

fault(
  'night 6: walletd was restarted after a failover that lost entries: they come from the disk of the former master',
  async (scene) => {
    const master = await scene.redis();
    const replica = await scene.redis({ replicaof: `127.0.0.1 ${master.port}` });
    await until('the replica is in step', () => master.hasReplica());
    const sentinels = await Sentinels.watch(master, 1);
    scene.atEnd(() => sentinels.destroy());
    const walletd = await scene.walletd(sentinels.url);
    const load = await scene.load(walletd);
    await delay(300);
    await replica.call('REPLICAOF', '127.0.0.1', await freePort());
    // Longer than the node's own record is behind.
    await delay(2500);
    await load.stop();
    await walletd.end('SIGKILL');
    await master.end('SIGKILL');
    const former = master.port;
    await until('the sentinels promote the replica', () => sentinels.otherMaster(former));
    assert.match(await scene.refusal(sentinels.url), /the log of shard \d lacks/);

    await master.startElsewhere();
    const variables = { STORE: sentinels.url, FORMER_STORE: master.url };
    const night = new Night(scene, '6. A failover that lost entries', variables);
    night.mustSay('--replicaof no one`');
    night.mustSay('`redis-cli FLUSHALL`');
    await replica.call('FLUSHALL');
    await night.run('walletd restore --from $FORMER_STORE --to $STORE');
    await proveByRepeats(load, await scene.walletd(sentinels.url));
    assert.ok((await night.run('walletd export --store $FORMER_STORE')).length > 0);
  },
);

fault(
  'night 7: a node that is fenced ends with 3 and names its successor; started again, it is the owner',
  async (scene) => {
    const redis = await scene.redis();
    const first = await scene.walletd(redis.url);
    const load = await scene.load(first);
    await delay(300);
    load.rest();
    const second = await scene.walletd(redis.url);
    assert.equal(await first.exit(), FENCED);
    assert.ok(first.log.some((line) => 'takenBy' in line));
    const night = new Night(scene, '7. A node that is fenced', {});
    night.mustSay('`takenBy`');
    assert.match(night.runAt({ WALLETD_ADMIN_PORT: new URL(second.adminUrl).port }, 'walletd status'), /, ready$/m);
    assert.equal(runWalletd(['status'], { WALLETD_ADMIN_PORT: new URL(first.adminUrl).port }).status, 1);
    assert.equal(await second.end('SIGTERM'), 0);
    const third = await scene.walletd(redis.url);
    load.moveTo(third);
    await delay(300);
    await load.stop();
    scene.say(await prove([load], third, new RawRedis(redis)));
  },
);

fault('night 8: a certificate that ends is replaced without a restart', async (scene) => {
  const folder = scene.makeFolder();
  const old = makeCertificate(folder, 'served.test', 10);
  const next = makeCertificate(folder, 'next.test', 90);
  const tls = { WALLETD_TLS_CERTIFICATE_FILE: old.certificateFile, WALLETD_TLS_KEY_FILE: old.keyFile };
  const walletd = await scene.walletd(`lmdb:${folder}/store`, tls);
  const settings = { WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port };
  const night = new Night(scene, '8. A certificate that ends', {});
  assert.ok(walletd.log.some(({ msg }) => msg === 'a certificate needs to be renewed'));
  night.mustSay('`walletd status`');
  const status = () => runWalletd(['status'], settings).stdout;
  assert.match(status(), /^LOOK +The certificate of callbacks ends in 9 days\./m);
  copyFileSync(next.certificateFile, old.certificateFile);
  copyFileSync(next.keyFile, old.keyFile);
  night.mustSay('`kill -HUP`');
  process.kill(walletd.pid, 'SIGHUP');
  night.mustSay('`a certificate was read again`');
  await walletd.waitFor(({ msg }) => msg === 'a certificate was read again');
  assert.doesNotMatch(status(), /certificate of callbacks ends in/);
});

fault('night 9: another Redis takes over what the first one had, without losing an answer', async (scene) => {
  const redis = await scene.redis();
  const next = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(1000);
  load.rest();
  assert.equal(await walletd.end('SIGTERM'), 0);
  const night = new Night(scene, '9. Moving to another Redis', { STORE: redis.url, NEW_STORE: next.url });
  await night.run('walletd restore --from $STORE --to $NEW_STORE');
  await night.run('walletd verify --store $NEW_STORE --no-server');
  const heir = await scene.walletd(next.url);
  load.moveTo(heir);
  await delay(500);
  await load.stop();
  await proveByRepeats(load, heir);
});
