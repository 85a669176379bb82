import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openEnvironment } from '../../src/store/lmdb/environment.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { probe } from '../../src/store/lmdb/probe.js';
import { META_VERSION } from '../../src/store/meta.js';
import { Writer } from '../contract/writer.js';
import { endAfterTests } from '../support/children.js';
import { endChild } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { runWalletd, WalletdCommand } from '../support/walletd-process.js';

const PROGRAM = fileURLToPath(new URL('../support/lmdb-program.js', import.meta.url));

async function start(folder: string, what: 'reader' | 'lock'): Promise<ChildProcess> {
  const program = endAfterTests(
    spawn(process.execPath, [PROGRAM, folder, what], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  await once(program.stdout as NodeJS.ReadableStream, 'data');
  return program;
}

/**
 * Runs with a store in the folder `store`, whose shard 0 has an owner. `stuck` collects the causes reported when the
 * store cannot continue.
 */
async function withStore(
  run: (store: LmdbStore, log: Writer, folder: string, stuck: readonly string[]) => Promise<void>,
): Promise<void> {
  const temp = makeTempFolder();
  const folder = `${temp.path}/store`;
  const stuck: string[] = [];
  const store = LmdbStore.open(folder, (why) => stuck.push(why));
  try {
    const storeId = randomUUID();
    const scales = { default: 4, byCurrency: {} };
    await store.meta.create({ storeId, formatVersion: META_VERSION, shards: 1, hash: 'h', scales, createdMs: 0 });
    await run(store, new Writer(store.wal, storeId), folder, stuck);
  } finally {
    await store.close();
    temp.remove();
  }
}

test('pages that a reader holds are freed after the reader is killed', async () => {
  await withStore(async (_store, log, folder) => {
    const reader = await start(folder, 'reader');
    const other = openEnvironment(folder);
    const isListed = () => new RegExp(`^\\s*${reader.pid} `, 'm').test(other.readerList());
    assert.ok(isListed(), other.readerList());
    await endChild(reader, 'SIGKILL');
    await until('its place is free', async () => {
      await log.append(0);
      return !isListed();
    });
    await other.close();
  });
});

for (const [what, change] of [
  ['removed', (folder: string) => rmSync(folder, { recursive: true })],
  ['replaced', (folder: string) => renameSync(folder, `${folder}-elsewhere`)],
] as const) {
  test(`a store whose file is ${what} reports that it cannot continue`, async () => {
    await withStore(async (_store, log, folder, stuck) => {
      await log.append(0);
      change(folder);
      if (what === 'replaced') await LmdbStore.open(folder).close();
      await until('it says so', async () => {
        await log.append(0);
        return stuck.length > 0;
      });
      assert.deepEqual(stuck.slice(0, 1), ['the file of the store was removed or replaced']);
    });
  });
}

test('opening a locked store can be interrupted, and is refused with a sentence', async () => {
  await withStore(async (_store, _log, folder) => {
    const holder = await start(folder, 'lock');
    const env = { WALLETD_STORE: `lmdb:${folder}` };
    const reported = new WalletdCommand(['serve'], env);
    await reported.started('probe-program.js');
    assert.equal(await reported.exit('SIGTERM'), 0, 'it ends when it is told to');
    const { status, stderr } = runWalletd(['verify'], env);
    assert.equal(status, 1);
    assert.match(stderr, /another process has held its lock for 10 s: the process is frozen, or its disk hangs/);
    await endChild(holder, 'SIGKILL');
    const later = runWalletd(['snapshot', 'list'], env);
    assert.equal(later.status, 0, later.stderr);
  });
});

for (const [what, damage] of [
  ['cut off in its meta pages', (file: string) => truncateSync(file, 8192)],
  ['cut off', (file: string) => truncateSync(file, 40_000)],
  ['a text', (file: string) => writeFileSync(file, 'this is no store\n'.repeat(1000))],
  ['almost empty', (file: string) => truncateSync(file, 100)],
] as const) {
  test(`a file that is ${what} is refused with a sentence`, async () => {
    await withStore(async (store, _log, folder) => {
      await store.close();
      await probe(folder);
      damage(`${folder}/data.mdb`);
      await assert.rejects(probe(folder), /^Error: its data\.mdb is cut off, damaged, or a different file/);
    });
  });
}

test('server, tools and restore report a truncated file', async () => {
  await withStore(async (store, _log, folder) => {
    await store.close();
    truncateSync(`${folder}/data.mdb`, 40_000);
    const env = { WALLETD_STORE: `lmdb:${folder}` };
    for (const action of ['serve', 'verify', `restore --from lmdb:${folder} --to lmdb:${folder}`]) {
      const { status, stderr } = runWalletd(action.split(' '), env);
      assert.equal(status, 1, `${action}: ${stderr}`);
      assert.match(stderr, /cannot use the store .*its data\.mdb is cut off/);
    }
  });
});

test('a folder that is misleading or cannot be created is refused with a sentence', () => {
  const home = runWalletd(['serve'], { WALLETD_STORE: 'lmdb:~/data' });
  assert.equal(home.status, 2);
  assert.match(home.stderr, /~ is not expanded here/);
  const { status, stderr } = runWalletd(['init', 'lmdb:/proc/walletd/store']);
  assert.equal(status, 1);
  assert.match(stderr, /cannot open the store lmdb:\/proc\/walletd\/store: ENOENT/);
});
