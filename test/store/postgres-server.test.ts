import assert from 'node:assert/strict';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { isOutage } from '../../src/base/outage-error.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { judgeServer, refuseServer } from '../../src/store/postgres/server-check.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { FaultyNetwork } from '../faults/faulty-network.js';
import { makeCertificate } from '../support/certificate.js';
import { cleanUp } from '../support/clean-up.js';
import { freePort } from '../support/free-port.js';
import { PgBouncer, whyNoPgBouncer } from '../support/pg-bouncer.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { inTempFolder } from '../support/temp-folder.js';

const [STORE_ID, OTHER_ID] = ARCHIVE_STORES;
const FACTS = {
  version: '15.1',
  major: 15,
  isStandby: false,
  isPooled: false,
  settings: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
  hasChecksums: true,
};

test('the refusal of a server names its first weak setting and the fix', () => {
  refuseServer(FACTS, false);
  refuseServer({ ...FACTS, settings: { ...FACTS.settings, synchronous_commit: 'remote_apply' } }, false);
  for (const [changes, sentence] of [
    [{ major: 11, version: '11.22' }, /version 11\.22; upgrade it/],
    [{ isStandby: true }, /read-only replica; name the primary/],
    [{ settings: { ...FACTS.settings, fsync: 'off' } }, /fsync off.*ALTER SYSTEM SET fsync = on/],
    [{ settings: { ...FACTS.settings, synchronous_commit: 'off' } }, /synchronous_commit off.*ALTER ROLE/],
    [{ settings: { ...FACTS.settings, synchronous_commit: 'local' } }, /synchronous_commit local/],
  ] as const) {
    assert.throws(() => refuseServer({ ...FACTS, ...changes }, false), { name: 'ServerRefused', message: sentence });
  }
});

test('a server without page checksums causes a warning', () => {
  const weak = { ...FACTS, hasChecksums: false };
  refuseServer(weak, false);
  const warnings = judgeServer(weak, false).filter(({ verdict }) => verdict !== 'good');
  assert.deepEqual(
    warnings.map(({ about, verdict }) => [about, verdict]),
    [['archive checksums', 'look']],
  );
  assert.match(warnings[0]?.todo ?? '', /pg_checksums --enable/);
});

test('a setting permits weak durability, but neither a replica nor an old version', () => {
  const weak = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };
  refuseServer({ ...FACTS, settings: weak }, true);
  const verdicts = judgeServer({ ...FACTS, settings: weak }, true).map(({ verdict }) => verdict);
  assert.deepEqual(verdicts, ['good', 'look', 'look', 'look', 'good']);
  assert.throws(() => refuseServer({ ...FACTS, isStandby: true }, true), { name: 'ServerRefused' });
  assert.throws(() => refuseServer({ ...FACTS, major: 11 }, true), { name: 'ServerRefused' });
});

/** Changes the file's owner to the owner of the folder. */
function chownLike(folder: string, file: string): void {
  const { uid, gid } = statSync(folder);
  chownSync(file, uid, gid);
}

