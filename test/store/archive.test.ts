import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client } from 'pg';
import type { Archive, ArchiveKey, ArchiveRecord } from '../../src/ports/archive.js';
import { DamagedRecordError } from '../../src/ports/damaged-record-error.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { ARCHIVE_STORES, archiveContract } from '../contract/archive.js';
import { FaultyNetwork } from '../faults/faulty-network.js';
import { cleanUp } from '../support/clean-up.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { turnsDuring } from '../support/turns-during.js';
import { until } from '../support/until.js';

const made: { remove: () => void }[] = [];
after(() => {
  for (const { remove } of made) remove();
});

function tempFolder(): string {
  const folder = makeTempFolder();
  made.push(folder);
  return folder.path;
}

const [STORE_ID, OTHER_ID] = ARCHIVE_STORES;

const inMemory = new Map<string, MemoryArchive>();
archiveContract('memory', async (name) => {
  const archive = inMemory.get(name) ?? new MemoryArchive();
  inMemory.set(name, archive);
  return archive;
});

const folders = new Map<string, string>();
archiveContract('LMDB', async (name) => {
  const folder = folders.get(name) ?? tempFolder();
  folders.set(name, folder);
  return LmdbArchive.open(folder, STORE_ID);
});

test("LMDB: another store's archive is refused", async () => {
  const folder = tempFolder();
  await LmdbArchive.open(folder, STORE_ID).close();
  assert.throws(() => LmdbArchive.open(folder, OTHER_ID), /belongs to a different store/);
});

test('LMDB: remembered messages raise the version, which an older walletd refuses', async () => {
  const folder = tempFolder();
  const about = () => JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8')) as object;
  const archiveId = LmdbArchive.identify(folder, STORE_ID);
  const archive = LmdbArchive.open(folder, STORE_ID);
  await archive.put([DAMAGED]);
  assert.deepEqual(about(), { version: 1, storeId: STORE_ID, archiveId });
  await archive.put([{ ...DAMAGED, round: 9, remembers: true }]);
  assert.deepEqual(about(), { version: 2, storeId: STORE_ID, archiveId });
  await archive.close();
  await LmdbArchive.open(folder, STORE_ID).close();
  writeFileSync(join(folder, 'archive.json'), JSON.stringify({ version: 3, storeId: STORE_ID }));
  assert.throws(() => LmdbArchive.open(folder, STORE_ID), /written by a newer walletd \(format 3\)/);
});

test('LMDB: opening refuses an archive with a missing day file', async () => {
  const folder = tempFolder();
  const archive = LmdbArchive.open(folder, STORE_ID);
  await archive.put([DAMAGED, { ...DAMAGED, day: 20_001 }]);
  await archive.close();
  const path = join(folder, '2024-10-04.mdb');
  const away = `${path}.away`;
  renameSync(path, away);
  assert.throws(() => LmdbArchive.open(folder, STORE_ID), /lacks 1 of its files, the first is .*2024-10-04\.mdb/);
  renameSync(away, path);
  const again = LmdbArchive.open(folder, STORE_ID);
  await again.dropBefore(20_001);
  await again.close();
  await LmdbArchive.open(folder, STORE_ID).close();
});

test('LMDB: a file that was truncated during its creation is reported, not opened', async () => {
  const folder = tempFolder();
  await LmdbArchive.open(folder, STORE_ID).close();
  for (const bytes of [1024, 4096, 6144]) {
    truncateSync(join(folder, 'marks.mdb'), bytes);
    // The archive must refuse the file by itself, because opening it with lmdb would crash the process.
    assert.throws(
      () => LmdbArchive.open(folder, STORE_ID),
      /marks\.mdb is cut off or damaged at its beginning: if a power cut/,
    );
  }
  rmSync(join(folder, 'marks.mdb'));
  await LmdbArchive.open(folder, STORE_ID).close();
});

test('LMDB: a day file that has lost records answers no lookup', async () => {
  const folder = tempFolder();
  const archive = LmdbArchive.open(folder, STORE_ID);
  await archive.put([DAMAGED]);
  await archive.close();
  const path = join(folder, '2024-10-04.mdb');
  const older = readFileSync(path);
  const second = LmdbArchive.open(folder, STORE_ID);
  await second.put([{ ...DAMAGED, round: 9 }]);
  await second.close();
  writeFileSync(path, older);
  const third = LmdbArchive.open(folder, STORE_ID);
  const name = { player: 1, kind: 'round', hash: 9 } as const;
  await assert.rejects(
    third.find(0, [name], { first: 0, last: 99_999 }),
    /2024-10-04\.mdb .* has 1 records, but had at least 2/,
  );
  await third.close();
});

