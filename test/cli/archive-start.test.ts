import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { cleanUp } from '../support/clean-up.js';
import { freePort } from '../support/free-port.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

const BOTH = [['serve', '--check'], ['serve']] as const;

test('an invalid archive address ends check and start without revealing its password', () =>
  inTempFolder(async (folder) => {
    for (const [address, part] of [
      ['postgres://walletd:hush/hush@127.0.0.1:5432/w', /archive is not a PostgreSQL address: .*unescaped \/.*%2F/],
      ['postgres://walletd:hush@127.0.0.1:5432', /archive is not a PostgreSQL address: it has no database/],
      ['postgres://walletd:hush@127.0.0.1/w?sslmode=prefer', /its sslmode must be one of/],
      [
        'mysql://walletd:hush@127.0.0.1/w',
        /archive cannot be what is given .* must be postgres:\/\/user:password@host/,
      ],
    ] as const) {
      for (const args of BOTH) {
        const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_ARCHIVE: address };
        const { status, stderr } = await runCommand(args, env);
        assert.equal(status, 2, `${args} ${address}`);
        assert.match(stderr, part);
        assert.doesNotMatch(stderr, /hush/);
        assert.ok(!existsSync(`${folder}/data/data.mdb`), 'nothing is created');
      }
    }
  }));

test('check and start report an unreachable archive, and the start continues', () =>
  inTempFolder(async (folder) => {
    const port = await freePort();
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_ARCHIVE: `postgres://w:hush@127.0.0.1:${port}/w` };
    const check = await runCommand(['serve', '--check'], env);
    assert.equal(check.status, 0, check.stderr);
    assert.match(check.stdout, /Archive postgres:\/\/127\.0\.0\.1:\d+\/w was not reachable: connect ECONNREFUSED/);
    const walletd = await WalletdProcess.start(env);
    const line = await walletd.waitFor(({ code }) => code === 'archive-away');
    assert.equal(line.level, 'warn');
    assert.match(String(line.error), /ECONNREFUSED/);
    assert.equal(await walletd.end('SIGTERM'), 0);
    assert.doesNotMatch(check.stdout + JSON.stringify(walletd.log), /hush/);
  }));

test('serve --check refuses a lost embedded store, as a start does', () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_NODE_FOLDER: `${folder}/node` };
    const walletd = await WalletdProcess.start(env);
    assert.equal(await walletd.end('SIGTERM'), 0);
    rmSync(`${folder}/data`, { recursive: true });
    for (const args of BOTH) {
      const { status, stderr } = await runCommand(args, env);
      assert.equal(status, 1, String(args));
      assert.match(stderr, /there is no store at .* where this node has served .* accept-loss/);
    }
  }));

const reason = whyNoPostgres();
if (reason !== undefined) {
  test('starting with PostgreSQL', { skip: reason }, () => {});
} else {
  const server = startPostgres(tmpdir());
  const databases = new PostgresDatabases(server);
  after(async () => await cleanUp());

  test('an unusable archive makes check and start fail and name the remedy', () =>
    inTempFolder(async (folder) => {
      const name = await databases.create();
      const url = databases.url(name);
      const store = { WALLETD_STORE: `lmdb:${folder}/data` };
      await runCommand(['init'], store);
      await runSql(
        url,
        "CREATE TABLE walletd_archive AS SELECT 1 AS version, 'another' AS store_id",
        'CREATE ROLE poor LOGIN',
      );
      for (const [address, sentence] of [
        [databases.url('missing'), /cannot use the archive postgres:\S+: the database .* does not exist: create it/],
        [databases.url(name, 'nobody'), /PostgreSQL does not let this user in/],
        [databases.url(name, 'poor'), /GRANT USAGE, CREATE ON SCHEMA public TO poor/],
        [url, /belongs to a different store: another; set WALLETD_ARCHIVE to the database of this store/],
      ] as const) {
        for (const args of BOTH) {
          const { status, stderr } = await runCommand(args, { ...store, WALLETD_ARCHIVE: address });
          assert.equal(status, 1, `${args} ${address}`);
          assert.match(stderr, sentence);
        }
      }
    }));

  test('check, start and doctor apply the same rules to PostgreSQL', () =>
    inTempFolder(async (folder) => {
      const url = databases.url(await databases.create());
      const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_ARCHIVE: url };
      const trusting = { ...env, WALLETD_POSTGRES_TRUST_CONFIG: 'true' };
      await runCommand(['init'], { WALLETD_STORE: env.WALLETD_STORE });
      const good = await runCommand(['serve', '--check'], env);
      assert.match(good.stdout, /Archive postgres:\S+: PostgreSQL .* fsync is on; .*\nIt would start\.\n$/);
      await runSql(url, 'ALTER SYSTEM SET fsync = off', 'SELECT pg_reload_conf()');
      const weak = /has fsync off, but it should be on: .*ALTER SYSTEM SET fsync = on;/;
      // Retry, because the server reloads its settings a moment after the request.
      for (let isSeen = false; !isSeen; ) isSeen = (await runCommand(['serve', '--check'], env)).status === 1;
      for (const args of BOTH) {
        const { status, stderr } = await runCommand(args, env);
        assert.equal(status, 1, String(args));
        assert.match(stderr, weak);
      }
      const doctor = await runCommand(['doctor'], env);
      assert.equal(doctor.status, 1);
      assert.match(doctor.stdout, weak);
      assert.match(doctor.stdout, /good +archive durability +full_page_writes is on/);
      assert.equal((await runCommand(['serve', '--check'], trusting)).status, 0);
      const trusted = await runCommand(['doctor'], trusting);
      assert.equal(trusted.status, 0);
      assert.match(trusted.stdout, /look +archive durability +.*WALLETD_POSTGRES_TRUST_CONFIG permits it/);
      const walletd = await WalletdProcess.start(trusting);
      assert.equal(await walletd.end('SIGTERM'), 0);
    }));
}
