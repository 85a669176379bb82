import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../src/base/logger.js';
import { restoreTargetOf } from '../../src/cli/restore-target.js';
import { settingsToRead } from '../../src/cli/store-address.js';
import { openExisting } from '../../src/node/drivers/open-store.js';
import { readerOf } from '../../src/node/settings/reader-of.js';
import { formatLsn, tryLsn } from '../../src/ports/lsn.js';
import type { Entry } from '../../src/ports/wal.js';
import { openFormats } from '../../src/store/format/store-formats.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { encodeMeta } from '../../src/store/meta.js';
import { checkBackup, framesOfFile } from '../../src/tools/backup/backup-reader.js';
import { framesOfStore } from '../../src/tools/backup/store-frames.js';
import type { Frames } from '../../src/tools/frame.js';
import { type At, parseAt } from '../../src/tools/point-in-time.js';
import { restoreFrames } from '../../src/tools/restore/restore.js';
import type { WalletImage } from '../../src/wallet/state/wallet-image.js';
import { balanceOf, type CallbackAnswer } from '../support/client.js';
import { until } from '../support/until.js';
import { type Load, PLAYERS, type Sent } from './load.js';
import { RawLmdb } from './raw-lmdb.js';
import { RawRedis } from './raw-redis.js';
import { folded, latestMsOf, type RecordedEntry, recorded, recovered } from './recorded.js';
import { everyCallback } from './rounds.js';
import { fault, type Scene } from './scene.js';
import { faultOnEachStore } from './stores.js';

const POINTS = 50;
/** Only every tenth point is restored with the actual command, because each command takes a second. */
const BY_COMMAND = 10;
const KILLS = 3;
const PAUSE_MS = 40;
/** Time limit of the test, which takes half a minute on an idle machine, mostly for starting processes. */
const TIMEOUT_MS = 240_000;
/**
 * Settings that take a snapshot every second and keep them, so the log is not trimmed: the reference history begins at
 * its first entry.
 */
const EAGER = { WALLETD_SHARDS: '2', WALLETD_SNAPSHOTS_EVERY_SECONDS: '1', WALLETD_SNAPSHOTS_KEEP: '100' };
const RETRY_POLICY = { attemptsMax: 1, log: silentLogger, delay: async () => {} };
const UNITS = 10_000;
const REVERSING: ReadonlySet<string> = new Set(['cancelBets', 'cancelTips', 'voidSettled']);
const REVERSED = 20_003;
/** The status code of a repeated settle that a rollback has undone in the meantime. */
const UNDONE = 20_002;

interface Point {
  readonly text: string;
  /** Whether the restored store must contain the entry. */
  readonly has: (entry: Entry) => boolean;
}

fault(
  `restore --at equals the log at ${POINTS} points, across LMDB and Redis`,
  async (scene) => {
    const { folder, followed, load } = await recordHistory(scene);
    const logs = await recordedOf(scene, folder);
    scene.say(`${logs.flat().length} entries, ${load.count('answered')} answers`);
    scene.say(await restoreAtPoints(scene, [`lmdb:${folder}`, followed], logs));
    const end = await migrate(scene, folder, logs);
    const answered = load.sent.filter(({ answer }) => answer !== undefined);
    const walletd = await scene.walletd(`lmdb:${end}`, EAGER);
    await load.repeatAll(walletd, answered);
    checkRepeats(answered, load);
  },
  TIMEOUT_MS,
);

async function restoreAtPoints(
  scene: Scene,
  sources: readonly [store: string, file: string],
  logs: RecordedEntry[][],
): Promise<string> {
  const entries = logs.flat();
  let withSnapshot = 0;
  for (let i = 0; i < POINTS; i++) {
    const { text, has } = i % 2 === 0 ? randomTime(entries) : randomPlaces(logs);
    const to = join(scene.makeFolder(), 'restored');
    const from = sources[i % 4 < 2 ? 0 : 1];
    if (i % BY_COMMAND === 0) await scene.run('restore', '--from', from, '--to', `lmdb:${to}`, '--at', text);
    else if (await restoreAt(from, to, parseAt(text))) withSnapshot++;
    const restored = await storedIn(`lmdb:${to}`);
    const at = `--at ${text}`;
    assert.deepEqual(restored, folded(entries.filter(has)), at);
    for (const [username, balance] of balancesOf(entries.filter(has))) {
      assert.equal(restored.get(username)?.[2], balance, `${at}: the balance of ${username}`);
    }
  }
  assert.ok(withSnapshot > 0 && withSnapshot < POINTS);
  return `${withSnapshot} of ${POINTS} points began with a snapshot`;
}

