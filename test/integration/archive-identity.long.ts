import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cleanUp } from '../support/clean-up.js';
import { importPlayers } from '../support/client.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { copyDatabase, PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { RedisServer } from '../support/redis-server.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestCluster } from '../support/test-cluster.js';
import { until } from '../support/until.js';
import { runWalletd, WalletdCommand, WalletdProcess } from '../support/walletd-process.js';

/** Starts and stops a server. The first start with an archive ties the store to it. Returns the IDs in its log line. */
async function serve(env: Record<string, string>, work: (walletd: WalletdProcess) => Promise<void> = async () => {}) {
  const walletd = await WalletdProcess.start({ WALLETD_SHARDS: '2', WALLETD_WORKERS: '0', ...env });
  await work(walletd);
  assert.equal(await walletd.end('SIGTERM'), 0);
  return walletd.log
    .filter(({ msg }) => msg === 'store linked to its archive')
    .map(({ archiveId }) => String(archiveId));
}

/** Asserts that `serve` and `serve --check` refuse with the same message, before any takeover. */
function isRefused(env: Record<string, string>, ...parts: readonly (string | RegExp)[]): void {
  for (const args of [['serve'], ['serve', '--check']]) {
    const { status, stderr, stdout } = runWalletd(args, { WALLETD_SHARDS: '2', ...env });
    assert.equal(status, 1, `${args}: ${stdout}`);
    for (const part of parts)
      assert.ok(typeof part === 'string' ? stderr.includes(part) : part.test(stderr), `${part} in ${stderr}`);
    assert.doesNotMatch(stdout, /store fenced, this process owns it/);
  }
}

test('LMDB: a start refuses an archive with a different ID, or a missing one', () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_NODE_FOLDER: `${folder}/node` };
    const [id] = await serve(env);
    assert.deepEqual(await serve(env), [], 'said once');
    const path = join(folder, 'data', 'archive', 'archive.json');
    const about = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    assert.equal(about.archiveId, id);
    const doctor = runWalletd(['doctor'], env);
    assert.match(doctor.stdout, new RegExp(`good +archive +id ${id}, 0 days`));
    writeFileSync(path, JSON.stringify({ ...about, archiveId: 'another' }));
    isRefused(
      env,
      'another',
      String(id),
      join(folder, 'data', 'archive'),
      `lmdb:${folder}/data`,
      'use that archive again',
    );
    renameSync(join(folder, 'data', 'archive'), join(folder, 'away'));
    isRefused(env, /has no id, so it is new/, String(id));
    const dry = runWalletd(['accept-loss', '--archive', '--dry-run'], env);
    assert.match(dry.stdout, /has no id yet, but the store names the archive/);
    const accepted = runWalletd(['accept-loss', '--archive', '--yes', '--stopped'], env);
    assert.equal(accepted.status, 0, accepted.stderr);
    assert.match(accepted.stdout, /The store now names the archive [0-9a-f-]{36}/);
    assert.deepEqual(await serve(env), [], 'it goes on with the new archive');
    rmSync(join(folder, 'data', 'archive'), { recursive: true });
    renameSync(join(folder, 'away'), join(folder, 'data', 'archive'));
    writeFileSync(path, JSON.stringify(about));
    isRefused(env, String(id), 'use that archive again');
  }));