test('LMDB: a lookup across many days does not block other work', async () => {
  const folder = tempFolder();
  const archive = LmdbArchive.open(folder, STORE_ID);
  const days = Array.from({ length: 30 }, (_, i) => 20_000 + i);
  await archive.put(days.map((day) => ({ ...DAMAGED, day })));
  const names = Array.from({ length: 300 }, (_, hash): ArchiveKey => ({ player: 1, kind: 'round', hash }));
  const turns = await turnsDuring(async () => {
    assert.equal((await archive.find(0, names, { first: 0, last: 99_999 })).length, days.length);
  });
  await archive.close();
  assert.ok(turns > 10, `${turns} turns`);
});

test('LMDB: a day stays open during a long lookup, however many other days are read', async () => {
  const archive = LmdbArchive.open(tempFolder(), STORE_ID);
  const days = Array.from({ length: 30 }, (_, i) => 20_000 + i);
  await archive.put(days.map((day) => ({ ...DAMAGED, day })));
  const names = Array.from({ length: 3000 }, (_, hash): ArchiveKey => ({ player: 1, kind: 'round', hash }));
  let isOver = false;
  const long = archive.find(0, names, { first: 20_000, last: 20_000 }).finally(() => {
    isOver = true;
  });
  long.catch(() => {});
  while (!isOver) await archive.find(0, [{ player: 1, kind: 'round', hash: 2 }], { first: 20_001, last: 99_999 });
  assert.equal((await long).length, 1);
  await archive.close();
});

const DAMAGED: ArchiveRecord = {
  shard: 0,
  day: 20_000,
  player: 1,
  round: 2,
  lsn: { epoch: 1, sequence: 1 },
  index: 0,
  ids: [{ id: 3, version: 4 }],
  image: Buffer.alloc(1000, 'walletd '),
};

/** Expects an error for the damaged record only. */
async function tellsWhatIsDamaged(archive: Archive, where: RegExp): Promise<void> {
  const { shard, day, player, round, lsn, index } = DAMAGED;
  const name = { player, kind: 'round', hash: round } as const;
  const isOfIt = (error: unknown) => {
    assert.ok(error instanceof DamagedRecordError && where.test(error.message), String(error));
    assert.deepEqual(error.place, { shard, day, player, round, lsn, index });
    return true;
  };
  await assert.rejects(archive.find(0, [name], { first: 0, last: 99_999 }), isOfIt);
  await assert.rejects(archive.read(0, [DAMAGED], player), isOfIt);
  const names: ArchiveKey[] = [];
  await assert.rejects(async () => {
    for await (const some of archive.names(0, day)) names.push(...some);
  }, isOfIt);
  assert.ok(
    names.some(({ kind, hash }) => kind === 'round' && hash === round),
    'its name is known',
  );
}

test('LMDB: a damaged round causes an error that names its file', async () => {
  const folder = tempFolder();
  const archive = LmdbArchive.open(folder, STORE_ID);
  const { image } = DAMAGED;
  await archive.put([DAMAGED]);
  await archive.close();
  const path = join(folder, '2024-10-04.mdb');
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(image); at !== -1; at = bytes.indexOf(image, at + 1)) bytes[at + 500] = 0;
  writeFileSync(path, bytes);
  const again = LmdbArchive.open(folder, STORE_ID);
  await tellsWhatIsDamaged(again, /damaged.*2024-10-04\.mdb/);
  await again.close();
});

test('LMDB: a round with truncated ids causes an error that names its file', async () => {
  const folder = tempFolder();
  const archive = LmdbArchive.open(folder, STORE_ID);
  await archive.put([DAMAGED]);
  await archive.close();
  const path = join(folder, '2024-10-04.mdb');
  const bytes = readFileSync(path);
  const ids = Buffer.from('00010000000300000004', 'hex');
  for (let at = bytes.indexOf(ids); at !== -1; at = bytes.indexOf(ids, at + 1)) bytes[at] = 0xff;
  writeFileSync(path, bytes);
  const again = LmdbArchive.open(folder, STORE_ID);
  await tellsWhatIsDamaged(again, /damaged.*2024-10-04\.mdb/);
  await assert.rejects(again.list(0, 1, 9, 9), DamagedRecordError);
  await assert.rejects(
    again.find(0, [{ player: 1, kind: 'transaction', hash: 3 }], { first: 0, last: 99_999 }),
    DamagedRecordError,
  );
  await again.close();
});