/** Copies a store from LMDB to Redis and back. Resolves to the last folder. */
async function migrate(scene: Scene, folder: string, logs: RecordedEntry[][]): Promise<string> {
  const redis = await scene.redis();
  const [first, second, end] = ['first', 'second', 'end'].map((name) => join(folder, `../${name}`)) as [
    string,
    string,
    string,
  ];
  await scene.run('backup', '--from', `lmdb:${folder}`, '--to', first);
  await scene.run('restore', '--from', first, '--to', redis.url);
  await scene.run('backup', '--from', redis.url, '--to', second);
  await scene.run('restore', '--from', second, '--to', `lmdb:${end}`);
  const wallets = folded(logs.flat());
  for (const url of [`lmdb:${folder}`, redis.url, `lmdb:${end}`]) {
    await scene.run('verify', '--deep', '--no-server', '--store', url);
    assert.deepEqual(await storedIn(url), wallets, url);
  }
  const [begun, ended] = [rawLmdb(scene, folder), rawLmdb(scene, end)];
  // Leave out the archive ID, because a restore creates a new archive with its own ID, and begins a timeline.
  const { archiveId: _former, ...formerMeta } = await begun.meta();
  const { archiveId: _own, timelines, ...ownMeta } = await ended.meta();
  assert.deepEqual(ownMeta, formerMeta);
  assert.equal(timelines?.length, 2, 'one timeline for each restore');
  for (const copy of [new RawRedis(redis), ended]) {
    for (const [shard, entries] of (await recorded(copy)).entries()) {
      const log = logs[shard] as RecordedEntry[];
      assert.ok(entries.length > 1);
      assert.deepEqual(bytesOf(entries), bytesOf(log.slice(-entries.length)), `entries of shard ${shard}`);
      assert.deepEqual(await copy.head(shard), await begun.head(shard));
      const [[id, manifest] = []] = await copy.manifests(shard);
      assert.ok(id !== undefined && manifest !== undefined);
      assert.deepEqual((await begun.manifests(shard)).get(id), manifest, 'the newest snapshot came along');
    }
  }
  return end;
}

faultOnEachStore(
  `backups taken or followed under load restore the store (${KILLS} kills)`,
  async (scene, place) => {
    const walletd = await scene.walletd(place.url, EAGER);
    const folder = scene.makeFolder();
    const [file, followed] = [join(folder, 'once.backup'), join(folder, 'followed.backup')];
    const follow = () => scene.command('backup', '--follow', '--from', place.url, '--to', followed);
    const load = await scene.load(walletd, PAUSE_MS, everyCallback);
    let follower = follow();
    await delay(1200);

    const beganMs = performance.now();
    const [taken] = await Promise.all([
      scene.run('backup', '--json', '--from', place.url, '--to', file),
      killAndContinue(),
    ]);
    await load.stop();
    const raw = place.open();
    const logs = await recorded(raw);
    await until('the file has all', () => reaches(followed, logs));
    assert.equal(await follower.exit('SIGTERM'), 0, follower.stderr);
    assert.equal(load.count('answered'), load.sent.length, 'the load was not disturbed');

    const { shards } = JSON.parse(taken) as { shards: { lsn: string }[] };
    const inBackup = logs.map((log, shard) => {
      const { sequence } = tryLsn(shards[shard]?.lsn ?? '') ?? { sequence: 0 };
      return log.filter(({ lsn }) => lsn.sequence <= sequence);
    });
    const early = await checkCopy(scene, file, inBackup, load);
    const all = await checkCopy(scene, followed, logs, load);
    const before = load.sent.filter(({ endedMs }) => endedMs < beganMs);
    assert.ok(
      before.every((one) => early.includes(one)),
      'all that was answered before it began is in a backup',
    );
    assert.ok(early.length < all.length && all.length === load.sent.length);
    scene.say(`${early.length} answers are in the backup, ${all.length} in the one that follows`);

    async function killAndContinue(): Promise<void> {
      for (let kill = 0; kill < KILLS; kill++) {
        await until('it has begun', () => existsSync(followed));
        await delay(randomInt(1000));
        await follower.exit('SIGKILL');
        follower = follow();
        await follower.said(/^Following/m);
      }
    }
  },
  TIMEOUT_MS,
);