const noPostgres = whyNoPostgres();
if (noPostgres !== undefined) test('archive ids in PostgreSQL', { skip: noPostgres }, () => {});
else {
  const databases = new PostgresDatabases(startPostgres(tmpdir()));
  after(async () => await cleanUp());
  const newDatabase = async () => databases.url(await databases.create());
  const idIn = async (url: string) => (await runSql(url, 'SELECT archive_id FROM walletd_identity'))[0];

  test('PostgreSQL: a start refuses a different archive, a new one, or none', () =>
    inTempFolder(async (folder) => {
      const redis = await RedisServer.start();
      const store = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_NODE_FOLDER: `${folder}/node` };
      const [mine, fresh] = [await newDatabase(), await newDatabase()];
      const env = { ...store, WALLETD_ARCHIVE: mine };
      const [archive_id] = await serve(env);
      assert.deepEqual(await idIn(mine), { archive_id });
      const meta = JSON.parse((await redis.call('GET', 'walletd:meta')) as string) as { archiveId: string };
      assert.equal(meta.archiveId, archive_id);
      isRefused(
        { ...store, WALLETD_ARCHIVE: fresh },
        /has no id, so it is new/,
        String(archive_id),
        redis.url.slice(8),
      );
      const made = "CREATE TABLE walletd_identity AS SELECT 'another'::text AS archive_id";
      await runSql(fresh, made);
      isRefused({ ...store, WALLETD_ARCHIVE: fresh }, 'another', String(archive_id), 'use that archive again');
      isRefused(store, /no archive is configured: set WALLETD_ARCHIVE/, String(archive_id));
      const verify = runWalletd(['verify', '--store', redis.url], { ...store, WALLETD_ARCHIVE: fresh });
      assert.equal(verify.status, 1);
      assert.match(verify.stderr + verify.stdout, /the closed rounds of the store .* are in the archive/);
      assert.deepEqual(await serve(env), []);
      await redis.destroy();
    }));

  test("an older release's store is tied to its archive at the first start", () =>
    inTempFolder(async (folder) => {
      const redis = await RedisServer.start();
      const store = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_NODE_FOLDER: `${folder}/node` };
      const mine = await newDatabase();
      const env = { ...store, WALLETD_ARCHIVE: mine };
      const [first] = await serve(env);
      const meta = JSON.parse((await redis.call('GET', 'walletd:meta')) as string) as { archiveId?: string };
      const { archiveId: _, ...older } = meta;
      await redis.call('SET', 'walletd:meta', JSON.stringify(older));
      await runSql(mine, 'DROP TABLE walletd_identity');
      const [second] = await serve(env);
      assert.ok(second !== undefined && second !== first);
      assert.deepEqual(await idIn(mine), { archive_id: second });
      await redis.destroy();
    }));

  test('pg_dump copies the archive ID, but a restore creates a new archive', () =>
    inTempFolder(async (folder) => {
      const [redis, other] = [await RedisServer.start(), await RedisServer.start()];
      const store = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_NODE_FOLDER: `${folder}/node` };
      const [mine, dumped] = [await newDatabase(), await newDatabase()];
      const [archive_id] = await serve({ ...store, WALLETD_ARCHIVE: mine }, (walletd) =>
        importPlayers(walletd.adminUrl, ['ann'], 1000),
      );
      copyDatabase(mine, dumped);
      const moved = { ...store, WALLETD_ARCHIVE: dumped };
      assert.deepEqual(await serve(moved), [], 'the same archive');
      assert.deepEqual(await idIn(dumped), { archive_id });
      const accepted = runWalletd(['accept-loss', '--yes'], moved);
      assert.equal(accepted.status, 0, accepted.stderr);
      assert.deepEqual(await serve(moved), [], 'accept-loss changes no id');
      const backup = `${folder}/backup`;
      const saved = runWalletd(['backup', '--from', redis.url, '--to', backup], moved);
      assert.equal(saved.status, 0, saved.stderr);
      for (const [name, ...more] of [
        ['whole'],
        ['shards', '--shards', '3'],
        ['time', '--at', new Date().toISOString()],
      ]) {
        await other.call('FLUSHALL');
        const database = await newDatabase();
        const node = { WALLETD_NODE_FOLDER: `${folder}/${name}`, WALLETD_SHARDS: name === 'shards' ? '3' : '2' };
        const env = { WALLETD_STORE: other.url, ...node, WALLETD_ARCHIVE: database };
        const done = runWalletd(['restore', '--from', backup, '--to', other.url, ...more], env);
        assert.equal(done.status, 0, done.stderr);
        const meta = JSON.parse((await other.call('GET', 'walletd:meta')) as string) as { archiveId: string };
        assert.deepEqual(await idIn(database), { archive_id: meta.archiveId });
        assert.notEqual(meta.archiveId, archive_id);
        assert.deepEqual(await serve(env), []);
        if (name === 'whole') isRefused({ ...env, WALLETD_ARCHIVE: dumped }, String(archive_id), meta.archiveId);
      }
      await redis.destroy();
      await other.destroy();
    }));

  test("a store restored beneath a server is tied to that server's archive again", () =>
    inTempFolder(async (folder) => {
      const redis = await RedisServer.start();
      const store = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_NODE_FOLDER: `${folder}/node` };
      const [mine, scratch] = [await newDatabase(), await newDatabase()];
      const env = { ...store, WALLETD_ARCHIVE: mine };
      const archiveIdIn = async () =>
        (JSON.parse((await redis.call('GET', 'walletd:meta')) as string) as { archiveId: string }).archiveId;
      await serve(env, async (walletd) => {
        await importPlayers(walletd.adminUrl, ['ann'], 1000);
        const before = await archiveIdIn();
        const saved = runWalletd(['backup', '--from', redis.url, '--to', `${folder}/backup`], env);
        assert.equal(saved.status, 0, saved.stderr);
        await redis.call('FLUSHALL');
        const args = ['restore', '--from', `${folder}/backup`, '--to', redis.url, '--yes'];
        const done = runWalletd(args, { ...store, WALLETD_ARCHIVE: scratch });
        assert.equal(done.status, 0, done.stderr);
        await until('its archive', async () => (await archiveIdIn()) === before);
        const line = await walletd.waitFor(({ code }) => code === 'archive-tied-again');
        assert.equal(line.archiveId, before);
      });
      assert.deepEqual(await serve(env), []);
      await redis.destroy();
    }));

  test('a node with a different archive, or none, is refused before it joins', async () => {
    const cluster = await TestCluster.start(1, { archive: await newDatabase() });
    try {
      const table = async () => String(await cluster.redis.call('HGETALL', 'walletd:{walletd:meta}:table'));
      assert.match(await table(), /"archiveId":"[0-9a-f-]{36}"/);
      const text = (await cluster.redis.call('GET', 'walletd:meta')) as string;
      const other = await newDatabase();
      for (const changes of [{ archive: other }, { archive: null }]) {
        // Repeats with a record that names no archive, like an older release's. The node must then ask the living
        // member.
        for (const record of [text, text.replace(/"archiveId":"[^"]*",?/, '').replace(',}', '}')]) {
          await cluster.redis.call('SET', 'walletd:meta', record);
          await assert.rejects(
            cluster.add(1, changes),
            /closed rounds of the store .* are in the archive|node node-0 at .* has the archive/,
          );
          await cluster.redis.call('SET', 'walletd:meta', text);
        }
      }
      assert.doesNotMatch(await table(), /node-1/);
    } finally {
      await cluster.close();
    }
  });

  test('accept-loss --archive is refused while cluster members are alive', async () => {
    const archive = await newDatabase();
    const cluster = await TestCluster.start(2, { archive });
    try {
      await inTempFolder(async (folder) => {
        const store = { WALLETD_STORE: cluster.redis.url, WALLETD_NODE_FOLDER: folder };
        // `--stopped` confirms that shard owners are stopped, but not cluster members.
        for (const database of [archive, await newDatabase()]) {
          const args = ['accept-loss', '--archive', '--yes', '--stopped'];
          const command = new WalletdCommand(args, { ...store, WALLETD_ARCHIVE: database });
          assert.equal(await command.exit(), 1, command.stdout);
          assert.match(command.stderr, /node-[01], node-[01] are running on this store: stop all nodes first/);
        }
      });
    } finally {
      await cluster.close();
    }
  });

  test('a node with an archive cannot join a member without one', async () => {
    const cluster = await TestCluster.start(1);
    const { redis } = cluster;
    try {
      const table = 'walletd:{walletd:meta}:table';
      const meta = await redis.call('GET', 'walletd:meta');
      const archive = await newDatabase();
      await assert.rejects(
        cluster.add(1, { archive }),
        /node node-0 at .* has no archive of the store .*, but this node has an archive: .* stop all nodes first/,
      );
      assert.equal(await redis.call('GET', 'walletd:meta'), meta, 'the store names no archive');
      const fields = (await redis.call('HGETALL', table)) as string[];
      const member = fields.findIndex((field) => field.startsWith('n:'));
      const [tag, record] = [String(fields[member]), String(fields[member + 1])];
      assert.doesNotMatch(fields.join(), /node-1/);
      // A member with an older release, which does not report its archive.
      await redis.call('HSET', table, tag, record.replace('"archiveId":null,', ''));
      await cluster.add(1, { archive });
      await until('the table names the archive of the new member', async () =>
        /"archiveId":"[0-9a-f-]{36}"/.test(String(await redis.call('HGETALL', table))),
      );
    } finally {
      await cluster.close();
    }
  });
}
