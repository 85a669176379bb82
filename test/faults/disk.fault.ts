import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { describe } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { META_VERSION } from '../../src/store/meta.js';
import { Writer } from '../contract/writer.js';
import { importPlayers } from '../support/client.js';
import { IS_NIGHTLY } from '../support/nightly.js';
import { until } from '../support/until.js';
import { runWalletd, type WalletdProcess } from '../support/walletd-process.js';
import type { Load } from './load.js';
import { prove } from './proof.js';
import { RawLmdb } from './raw-lmdb.js';
import { fault, type Scene } from './scene.js';
import { SmallDisk } from './small-disk.js';
import { EAGER } from './snapshots.js';
import { Witness } from './witness.js';

const ONLY_ROOT = 'only root can mount a small disk';
const DISK_MIB = 24;
const PAUSE_MS = 40;
const SILENT_MS = 2000;
const FAILURES = IS_NIGHTLY ? 4 : 2;
const PAGE_BYTES = 4096;
/** Number of players whose snapshots need more space than the log entries of several seconds. */
const IDLE_PLAYERS = Array.from({ length: 20_000 }, (_, i) => `idle${i}`);
const SNAPSHOT = '0123456789abcdef';
const OTHER_SNAPSHOT = 'fedcba9876543210';
const VAIN_ATTEMPTS = 300;
const CHUNK_BYTES = 128 * 1024;
const NO_ROOM = /the file of the store cannot grow \(ENOSPC: no space left on device, write\)/;
const UNRECORDED = 'acknowledged-not-recorded';

