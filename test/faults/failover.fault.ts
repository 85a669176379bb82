import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import { EntryCodec, encodeHead } from '../../src/store/format/entry-codec.js';
import { decodeMeta } from '../../src/store/meta.js';
import { freePort } from '../support/free-port.js';
import type { RedisServer } from '../support/redis-server.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { FaultyNetwork } from './faulty-network.js';
import { describe, type Load } from './load.js';
import { readOrphans } from './orphans.js';
import { prove } from './proof.js';
import { RawRedis, rewriteStream } from './raw-redis.js';
import { wordyBets } from './rounds.js';
import { fault, rareFault, type Scene } from './scene.js';
import { Sentinels } from './sentinels.js';
import { shardStates } from './shard-states.js';

const HEALED = 'entries-reappended';
const BACK_MS = 2000;
const FENCED = 3;
/** Number of entries to read at once, more than a log has after several seconds. */
const ENTRIES_MAX = 1_000_000;
/**
 * With 128 MiB of memory, walletd uses a 64th of it to keep entries that it may have to append again or write to a
 * file.
 */
const MEMORY_BYTES = 128 * 1024 * 1024;
const REMEMBERED_BYTES = MEMORY_BYTES / 64;
const LOG = 'walletd:{0}:wal';
/** Settings for snapshots every second without trimming, because the test reads the log from its first entry. */
const SNAPSHOTS = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '1', WALLETD_SNAPSHOTS_KEEP: '100' };

/** Starts a master, its replica, sentinels that monitor them, walletd, and players. */
async function replicated(scene: Scene, durability: string, env: Record<string, string> = {}) {
  const master = await scene.redis();
  const replica = await scene.redis({ replicaof: `127.0.0.1 ${master.port}` });
  await until('the replica is in step', () => master.hasReplica());
  const sentinels = await Sentinels.watch(master, 1);
  scene.atEnd(() => sentinels.destroy());
  const walletd = await scene.walletd(sentinels.url, { ...SNAPSHOTS, WALLETD_DURABILITY: durability, ...env });
  return { master, replica, sentinels, walletd, load: await scene.load(walletd) };
}

/** Kills the master. Resolves when a sentinel reports the replica as the new master. */
async function failOver(master: RedisServer, replica: RedisServer, sentinels: Sentinels): Promise<number> {
  await master.end('SIGKILL');
  const port = await until('the sentinels promote the replica', () => sentinels.otherMaster(master.port));
  assert.equal(port, replica.port);
  return performance.now();
}

/** Waits until walletd serves again, which was possible from `sinceMs` on. Resolves to a sentence about the delay. */
async function back(load: Load, sinceMs: number): Promise<string> {
  const answeredMs = await until('service after the failover', () => load.firstAnswerAfter(sinceMs));
  const tookMs = Math.round(answeredMs - sinceMs);
  assert.ok(tookMs <= BACK_MS, `service came back ${tookMs} ms after the new master`);
  return `service is back after ${tookMs} ms`;
}

/** Verifies the store with an owner that starts from the new master's snapshots. */
async function proveAgain(
  scene: Scene,
  walletd: WalletdProcess,
  load: Load,
  master: RedisServer,
  env: Record<string, string> = {},
): Promise<void> {
  await walletd.end('SIGKILL');
  const newOwner = await scene.walletd(master.url, { ...SNAPSHOTS, ...env });
  await prove([load], newOwner, new RawRedis(master));
  const starts = newOwner.log.filter(({ msg }) => msg === 'shard recovered').map(({ from }) => from);
  scene.say(`another owner began with ${starts.join(', ')}`);
}

const healings = ({ log }: WalletdProcess) => log.filter(({ code }) => code === HEALED);