const reason = whyNoPostgres() ?? whyNoPgBouncer();
if (reason !== undefined) {
  test('the checks of a real PostgreSQL', { skip: reason }, () => {});
} else {
  const server = startPostgres(tmpdir());
  const databases = new PostgresDatabases(server);
  after(async () => await cleanUp());

  const dataFolder = async () => {
    const [row] = (await runSql(server.url, 'SHOW data_directory')) as { data_directory: string }[];
    return row?.data_directory as string;
  };
  const alterSystem = async (setting: string, value: string) => {
    await runSql(server.url, `ALTER SYSTEM SET ${setting} = ${value}`, 'SELECT pg_reload_conf()');
    await untilSetting(setting, value);
  };
  /**
   * Waits until the setting is in force. A reload reaches a session between two of its statements, and new sessions at
   * once.
   */
  const untilSetting = async (setting: string, value: string) => {
    for (;;) {
      const [row] = (await runSql(server.url, `SELECT current_setting('${setting}') AS value`)) as { value: string }[];
      if (row?.value === value) return;
    }
  };
  /** Uses an archive once, on a new connection. */
  const use = async (url: string, options = { trustConfig: false, isReadOnly: false }, storeId = STORE_ID) => {
    const archive = new PostgresArchive(url, storeId, options);
    try {
      return await archive.days();
    } finally {
      await archive.close();
    }
  };

  for (const setting of ['fsync', 'full_page_writes']) {
    test(`PostgreSQL with ${setting} off is refused at each connect, unless a setting permits it`, async () => {
      const name = await databases.create();
      const bouncer = await PgBouncer.start(databases.socketFolder, 'transaction');
      const urls = [databases.url(name), bouncer.url(name)];
      const pooled = new PostgresArchive(bouncer.url(name), STORE_ID);
      for (const url of urls) assert.deepEqual(await use(url), []);
      assert.deepEqual(await pooled.days(), []);
      await alterSystem(setting, 'off');
      try {
        const sentence = new RegExp(`has ${setting} off.*ALTER SYSTEM SET ${setting} = on.*POSTGRES_TRUST_CONFIG`);
        for (const url of urls) {
          await assert.rejects(use(url), { name: 'ServerRefused', message: sentence });
          assert.deepEqual(await use(url, { trustConfig: true, isReadOnly: false }), []);
          assert.deepEqual(await use(url, { trustConfig: false, isReadOnly: true }), []);
        }
        // Behind a pooler the next transaction may run on a different server, so it is checked like a new connection.
        await assert.rejects(pooled.days(), sentence);
      } finally {
        await alterSystem(setting, 'on');
        await pooled.close();
        await bouncer.stop();
      }
    });
  }

  test('a wrong password, user or database is reported and is not an outage', async () => {
    const name = await databases.create();
    await runSql(server.url, "CREATE ROLE guarded LOGIN PASSWORD 'right'");
    const hba = `${await dataFolder()}/pg_hba.conf`;
    const before = readFileSync(hba, 'utf8');
    writeFileSync(hba, `local all guarded scram-sha-256\nlocal all unwanted reject\n${before}`);
    await runSql(server.url, 'SELECT pg_reload_conf()');
    for (const [url, sentence] of [
      [databases.url(name, 'guarded:wrong'), /^PostgreSQL does not accept the user or password in WALLETD_ARCHIVE/],
      [databases.url(name, 'guarded'), /^PostgreSQL does not accept the user or password in WALLETD_ARCHIVE/],
      [databases.url(name, 'unwanted'), /^PostgreSQL does not let this user in/],
      [databases.url(name, 'nobody_at_all'), /^PostgreSQL does not let this user in/],
      [databases.url('nothing_at_all'), /^the database that WALLETD_ARCHIVE names does not exist/],
    ] as const) {
      await assert.rejects(use(url), (error: Error) => {
        assert.match(error.message, sentence);
        assert.doesNotMatch(error.message, /wrong/);
        assert.ok(!isOutage(error));
        return true;
      });
    }
    writeFileSync(hba, before);
    await runSql(server.url, 'SELECT pg_reload_conf()');
  });

  test('a server that does not answer is an outage', async () => {
    const name = await databases.create();
    const network = await FaultyNetwork.start(`${databases.socketFolder}/.s.PGSQL.5432`);
    const { port } = network;
    network.close();
    for (const address of [
      `postgres://postgres@127.0.0.1:${port}/${name}`,
      `postgres://postgres@walletd.invalid/${name}`,
    ]) {
      await assert.rejects(use(address), (error: Error) => isOutage(error) && error.message !== '');
    }
  });

  test("the refusal of an unknown CA's certificate names the fix, sslrootcert", () =>
    inTempFolder(async (folder) => {
      const { certificateFile, keyFile } = makeCertificate(folder, 'localhost');
      const [port, data] = [await freePort(), await dataFolder()];
      const settings = readFileSync(`${data}/postgresql.conf`, 'utf8');
      const copies = [certificateFile, keyFile].map((file, i) => {
        const path = `${data}/tls-${i}.pem`;
        writeFileSync(path, readFileSync(file), { mode: 0o600 });
        chownLike(data, path);
        return path;
      });
      const name = await databases.create();
      writeFileSync(
        `${data}/postgresql.conf`,
        `${settings}\nlisten_addresses = '127.0.0.1'\nport = ${port}\nssl = on\n` +
          `ssl_cert_file = '${copies[0]}'\nssl_key_file = '${copies[1]}'\n`,
      );
      server.crash();
      server.start();
      const url = `postgres://postgres@localhost:${port}/${name}`;
      try {
        await assert.rejects(use(`${url}?sslmode=require`), (error: Error) => {
          assert.match(error.message, /not from a CA that this machine trusts: add sslrootcert=FILE/);
          return !isOutage(error);
        });
        const ca = encodeURIComponent(certificateFile);
        assert.deepEqual(await use(`${url}?sslmode=verify-full&sslrootcert=${ca}`), []);
        assert.deepEqual(await use(`${url}?sslmode=no-verify`), []);
        const byAddress = `postgres://postgres@127.0.0.1:${port}/${name}?sslrootcert=${ca}`;
        await assert.rejects(use(byAddress), /not valid for the host/);
      } finally {
        writeFileSync(`${data}/postgresql.conf`, settings);
        server.crash();
        server.start();
      }
    }));

  test('sslmode=require on a server without TLS is reported and is not an outage', async () => {
    const network = await FaultyNetwork.start(`${databases.socketFolder}/.s.PGSQL.5432`);
    const url = `postgres://postgres@127.0.0.1:${network.port}/postgres?sslmode=require`;
    await assert.rejects(use(url), (error: Error) => /has no TLS/.test(error.message) && !isOutage(error));
    network.close();
  });

  test('examine reports role, durability, replicas, rights and contents, and creates nothing', async () => {
    const name = await databases.create();
    const url = databases.url(name);
    const examined = async (address: string, storeId: string) => {
      const archive = new PostgresArchive(address, storeId);
      const findings = await archive.examine();
      await archive.close();
      return findings.map(
        ({ about, verdict, says, todo }) => `${verdict} ${about}: ${says}${todo ? ` -> ${todo}` : ''}`,
      );
    };
    const first = (await examined(url, STORE_ID)).join('\n');
    assert.match(first, /good archive server: PostgreSQL \d+.*, a primary/);
    assert.match(first, /good archive durability: fsync is on\n.*full_page_writes is on\n.*synchronous_commit is on/);
    const [{ on }] = (await runSql(url, "SELECT current_setting('data_checksums') = 'on' AS on")) as [{ on: boolean }];
    assert.match(first, on ? /good archive checksums/ : /look archive checksums: data_checksums is off/);
    assert.match(first, /good archive replicas: there are none/);
    assert.match(first, /good archive rights: .*\ngood archive: nothing has left memory yet$/);
    assert.deepEqual(await runSql(url, "SELECT to_regclass('walletd_archive') AS made"), [{ made: null }]);
    await use(url);
    assert.match((await examined(url, STORE_ID)).join('\n'), /good archive: id [0-9a-f-]{36}, 0 days, 0 MiB$/);
    assert.match((await examined(url, OTHER_ID)).join('\n'), /bad archive: .*belongs to a different store/);
    await runSql(url, 'CREATE ROLE poor LOGIN');
    const poor = databases.url(name, 'poor');
    assert.match(
      (await examined(poor, STORE_ID)).join('\n'),
      /bad archive rights: .* -> GRANT .*CREATE ON SCHEMA public TO poor;/,
    );
    await runSql(url, 'GRANT CREATE ON SCHEMA public TO poor');
    assert.match(
      (await examined(poor, STORE_ID)).join('\n'),
      /bad archive rights: .* -> ALTER TABLE walletd_rounds OWNER TO poor;/,
    );
  });

  // This test must be the last one, because the server stays a replica.
  test('a replica is refused for writing but not for reading', async () => {
    const name = await databases.create();
    const url = databases.url(name);
    await use(url);
    const data = await dataFolder();
    await runSql(server.url, 'CHECKPOINT');
    server.crash();
    writeFileSync(`${data}/standby.signal`, '');
    chownLike(data, `${data}/standby.signal`);
    server.start();
    await assert.rejects(use(url), { name: 'ServerRefused', message: /read-only replica.*pg_promote/ });
    await assert.rejects(use(url, { trustConfig: true, isReadOnly: false }), { name: 'ServerRefused' });
    assert.deepEqual(await use(url, { trustConfig: false, isReadOnly: true }), []);
  });
}