describe('a failing disk of the embedded store', { concurrency: true }, () => {
  fault('a full disk stops snapshots and then bets until space is free', async (scene) => {
    const disk = SmallDisk.tryMount(scene, DISK_MIB);
    if (disk === undefined) return scene.skip(ONLY_ROOT);
    const walletd = await scene.walletd(`lmdb:${disk.path}/store`, EAGER);
    const witness = await Witness.of(open(scene, disk.path));
    await importPlayers(walletd.adminUrl, IDLE_PLAYERS, 7);
    const load = await scene.load(walletd, PAUSE_MS);
    await walletd.waitFor(({ msg }) => msg === 'snapshot taken');
    disk.fill();

    await until('no room for a snapshot', () => noRoom(walletd, 'snapshot-abandoned'));
    const refusedMs = performance.now();
    await until('answers all the same', () => load.firstAnswerAfter(refusedMs + 100));
    assert.equal(load.count('busy'), 0, 'a snapshot without free space delays no answer');
    const rush = scene.play(walletd);
    const { error } = await until('no room for bets', () => noRoom(walletd, 'append-failed'));
    const betweenMs = Math.round(performance.now() - refusedMs);
    // Wait, because an abandoned snapshot occasionally leaves space for a few more entries.
    await until('callers get 503', () => load.count('busy') > 0);
    scene.say(`${betweenMs} ms from the first chunk without room to the first bet; "${error}"`);

    const snapshots = () => walletd.log.filter(({ msg }) => msg === 'snapshot taken').length;
    const taken = snapshots();
    disk.free();
    const freedMs = performance.now();
    const answeredMs = await until('service', () => load.firstAnswerAfter(freedMs));
    await until('a snapshot', () => snapshots() > taken);
    await Promise.all([load.stop(), rush.stop()]);
    assert.equal(load.count('broken') + rush.count('broken'), 0);
    scene.say(`service was back ${Math.round(answeredMs - freedMs)} ms after there was room`);
    scene.say(await prove([load, rush], walletd, witness));
    await witness.stop();
  });

  fault('unfinished snapshots can be removed even from a full disk', async (scene) => {
    const disk = SmallDisk.tryMount(scene, DISK_MIB);
    if (disk === undefined) return scene.skip(ONLY_ROOT);
    const store = LmdbStore.open(`${disk.path}/store`);
    scene.atEnd(() => store.close());
    const storeId = randomUUID();
    const scales = { default: 4, byCurrency: {} };
    await store.meta.create({ storeId, formatVersion: META_VERSION, shards: 1, hash: 'h', scales, createdMs: 0 });
    const log = new Writer(store.wal, storeId);
    await log.fence(0);
    await store.snapshots.beginSnapshot(0, log.nonce, SNAPSHOT);
    const chunks = await countUntilFailure(async (index) => {
      assert.ok(await store.snapshots.writeChunk(0, log.nonce, SNAPSHOT, index, Buffer.alloc(CHUNK_BYTES, 1)));
    });
    const appends = await countUntilFailure(() => log.append(0));
    for (let n = 0; n < VAIN_ATTEMPTS; n++) {
      await store.snapshots.beginSnapshot(0, log.nonce, OTHER_SNAPSHOT).catch(() => {});
      assert.ok(await store.snapshots.deleteSnapshot(0, log.nonce, [], OTHER_SNAPSHOT));
      await countUntilFailure(() => log.append(0));
    }
    assert.ok(await store.snapshots.deleteSnapshot(0, log.nonce, [], SNAPSHOT));
    for (let n = 0; n < 2 * appends; n++) await log.append(0);
    scene.say(`${chunks} chunks and ${appends} appends until it was full; then ${2 * appends} more`);
  });

  fault('a start on a full disk is refused without loss', async (scene) => {
    const disk = SmallDisk.tryMount(scene, DISK_MIB);
    if (disk === undefined) return scene.skip(ONLY_ROOT);
    const store = `lmdb:${disk.path}/store`;
    const walletd = await scene.walletd(store);
    const load = await scene.load(walletd);
    disk.fill();
    await until('no room for bets', () => noRoom(walletd, 'append-failed'));
    load.rest();
    await walletd.end('SIGKILL');
    await load.stop();
    cutZeros(`${disk.path}/store/data.mdb`);
    disk.fill();
    const said = await scene.refusal(store);
    assert.match(said, /ended with 1: walletd: cannot take over the store lmdb:\S+: the file of the store cannot grow/);
    assert.doesNotMatch(said, /\n\s+at /, 'no stack');
    scene.say(said.trim());
    const examined = runWalletd(['doctor', store]);
    assert.match(examined.stdout, /^bad +durable write +there is no space left for one +-> make room$/m);
    assert.match(examined.stdout, /^bad +room /m);
    disk.free();
    scene.say(await prove([load], await scene.walletd(store), open(scene, disk.path)));
  });

  fault('a read-only store is refused; a read-only node folder causes one warning', async (scene) => {
    const disk = SmallDisk.tryMount(scene, DISK_MIB);
    if (disk === undefined) return scene.skip(ONLY_ROOT);
    const store = `lmdb:${disk.path}/store`;
    const first = await scene.walletd(store);
    await first.end('SIGTERM');
    mkdirSync(`${disk.path}/node`);
    disk.setReadOnly();
    const said = await scene.refusal(store);
    assert.match(said, /ended with 1: walletd: cannot open the store lmdb:\S+: Read-only file system/);
    scene.say(said.trim());

    const folder = scene.makeFolder();
    const walletd = await scene.walletd(`lmdb:${folder}`, { WALLETD_NODE_FOLDER: `${disk.path}/node` });
    const load = await scene.load(walletd);
    await walletd.waitFor(({ code }) => code === UNRECORDED);
    await delay(SILENT_MS);
    const lines = walletd.log.filter(({ code }) => code === UNRECORDED);
    assert.equal(lines.length, 1);
    assert.match(String(lines[0]?.error), /read-only file system/);
    scene.say(`${UNRECORDED}: ${lines[0]?.error}`);
    await load.stop();
    assert.equal(load.count('answered'), load.sent.length);
    assert.equal(await walletd.end('SIGTERM'), 0);
  });

  fault(`walletd ends at a failed write (EIO, ${FAILURES} times); its successor has everything`, async (scene) => {
    const folder = scene.makeFolder();
    const store = `lmdb:${folder}/store`;
    let load: Load | undefined;
    for (let failure = 0; failure < FAILURES; failure++) {
      const walletd = await scene.walletd(store, {}, failing(`${folder}/trace`));
      const startedMs = performance.now();
      if (load === undefined) load = await scene.load(walletd);
      else load.moveTo(walletd);
      const { child, log } = walletd;
      await until('it ends', () => child.exitCode !== null || child.signalCode !== null);
      load.rest();
      const tookMs = Math.round(performance.now() - startedMs);
      const line = log.find(({ code }) => code === 'store-unusable');
      // LMDB may abort before the line is logged. If the line contains only MDB_PANIC, LMDB's own output has the cause.
      assert.match(`${line?.error} ${walletd.errors}`, /Input\/output error/);
      const said = String(line?.error ?? walletd.errors).split('\n')[0];
      scene.say(`ended with ${child.exitCode ?? child.signalCode} after ${tookMs} ms: ${said}`);
    }
    const newOwner = await scene.walletd(store);
    await load?.stop();
    scene.say(await prove([load as Load], newOwner, open(scene, folder)));
  });
});

/** Number of successful writes before the first failure. */
async function countUntilFailure(write: (n: number) => Promise<unknown>): Promise<number> {
  for (let n = 0; ; n++) {
    try {
      await write(n);
    } catch (error) {
      assert.match((error as Error).message, /cannot grow|failed/);
      return n;
    }
  }
}

/** Makes one write of each thread fail. lmdb 3.5.6 does not survive all of them: it may end with SIGABRT. */
function failing(trace: string): string[] {
  const calls = 'pwrite64,pwritev';
  const inject = `inject=${calls}:error=EIO:when=${randomInt(80, 160)}`;
  return ['strace', '-f', '-qq', '-o', trace, '-e', `trace=${calls}`, '-e', inject];
}

/** Removes the reserved space after LMDB's data. That space alone would be enough for a start. */
function cutZeros(path: string): void {
  const bytes = readFileSync(path);
  let used = bytes.length;
  while (bytes[used - 1] === 0) used--;
  truncateSync(path, Math.ceil(used / PAGE_BYTES) * PAGE_BYTES);
}

function noRoom({ log }: WalletdProcess, wanted: string) {
  return log.find(({ code, error, reason }) => code === wanted && NO_ROOM.test(String(error ?? reason)));
}

function open(scene: Scene, folder: string): RawLmdb {
  const raw = new RawLmdb(`${folder}/store`);
  scene.atEnd(() => raw.close());
  return raw;
}