for (const workers of ['0', '2']) {
  const one = workers === '0' ? rareFault : fault;
  one(`a replica replaces a killed master without losing answered callbacks (${workers} workers)`, async (scene) => {
    const env = { WALLETD_WORKERS: workers };
    const { master, replica, sentinels, walletd, load } = await replicated(scene, 'fsync', env);
    await delay(700);
    await sentinels.killFirst();
    const promotedMs = await failOver(master, replica, sentinels);
    scene.say(await back(load, promotedMs));
    await delay(500);
    await load.stop();
    scene.say(`healed ${healings(walletd).length} shards`);
    scene.say(await prove([load], walletd, new RawRedis(replica)));
    assert.equal(walletd.errors, '', 'walletd logs no error for a sentinel that is down');
    await proveAgain(scene, walletd, load, replica);
  });
}

for (const lags of [false, true]) {
  const which = lags ? 'a replica that lags' : 'its only replica';
  const one = lags ? fault : rareFault;
  one(`${which} promoted under replicas:1 refuses until it has a replica`, async (scene) => {
    const { master, replica, sentinels, walletd, load } = await replicated(scene, 'replicas:1');
    await delay(700);
    if (lags) {
      await replica.call('REPLICAOF', '127.0.0.1', await freePort());
      await walletd.waitFor(({ error }) => /0 of 1 replicas have it|has 0 replica/.test(String(error)));
    }
    const promotedMs = await failOver(master, replica, sentinels);
    await walletd.waitFor(({ error }) => /replicas:1, but Redis has 0 replica/.test(String(error)));
    await delay(1000);
    assert.equal(load.firstAnswerAfter(promotedMs), undefined, 'no answer depends on one server alone');
    await master.start();
    await master.call('REPLICAOF', '127.0.0.1', replica.port);
    await until('the former master is a replica in step', () => replica.hasReplica());
    scene.say(await back(load, performance.now()));
    await delay(500);
    await load.stop();
    assert.equal(healings(walletd).length, 0, 'nothing had to be healed');
    scene.say(await prove([load], walletd, new RawRedis(replica)));
  });
}

for (const isArchived of [false, true]) {
  const meanwhile = isArchived ? ' while rounds move to an archive' : '';
  const one = isArchived ? fault : rareFault;
  one(`the tail lost to a lagging replica is appended again${meanwhile}`, async (scene) => {
    const postgres = isArchived ? scene.postgres() : undefined;
    if (isArchived && postgres === undefined) return;
    const env: Record<string, string> =
      postgres === undefined ? {} : { WALLETD_ARCHIVE: postgres.url, WALLETD_RETENTION_MEMORY_SECONDS: '0.02' };
    const { master, replica, sentinels, walletd, load } = await replicated(scene, 'fsync', env);
    await delay(300);
    await replica.call('REPLICAOF', '127.0.0.1', await freePort());
    await delay(700);
    const promotedMs = await failOver(master, replica, sentinels);
    scene.say(await back(load, promotedMs));
    await delay(500);
    await load.stop();
    const lost = healings(walletd).map((line) => Number(line.lost));
    assert.ok(lost.length > 0, 'the new master lacked something');
    scene.say(`the new master lacked ${lost.join(', ')} entries`);
    if (isArchived) {
      const moved = (await Scrape.of(walletd.adminUrl)).value('walletd_archived_rounds_total');
      assert.ok(moved > 0, 'rounds have moved');
      scene.say(`${moved} rounds have moved`);
    }
    scene.say(await prove([load], walletd, new RawRedis(replica)));
    await proveAgain(scene, walletd, load, replica, env);
  });
}

fault('a rewritten log stops its shard, which saves lost entries in a file', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(500);
  await load.stop();
  const lost = await rewriteTail(redis, 0, 2);
  const next = await scene.load(walletd);
  await until('shard 0 stops', async () => (await shardStates(walletd))[0] === 'stopped');
  const stoppedMs = performance.now();
  await until('the others serve', () => next.firstAnswerAfter(stoppedMs));
  await next.stop();
  assert.deepEqual(await shardStates(walletd), ['stopped', 'serving', 'serving', 'serving']);
  await walletd.waitFor(({ code }) => code === 'log-diverged');
  await walletd.waitFor(({ code }) => code === 'orphans-kept');
  assert.deepEqual(readOrphans(scene.nodeFolder), new Map([['orphans-0-1', lost]]));
  scene.say(`kept ${lost.length} entries; ${describe([next])}`);
});