/**
 * Restores a backup, verifies that it contains these logs, and repeats all of its callbacks. Resolves to these
 * callbacks.
 */
async function checkCopy(scene: Scene, file: string, logs: RecordedEntry[][], load: Load): Promise<Sent[]> {
  const to = join(scene.makeFolder(), 'restored');
  await scene.run('restore', '--from', file, '--to', `lmdb:${to}`);
  await scene.run('verify', '--deep', '--no-server', '--store', `lmdb:${to}`);
  const entries = logs.flat();
  assert.deepEqual(await storedIn(`lmdb:${to}`), folded(entries));
  for (const [shard, copied] of (await recordedOf(scene, to)).entries()) {
    const log = logs[shard] as RecordedEntry[];
    assert.deepEqual(bytesOf(copied), bytesOf(log.slice(-copied.length)), `entries of shard ${shard}`);
  }
  const ids = new Set(entries.flatMap(({ events }) => events.map((event) => requestIdOf(event))));
  const held = load.sent.filter(({ body }) => ids.has(body.id));
  // Use a new node folder, as on a different machine. The former folder has the record of answers that an early copy
  // lacks, so a start with that folder would refuse the copy.
  const walletd = await scene.walletd(`lmdb:${to}`, { ...EAGER, WALLETD_NODE_FOLDER: scene.makeFolder() });
  await load.repeatAll(walletd, held);
  checkRepeats(held, load);
  const balances = balancesOf(entries);
  for (const username of PLAYERS) {
    assert.equal(await balanceOf(walletd.adminUrl, username), (balances.get(username) ?? 0) / UNITS, username);
  }
  await walletd.end('SIGTERM');
  return held;
}

/**
 * Records a store in which two owners have served a load of all callbacks until kill -9, and a backup that followed it.
 */
async function recordHistory(scene: Scene): Promise<{ folder: string; followed: string; load: Load }> {
  const folder = join(scene.makeFolder(), 'store');
  const followed = join(scene.makeFolder(), 'followed.backup');
  const url = `lmdb:${folder}`;
  let walletd = await scene.walletd(url, EAGER);
  const follower = scene.command('backup', '--follow', '--from', url, '--to', followed);
  await follower.said(/^Following/m);
  const load = await scene.load(walletd, PAUSE_MS, everyCallback);
  await delay(1500);
  await walletd.end('SIGKILL');
  load.rest();
  walletd = await scene.walletd(url, EAGER);
  load.moveTo(walletd);
  const raw = rawLmdb(scene, folder);
  await until('each shard has a snapshot', async () => {
    const [first, second] = await Promise.all([raw.manifests(0), raw.manifests(1)]);
    return first.size > 0 && second.size > 0;
  });
  await delay(1500);
  await load.stop();
  await walletd.end('SIGKILL');
  const logs = await recordedOf(scene, folder);
  await until('the file has all', () => reaches(followed, logs));
  assert.equal(await follower.exit('SIGTERM'), 0, follower.stderr);
  return { folder, followed, load };
}

async function recordedOf(scene: Scene, folder: string): Promise<RecordedEntry[][]> {
  return await recorded(rawLmdb(scene, folder));
}

function rawLmdb(scene: Scene, folder: string): RawLmdb {
  const raw = new RawLmdb(folder);
  scene.atEnd(() => raw.close());
  return raw;
}

function randomTime(entries: readonly RecordedEntry[]): Point {
  const times = entries.map(latestMsOf);
  const timeMs = randomInt(Math.min(...times), Math.max(...times) + 1);
  return { text: new Date(timeMs).toISOString(), has: (entry) => latestMsOf(entry) <= timeMs };
}

