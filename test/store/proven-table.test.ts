import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { open } from 'lmdb';
import type { ArchiveKey, ArchiveRecord } from '../../src/ports/archive.js';
import { DamagedRecordError } from '../../src/ports/damaged-record-error.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const [STORE_ID] = ARCHIVE_STORES;
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;
const FILE = '2024-10-04.mdb';
const DAYS = { first: 0, last: 99_999 };

const made: { remove: () => void }[] = [];
after(() => {
  for (const { remove } of made) remove();
});

function tempFolder(): string {
  const folder = makeTempFolder();
  made.push(folder);
  return folder.path;
}

function record(round: number, facts: Partial<ArchiveRecord> = {}): ArchiveRecord {
  const ids = [{ id: 1000 + round, version: round + 1 }];
  const lsn = { epoch: 1, sequence: round + 1 };
  return { shard: 0, day: 20_000, player: 1, round, lsn, index: 0, ids, image: Buffer.alloc(60, round), ...facts };
}

const round = (hash: number): ArchiveKey => ({ player: 1, kind: 'round', hash });
const id = (hash: number): ArchiveKey => ({ player: 1, kind: 'transaction', hash });

type Change = (table: ReturnType<ReturnType<typeof open<Buffer, Buffer>>['openDB']>) => unknown;

/** Changes a table in a day's file without the archive's knowledge. */
async function change(folder: string, table: string, run: Change): Promise<void> {
  const root = open<Buffer, Buffer>({ path: join(folder, FILE), noSubdir: true, maxDbs: 5, ...BINARY });
  await run(root.openDB({ name: table, ...BINARY }));
  await root.close();
}

const keysOf = async (folder: string, table: string) => {
  let keys: Buffer[] = [];
  await change(folder, table, (found) => {
    keys = Array.from(found.getKeys({}), (key) => Buffer.from(key as unknown as Buffer));
  });
  return keys;
};

async function filled(rounds: number): Promise<string> {
  const folder = tempFolder();
  const archive = LmdbArchive.open(folder, STORE_ID);
  await archive.put(Array.from({ length: rounds }, (_, i) => record(i)));
  await archive.close();
  return folder;
}

const isLost = (error: unknown) =>
  error instanceof DamagedRecordError && error.place.round === 1 && error.message.includes(FILE);

test('LMDB: every read that might need a lost row fails', async () => {
  const folder = await filled(3);
  const lost = (await keysOf(folder, 'rounds'))[1] as Buffer;
  await change(folder, 'rounds', (rounds) => rounds.remove(lost as never));
  // Keep the number of records constant, because a different test covers the check of that number.
  await change(folder, 'rounds', (rounds) => rounds.put(Buffer.alloc(22, 0xee) as never, Buffer.alloc(9) as never));
  const archive = LmdbArchive.open(folder, STORE_ID);
  const found = await archive.find(0, [round(0), round(2)], DAYS);
  assert.deepEqual(
    found.map((one) => one.round),
    [0, 2],
    'its neighbours are found',
  );
  assert.deepEqual(await archive.find(0, [round(9)], DAYS), []);
  await assert.rejects(archive.find(0, [round(1)], DAYS), isLost);
  await assert.rejects(archive.find(0, [id(1001)], DAYS), isLost);
  await assert.rejects(archive.find(0, [id(77)], DAYS), isLost, 'no id of the player can be ruled out');
  await assert.rejects(archive.list(0, 1, 99, 99), isLost);
  await assert.rejects(archive.read(0, [record(1)], 1), isLost);
  await assert.rejects(async () => {
    for await (const _ of archive.all(0, 20_000));
  }, isLost);
  await assert.rejects(async () => {
    for await (const _ of archive.names(0, 20_000));
  }, isLost);
  await archive.close();
});

test('LMDB: lost keys of a put count as damaged', async () => {
  const folder = await filled(3);
  const [lost] = await keysOf(folder, 'fresh');
  await change(folder, 'fresh', (fresh) => fresh.remove(lost as never));
  const archive = LmdbArchive.open(folder, STORE_ID);
  const fresh = async () => {
    const some: unknown[] = [];
    for await (const one of archive.freshKeys(0)) some.push(one);
    return some;
  };
  assert.deepEqual(await fresh(), [undefined]);
  await archive.saveKeys(0, new Map([[1, Buffer.from('part')]]), { epoch: 1, sequence: 99 });
  assert.deepEqual(await fresh(), [], 'and are gone with the next saving');
  await archive.close();
});

test('LMDB: saved keys with a missing part count as damaged', async () => {
  const folder = await filled(1);
  const archive = LmdbArchive.open(folder, STORE_ID);
  const parts = new Map([1, 2, 3].map((number) => [number, Buffer.from(`part ${number}`)]));
  await archive.saveKeys(0, parts, { epoch: 1, sequence: 99 });
  await archive.saveKeys(0, new Map([[3, undefined]]), { epoch: 1, sequence: 99 });
  const read = async (of: LmdbArchive) => [...(await of.savedKeys(0))].map(([number, part]) => [number, String(part)]);
  const whole = [
    [1, 'part 1'],
    [2, 'part 2'],
  ];
  assert.deepEqual(await read(archive), whole);
  await archive.close();
  const root = open<Buffer, Buffer>({ path: join(folder, 'names.mdb'), noSubdir: true, ...BINARY });
  await root.remove(Buffer.from([0, 0, 0, 0, 0, 2]));
  await root.close();
  const again = LmdbArchive.open(folder, STORE_ID);
  assert.ok([...(await again.savedKeys(0)).values()].every((part) => part === undefined));
  await again.saveKeys(0, parts, { epoch: 1, sequence: 99 });
  assert.equal((await read(again)).length, 3);
  await again.close();
});

test('LMDB: the next put adds the second trees to an older file', async () => {
  const folder = await filled(1200);
  for (const table of ['rounds-keys', 'fresh-keys']) await change(folder, table, (keys) => keys.drop());
  const older = LmdbArchive.open(folder, STORE_ID);
  assert.equal((await older.find(0, [round(7)], DAYS)).length, 1);
  assert.equal((await older.find(0, [id(1007)], DAYS)).length, 1);
  await older.put([record(5000, { day: 20_001 })]);
  await older.close();
  const newer = LmdbArchive.open(folder, STORE_ID);
  await newer.put([record(5001, { day: 20_001 })]);
  await until('all keys stand twice', async () => (await keysOf(folder, 'rounds-keys')).length === 1200);
  await newer.close();
  assert.deepEqual(await keysOf(folder, 'rounds-keys'), await keysOf(folder, 'rounds'));
});

test('LMDB: only the thread of shard 0 writes second trees; other threads read them', async () => {
  const folder = await filled(3);
  for (const table of ['rounds-keys', 'fresh-keys']) await change(folder, table, (keys) => keys.drop());
  const [first, other] = [LmdbArchive.open(folder, STORE_ID), LmdbArchive.open(folder, STORE_ID)];
  assert.equal((await other.find(0, [round(1)], DAYS)).length, 1);
  await other.put([record(1, { shard: 1, day: 20_001 })]);
  await delay(200);
  assert.deepEqual(await keysOf(folder, 'rounds-keys'), []);
  await first.put([record(9, { day: 20_001 })]);
  await until('all keys stand twice', async () => (await keysOf(folder, 'rounds-keys')).length === 3);
  const lost = (await keysOf(folder, 'rounds'))[1] as Buffer;
  await change(folder, 'rounds', (rounds) => rounds.remove(lost as never));
  await assert.rejects(other.find(0, [round(1)], DAYS), isLost);
  await Promise.all([first.close(), other.close()]);
});