rareFault('walletd follows the sentinels although the former master still answers', async (scene) => {
  const { master, replica, sentinels, walletd, load } = await replicated(scene, 'fsync');
  await delay(700);
  await sentinels.failOver();
  await until('the sentinels promote the replica', () => sentinels.otherMaster(master.port));
  await delay(BACK_MS);
  await load.stop();
  const lost = healings(walletd).map((line) => line.lost);
  scene.say(`the new master lacked ${lost.join(', ') || 'no'} entries`);
  scene.say(await prove([load], walletd, new RawRedis(replica)));
});

fault('a former master that stays alive behind a cut acknowledges nothing more', async (scene) => {
  const master = await scene.redis();
  const link = await FaultyNetwork.start(master.port);
  scene.atEnd(() => link.close());
  const replica = await scene.redis({ replicaof: `127.0.0.1 ${link.port}` });
  await until('the replica is in step', () => master.hasReplica());
  const former = await scene.walletd(master.url, { ...SNAPSHOTS, WALLETD_DURABILITY: 'replicas:1' });
  const load = await scene.load(former);
  await delay(700);
  const cutMs = performance.now();
  link.faultMode = 'silent';
  await delay(300);
  await replica.call('REPLICAOF', 'NO', 'ONE');
  const elsewhere = { ...SNAPSHOTS, WALLETD_NODE_FOLDER: scene.makeFolder() };
  const successor = await scene.walletd(replica.url, elsewhere);
  const next = scene.play(successor);
  await delay(1500);
  await Promise.all([load.stop(), next.stop()]);
  const late = load.sent.filter((one) => one.sentMs > cutMs + 300 && one.outcome === 'answered');
  assert.deepEqual(late, [], 'no answer depends on the former master alone');
  assert.ok(next.count('answered') > 0, 'the other side serves');
  scene.say(await prove([load, next], successor, new RawRedis(replica)));
});

fault('a replica lagging beyond the remembered tail stops the shard', async (scene) => {
  const env = { WALLETD_SHARDS: '1', WALLETD_MEMORY_MAX_BYTES: String(MEMORY_BYTES) };
  const { master, replica, sentinels, walletd, load } = await replicated(scene, 'fsync', env);
  const size = async (server: RedisServer) => Number(await server.call('MEMORY', 'USAGE', LOG, 'SAMPLES', 0));
  await delay(300);
  await replica.call('REPLICAOF', '127.0.0.1', await freePort());
  // Do not wait here: sentinels do not promote a replica that has received nothing from its master for ten seconds.
  const rush = [1, 2, 3].map(() => scene.play(walletd, 0, wordyBets));
  await until('the replica lags', async () => (await size(master)) - (await size(replica)) > REMEMBERED_BYTES * 1.5);
  await Promise.all(rush.map((one) => one.stop()));
  const promotedMs = await failOver(master, replica, sentinels);
  await until('the shard stops', async () => (await shardStates(walletd))[0] === 'stopped');
  await delay(500);
  await load.stop();
  assert.equal(load.firstAnswerAfter(promotedMs), undefined);
  const [kept = []] = (await until('a file', () => maybeOrphans(scene))).values();
  const reported = load.sent.filter(({ outcome }) => outcome === 'answered');
  const newest = reported.reduce((a, b) => (a.endedMs > b.endedMs ? a : b));
  const bytes = kept.reduce((sum, entry) => sum + entry.length, 0);
  assert.ok(bytes > REMEMBERED_BYTES * 0.9 && bytes <= REMEMBERED_BYTES, `${bytes} bytes are kept`);
  assert.ok(
    kept.some((bytes) => bytes.includes(newest.body.id)),
    'the newest answer is among them',
  );
  scene.say(`${describe([load])}; ${kept.length} entries are kept`);
});