/** A random entry, in one shard or in each shard. */
function randomPlaces(logs: readonly RecordedEntry[][]): Point {
  const shards = randomInt(2) === 0 ? [randomInt(logs.length)] : [...logs.keys()];
  const ends = new Map(
    shards.map((shard) => {
      const log = logs[shard] as RecordedEntry[];
      return [shard, (log[randomInt(log.length)] as RecordedEntry).lsn];
    }),
  );
  const text = [...ends].map(([shard, lsn]) => `${shard}:${formatLsn(lsn)}`).join(',');
  const has = ({ shard, lsn }: Entry) => lsn.sequence <= (ends.get(shard)?.sequence ?? Number.POSITIVE_INFINITY);
  return { text, has };
}

/** Restores in this process, exactly as the command does. Returns true if the restore began with a snapshot. */
async function restoreAt(from: string, to: string, at: At): Promise<boolean> {
  const store = LmdbStore.open(to);
  try {
    const { shards } = await (from.startsWith('lmdb:') ? fromStore(from, at, into) : fromFile(from, into));
    return shards.some(({ snapshot }) => snapshot !== undefined);
  } finally {
    await store.close();
  }
  function into(frames: Frames) {
    return restoreFrames(frames, restoreTargetOf(store), { openFormats, at, retryPolicy: RETRY_POLICY });
  }
}

async function fromStore<T>(url: string, at: At, into: (frames: Frames) => Promise<T>): Promise<T> {
  const { store, meta } = await openExisting(settingsToRead(url));
  try {
    return await into(framesOfStore(readerOf(store, meta), { meta: encodeMeta(meta), at, now: Date.now, warn() {} }));
  } finally {
    await store.close();
  }
}

async function fromFile<T>(file: string, into: (frames: Frames) => Promise<T>): Promise<T> {
  return await into(framesOfFile(file, await checkBackup(file)));
}

/** Wallets that a server starting on this store would have in memory. */
async function storedIn(url: string): Promise<Map<string, WalletImage>> {
  const { store, meta } = await openExisting(settingsToRead(url));
  try {
    return await recovered(store, meta);
  } finally {
    await store.close();
  }
}

/** Balances computed only from the events, in units. */
function balancesOf(entries: readonly Entry[]): Map<string, number> {
  const balances = new Map<string, number>();
  for (const { events } of entries) {
    for (const event of events) {
      if (event.type === 'player-imported') balances.set(event.username, event.balance);
      if (event.type === 'callback-applied') balances.set(event.username, event.changes.at(-1)?.after ?? Number.NaN);
    }
  }
  return balances;
}

async function reaches(file: string, logs: readonly RecordedEntry[][]): Promise<boolean> {
  const { coverage } = await checkBackup(file);
  return logs.every((log, shard) => coverage.shards[shard]?.head.lsn.sequence === log.at(-1)?.lsn.sequence);
}

/** Checks that each repeat gets its first answer, or an answer that reflects a later cancel, void or rollback. */
function checkRepeats(repeated: readonly Sent[], { sent }: Load): void {
  const reversals = sent.filter(({ endpoint }) => REVERSING.has(endpoint));
  const reversed = new Set(reversals.map(roundOf));
  const rolledBack = new Set(sent.filter(({ endpoint }) => endpoint === 'rollback').map(roundOf));
  for (const one of repeated) {
    const { body, endpoint, answer, repeat } = one;
    if (repeat?.statusCode === REVERSED && reversed.has(roundOf(one)) && !REVERSING.has(endpoint)) continue;
    if (repeat?.statusCode === UNDONE && rolledBack.has(roundOf(one)) && endpoint === 'settleBets') continue;
    assert.deepEqual(moneyIn(repeat), moneyIn(answer), `${body.id} gets its first answer again`);
  }
}

const roundOf = ({ body }: Sent) => (body.txns[0] as { readonly roundId: string }).roundId;
const moneyIn = (answer: CallbackAnswer | undefined) =>
  answer && [answer.statusCode, answer.balanceBefore, answer.balanceAfter];
const requestIdOf = (event: Entry['events'][number]) => (event.type === 'callback-applied' ? event.requestId : '');
const bytesOf = (entries: readonly RecordedEntry[]) => entries.map(({ bytes }) => bytes.toString('hex'));
