import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { cleanUp } from '../support/clean-up.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { writeTwoSegments } from './backup-files.js';

const ROUNDS = `CREATE TABLE walletd_rounds (day int, shard int); INSERT INTO walletd_rounds VALUES (1, 0)`;

/** The store's keys, without the keys that test access rights, which expire within a second. */
async function keysOf(redis: RedisServer): Promise<string[]> {
  return ((await redis.call('KEYS', '*')) as string[]).filter((key) => !/:trial-/.test(key));
}

test('restore and its dry run refuse a place that is not a folder', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    writeFileSync(`${folder}/taken`, '');
    for (const dry of [[], ['--dry-run']]) {
      const { status, stderr } = await runCommand([
        'restore',
        '--from',
        file,
        '--to',
        `lmdb:${folder}/taken/data`,
        ...dry,
      ]);
      assert.equal(status, 1);
      assert.match(stderr, /cannot use the store .*taken is not a folder/);
    }
  }));

test('a dry run into a folder creates nothing', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    const { status } = await runCommand(['restore', '--from', file, '--to', `lmdb:${folder}/new`, '--dry-run']);
    assert.equal(status, 0);
    assert.ok(!existsSync(`${folder}/new`));
  }));

test('a database server with too little durability fails the dry run', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    const redis = await RedisServer.start({ appendfsync: 'everysec' });
    for (const dry of [[], ['--dry-run']]) {
      const { status, stderr } = await runCommand(['restore', '--from', file, '--to', redis.url, ...dry]);
      assert.equal(status, 1);
      assert.match(stderr, /appendfsync everysec, but it should be always/);
    }
    assert.deepEqual(await keysOf(redis), []);
    await redis.destroy();
  }));

test('a user that lacks a right is refused before the first write', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    const redis = await RedisServer.start();
    await redis.call('ACL', 'SETUSER', 'poor', 'on', '>secret', '~*', '+@all', '-hset', '-xtrim');
    const to = `redis://poor:secret@127.0.0.1:${redis.port}`;
    for (const dry of [[], ['--dry-run']]) {
      const { status, stderr } = await runCommand(['restore', '--from', file, '--to', to, ...dry]);
      assert.equal(status, 1);
      assert.match(
        stderr,
        /this user may not use XTRIM, HSET; create the user as in config\/users\.acl, on the master/,
      );
    }
    assert.deepEqual(await keysOf(redis), []);
    await redis.destroy();
  }));

const reason = whyNoPostgres();
if (reason !== undefined) {
  test('restoring with PostgreSQL', { skip: reason }, () => {});
} else {
  const databases = new PostgresDatabases(startPostgres(tmpdir()));
  after(async () => await cleanUp());

  test('an archive with rounds is refused before the store is created', () =>
    inTempFolder(async (folder) => {
      const { file } = await writeTwoSegments(folder);
      const name = await databases.create();
      await runSql(databases.url(name), ROUNDS);
      const redis = await RedisServer.start();
      const args = ['restore', '--from', file, '--to', redis.url];
      for (const dry of [[], ['--dry-run']]) {
        const { status, stderr } = await runCommand([...args, ...dry], { WALLETD_ARCHIVE: databases.url(name) });
        assert.equal(status, 1);
        assert.match(
          stderr,
          /a restore requires an empty archive, .* has rounds; set WALLETD_ARCHIVE to a new database, for restore, serve/,
        );
        assert.doesNotMatch(stderr, /incomplete|empty it/);
      }
      assert.deepEqual(await keysOf(redis), []);
      const empty = await runCommand(args, { WALLETD_ARCHIVE: databases.url(await databases.create()) });
      assert.equal(empty.status, 0, empty.stderr);
      await redis.destroy();
    }));

  test('restore does not recommend emptying an archive that a server may use', () =>
    inTempFolder(async (folder) => {
      const { file } = await writeTwoSegments(folder);
      const name = await databases.create();
      await runSql(databases.url(name), ROUNDS);
      const { Client } = await import('pg');
      const session = new Client({ connectionString: databases.url(name) });
      await session.connect();
      const args = ['restore', '--from', file, '--to', `lmdb:${folder}/new`];
      const { status, stderr } = await runCommand(args, { WALLETD_ARCHIVE: databases.url(name) });
      await session.end();
      assert.equal(status, 1);
      assert.match(stderr, /never empty it: set WALLETD_ARCHIVE to a new database, for this restore only/);
      assert.ok(!existsSync(`${folder}/new`));
    }));

  test('an unreachable or forbidden archive fails the dry run', () =>
    inTempFolder(async (folder) => {
      const { file } = await writeTwoSegments(folder);
      const name = await databases.create();
      await runSql(databases.url(name), 'CREATE ROLE mean LOGIN');
      const args = ['restore', '--from', file, '--to', `lmdb:${folder}/new`];
      for (const [address, sentence] of [
        ['postgres://w:x@127.0.0.1:1/w', /cannot use the archive \S+: connect ECONNREFUSED/],
        [databases.url(name, 'mean'), /GRANT USAGE, CREATE ON SCHEMA public TO mean/],
      ] as const) {
        for (const dry of [[], ['--dry-run']]) {
          const { status, stderr } = await runCommand([...args, ...dry], { WALLETD_ARCHIVE: address });
          assert.equal(status, 1);
          assert.match(stderr, sentence);
        }
      }
      assert.ok(!existsSync(`${folder}/new`));
    }));
}