fault('an owner fenced at a lagging master saves its entries and ends', async (scene) => {
  const { master, replica, sentinels, walletd: former, load } = await replicated(scene, 'fsync');
  await delay(300);
  await replica.call('REPLICAOF', '127.0.0.1', await freePort());
  await delay(500);
  await load.stop();
  process.kill(former.pid, 'SIGSTOP');
  await failOver(master, replica, sentinels);
  // Give the successor a new node folder, as on a different machine. With the record of acknowledged positions in the
  // former folder, the successor would refuse to start.
  const elsewhere = { WALLETD_NODE_FOLDER: scene.makeFolder() };
  const successor = await scene.walletd(sentinels.url, elsewhere);
  const next = scene.play(successor);
  await delay(300);
  process.kill(former.pid, 'SIGCONT');
  const wokenMs = performance.now();
  const late = scene.play(former);
  assert.equal(await former.exit(), FENCED);
  await Promise.all([next.stop(), late.stop()]);
  assert.equal(late.firstAnswerAfter(wokenMs), undefined, 'a fenced owner answers nothing');

  const kept = Buffer.concat([...readOrphans(scene.nodeFolder).values()].flat());
  const log = Buffer.concat(await allEntries(new RawRedis(replica)));
  const reported = load.sent.filter(({ outcome }) => outcome === 'answered');
  const isLost = ({ body }: { body: { id: string } }) => !log.includes(body.id);
  const lost = reported.filter(isLost);
  assert.ok(lost.length > 0, 'the new master lacked something');
  for (const { body } of lost) assert.ok(kept.includes(body.id), `${body.id} was answered, and no file has it`);
  for (const { body, outcome } of next.sent) assert.ok(outcome !== 'answered' || log.includes(body.id));
  scene.say(`${reported.length} answered, ${lost.length} of them not in the new log, all of them in files`);
  scene.say(describe([next]));
});

/** Entries in all shards. */
async function allEntries(store: RawRedis): Promise<Buffer[]> {
  const shards = Array.from({ length: (await store.meta()).shards }, (_, shard) => shard);
  return (await Promise.all(shards.map((shard) => store.entries(shard, LSN_ZERO, ENTRIES_MAX)))).flat();
}

function maybeOrphans(scene: Scene): Map<string, Buffer[]> | undefined {
  const orphans = readOrphans(scene.nodeFolder);
  return orphans.size === 0 ? undefined : orphans;
}

/** Replaces the newest entries with a foreign one, like a restore from an old backup followed by a different writer. */
async function rewriteTail(redis: RedisServer, shard: number, count: number): Promise<Buffer[]> {
  const key = `walletd:{${shard}}:wal`;
  const client = redis.client();
  try {
    const { storeId } = decodeMeta((await client.getBuffer('walletd:meta')) as Buffer);
    const format = new EntryCodec(storeId);
    const entries = (await client.callBuffer('XRANGE', key, '-', '+')) as [Buffer, [Buffer, Buffer]][];
    const lost = entries.splice(-count);
    const previous = entries.at(-1);
    const { head } = format.decode((previous as [Buffer, [Buffer, Buffer]])[1][1]);
    const batch = format.beginBatch(Date.now());
    batch.add({ type: 'player-created', username: 'foreign', version: 1, timeMs: Date.now(), currency: 'THB' });
    const lsn = { epoch: head.lsn.epoch, sequence: head.lsn.sequence + 1 };
    const foreign = batch.seal({ shard, lsn, nonce: 'f'.repeat(16), previous: head });
    const id = Buffer.from(`${lsn.epoch}-${lsn.sequence}`);
    await rewriteStream(client, key, [...entries, [id, [Buffer.from('e'), foreign.bytes]]]);
    await client.call('SET', `walletd:{${shard}}:head`, encodeHead(foreign.head));
    return lost.map(([, [, bytes]]) => bytes);
  } finally {
    client.disconnect();
  }
}