const noPostgres = whyNoPostgres();
if (noPostgres !== undefined) {
  test('PostgreSQL', { skip: noPostgres }, () => {});
} else {
  const server = startPostgres(tmpdir());
  after(async () => await cleanUp());
  let databases = 0;
  const urls = new Map<string, string>();
  const newDatabase = async () => {
    const name = `archive${databases++}`;
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return server.url.replace('/postgres?', `/${name}?`);
  };
  archiveContract('PostgreSQL', async (name) => {
    const url = urls.get(name) ?? (await newDatabase());
    urls.set(name, url);
    return new PostgresArchive(url, STORE_ID);
  });

  test('PostgreSQL: remembered messages raise the version, which an older walletd refuses', async () => {
    const url = await newDatabase();
    const client = new Client({ connectionString: url });
    await client.connect();
    const versions = async () => (await client.query('SELECT version FROM walletd_archive')).rows as object[];
    const archive = new PostgresArchive(url, STORE_ID);
    await archive.put([DAMAGED]);
    assert.deepEqual(await versions(), [{ version: 1 }]);
    await archive.put([{ ...DAMAGED, round: 9, remembers: true }]);
    assert.deepEqual(await versions(), [{ version: 2 }]);
    await archive.close();
    await client.query('UPDATE walletd_archive SET version = 3');
    const newer = new PostgresArchive(url, STORE_ID);
    await assert.rejects(newer.put([DAMAGED]), /written by a newer walletd \(format 3\)/);
    await newer.close();
    await client.end();
  });

  test("PostgreSQL: another store's archive is refused", async () => {
    const url = await newDatabase();
    const [mine, others] = [new PostgresArchive(url, STORE_ID), new PostgresArchive(url, OTHER_ID)];
    await mine.days();
    await assert.rejects(others.days(), /belongs to a different store/);
    await Promise.all([mine.close(), others.close()]);
  });

  test('PostgreSQL: a damaged round causes an error that names its table', async () => {
    const url = await newDatabase();
    const archive = new PostgresArchive(url, STORE_ID);
    await archive.put([DAMAGED]);
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('UPDATE walletd_rounds SET record = set_byte(record, 500, 0)');
    await tellsWhatIsDamaged(archive, /damaged.*walletd_rounds_\w*20000/);
    await client.query('UPDATE walletd_rounds SET record = set_byte(record, 4, 255)');
    await tellsWhatIsDamaged(archive, /damaged.*walletd_rounds_\w*20000/);
    await assert.rejects(archive.list(0, 1, 9, 9), DamagedRecordError);
    await client.end();
    await archive.close();
  });

  test('PostgreSQL: several processes can start at the same time in an empty database', async () => {
    const url = await newDatabase();
    const archives = Array.from({ length: 4 }, () => new PostgresArchive(url, STORE_ID));
    const record = { shard: 0, player: 1, round: 2, lsn: { epoch: 1, sequence: 1 }, ids: [], image: Buffer.alloc(9) };
    await Promise.all(archives.map((archive, index) => archive.put([{ ...record, day: 20_000, index }])));
    const found = await archives[0]?.find(0, [{ player: 1, kind: 'round', hash: 2 }], { first: 0, last: 99_999 });
    assert.equal(found?.length, 4);
    await Promise.all(archives.map((archive) => archive.close()));
  });

  test('PostgreSQL: a former owner cannot overwrite the saved keys of the present one', async () => {
    const url = await newDatabase();
    const [former, owner] = [new PostgresArchive(url, STORE_ID), new PostgresArchive(url, STORE_ID)];
    const record = { shard: 3, day: 20_000, player: 1, index: 0, ids: [], image: Buffer.alloc(9) };
    const [then, now] = [
      { epoch: 1, sequence: 5 },
      { epoch: 2, sequence: 9 },
    ];
    await former.put([{ ...record, round: 1, lsn: then }]);
    await owner.put([{ ...record, round: 2, lsn: now }]);
    await owner.saveKeys(3, new Map([[0, Buffer.from('both')]]), now);
    await assert.rejects(former.saveKeys(3, new Map([[0, Buffer.from('one')]]), then), /another node has the shard/);
    assert.equal((await owner.savedKeys(3)).get(0)?.toString(), 'both');
    await owner.saveKeys(3, new Map([[0, Buffer.from('more')]]), now);
    await former.saveKeys(4, new Map([[0, Buffer.from('other')]]), then);
    assert.equal((await former.savedKeys(3)).get(0)?.toString(), 'more');
    await Promise.all([former.close(), owner.close()]);
  });

  test('PostgreSQL: a connection that breaks during a transaction ends only that transaction', async () => {
    const url = new URL(await newDatabase());
    const network = await FaultyNetwork.start(`${url.searchParams.get('host')}/.s.PGSQL.5432`);
    const holder = new Client({ connectionString: url.href });
    await holder.connect();
    const archive = new PostgresArchive(`postgres://postgres@127.0.0.1:${network.port}${url.pathname}`, STORE_ID);
    const lsn = { epoch: 1, sequence: 1 };
    await archive.saveKeys(3, new Map(), lsn);
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE walletd_saved');
    const saving = archive.saveKeys(3, new Map([[0, Buffer.from('late')]]), lsn);
    const waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'walletd' AND wait_event_type = 'Lock'";
    await until('it waits for the table', async () => (await holder.query(waits)).rowCount === 1);
    network.close();
    await assert.rejects(saving, /terminated/);
    await holder.end();
    await archive.close();
  });
}
