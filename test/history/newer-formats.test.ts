import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { KeyFilter } from '../../src/archive/key-filter.js';
import { silentLogger } from '../../src/base/logger.js';
import { readNoted } from '../../src/cli/noted-audit.js';
import { listSnapshots } from '../../src/log/snapshot-reader.js';
import { LastRun } from '../../src/node/folder/last-run.js';
import { SignedOutRecord } from '../../src/node/folder/signed-out-record.js';
import { TimeRecord } from '../../src/node/folder/time-record.js';
import { ARCHIVE_VERSION } from '../../src/ports/archive.js';
import { NewerFormatError } from '../../src/ports/recovery-error.js';
import { EntryCodec, FORMAT_VERSION, genesisHead } from '../../src/store/format/entry-codec.js';
import { CHANGE, ENDPOINT_NUMBER, EVENT, tupleToEvent } from '../../src/store/format/event-codec.js';
import { openKeyFile } from '../../src/store/format/key-file.js';
import { SNAPSHOT_VERSION, SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { DECISIONS_OF_TODAY, decodeMeta, encodeMeta, META_VERSION } from '../../src/store/meta.js';
import { NodeRecord } from '../../src/store/node-record.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import { BACKUP_VERSION, checkFileHeader, sealFileHeader } from '../../src/tools/backup/backup-format.js';
import { openFrames } from '../../src/tools/backup/frame-codec.js';
import { findLosses } from '../../src/tools/loss/accept-loss.js';
import { cleanUp } from '../support/clean-up.js';
import type { MemoryWal } from '../support/memory-wal.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { runSql } from '../support/postgres-databases.js';
import { newTempFolder } from '../support/temp-folder.js';
import { TestHost } from '../support/test-host.js';
import { formats, META, recordedHistory, STORE_ID } from '../tools/recorded-store.js';
import { recoveryDeps } from './store-writer.js';

/*
 * Each kind of stored file, with a format number that only a newer walletd knows. No reader may guess the meaning of
 * such bytes, and no refusal may suggest damage: the remedy is the newer release, never a backup.
 */
const KIND_OF_ENTRY = 4;
const FRAME_TYPE = 8;
const NODE_FILE_FORMAT = 2;
const STORE = 'lmdb:/data';

function entry(at: number, value: number): Buffer {
  const codec = new EntryCodec(STORE_ID);
  const [previous, nonce] = [genesisHead(STORE_ID, 0), '0123456789abcdef'];
  const header = { shard: 0, lsn: { epoch: 1, sequence: 1 }, nonce, previous, timeMs: 1 };
  const { bytes } = codec.encodeFence(header, { host: 'a', pid: 1, startedMs: 1 });
  bytes.writeUInt8(value, at);
  bytes.writeUInt32BE(crc32(bytes.subarray(72), crc32(bytes.subarray(0, 68))), 68);
  return bytes;
}

const largest = (numbers: Readonly<Record<string, number>>) => Math.max(...Object.values(numbers));
const callback = (endpoint: number, change: number) => [8, 'ann', 2, 0, endpoint, 'r', 'p', 1, 0, [[change, 'b', 0]]];

/** A complete store in memory, in which the newest snapshot of shard 0 is in a newer format. */
async function withNewerSnapshot(format: number): Promise<MemoryWal> {
  const wal = await recordedHistory({ keep: 1 });
  const [newest] = (await listSnapshots(0, { ...formats, snapshots: wal })).whole;
  const snapshot = (await wal.snapshots(0)).find(({ id }) => id === newest?.id);
  const json = Buffer.from(String(snapshot?.manifest?.subarray(4)).replace(/"version":\d+/, `"version":${format}`));
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(json));
  const { manifest } = snapshot as { readonly manifest: Buffer };
  assert.equal(json.length + 4, manifest.length);
  Buffer.concat([checksum, json]).copy(manifest);
  return wal;
}

async function archiveInFolder(version: number): Promise<void> {
  const folder = newTempFolder();
  LmdbArchive.identify(folder, STORE_ID);
  writeFileSync(join(folder, 'archive.json'), JSON.stringify({ version, storeId: STORE_ID }));
  await LmdbArchive.open(folder, STORE_ID).close();
}

function backup(version: number): void {
  const bytes = sealFileHeader();
  bytes.writeUInt16BE(version, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 12)), 12);
  checkFileHeader(bytes);
}

function keyFile(version: number): void {
  const json = Buffer.from(JSON.stringify({ version, storeId: STORE_ID, shard: 0, head: [1, 1, '', 1], parts: [] }));
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(json.length, 0);
  bytes.writeUInt32BE(crc32(json), 4);
  openKeyFile(Buffer.concat([bytes, json]), STORE_ID, 0);
}

/** Writes a file into the node's folder under its usual name, and reads it. */
async function nodeFile(write: (folder: string) => unknown, read: (folder: string) => unknown): Promise<void> {
  const folder = newTempFolder();
  await write(folder);
  const [name] = readdirSync(folder);
  const path = join(folder, String(name));
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), format: NODE_FILE_FORMAT }));
  read(folder);
}

interface Kind {
  /** The kind of file, in the words of the refusal. */
  readonly named: string;
  readonly number: string;
  readonly open: () => unknown;
}

const signOuts = (folder: string) => new SignedOutRecord(folder, STORE, silentLogger);
const lastRun = (folder: string) => LastRun.read(folder, STORE, silentLogger);
const KINDS: Readonly<Record<string, Kind>> = {
  'an entry': {
    named: 'the entry',
    number: `format ${FORMAT_VERSION + 1}`,
    open: () => new EntryCodec(STORE_ID).decode(entry(0, FORMAT_VERSION + 1)),
  },
  'a kind of entry': {
    named: 'entry 1-1',
    number: `kind ${KIND_OF_ENTRY}`,
    open: () => new EntryCodec(STORE_ID).decode(entry(1, KIND_OF_ENTRY)),
  },
  'an event': {
    named: 'the entry',
    number: `event type ${largest(EVENT) + 1}`,
    open: () => tupleToEvent([largest(EVENT) + 1, 'ann', 2, 0], 0),
  },
  'a change': {
    named: 'the entry',
    number: `change type ${largest(CHANGE) + 1}`,
    open: () => tupleToEvent(callback(0, largest(CHANGE) + 1), 0),
  },
  'an endpoint': {
    named: 'the entry',
    number: `endpoint ${largest(ENDPOINT_NUMBER) + 1}`,
    open: () => tupleToEvent(callback(largest(ENDPOINT_NUMBER) + 1, 1), 0),
  },
  'a meta record': {
    named: 'the store',
    number: `format ${META_VERSION + 1}`,
    open: () => decodeMeta(encodeMeta({ ...META, formatVersion: META_VERSION + 1 })),
  },
  'the decisions of a store': {
    named: 'the store',
    number: `decisions ${DECISIONS_OF_TODAY + 1}`,
    open: () => decodeMeta(encodeMeta({ ...META, decisions: DECISIONS_OF_TODAY + 1 })),
  },
  'a snapshot': {
    named: 'the snapshot',
    number: `format ${SNAPSHOT_VERSION + 1}`,
    open: async () => listSnapshots(0, { ...formats, snapshots: await withNewerSnapshot(SNAPSHOT_VERSION + 1) }),
  },
  'an LMDB archive': {
    named: 'the archive',
    number: `format ${ARCHIVE_VERSION + 1}`,
    open: () => archiveInFolder(ARCHIVE_VERSION + 1),
  },
  'a backup': {
    named: 'a backup',
    number: `format ${BACKUP_VERSION + 1}`,
    open: () => backup(BACKUP_VERSION + 1),
  },
  'a frame of a backup': {
    named: 'the frame',
    number: `frame type ${FRAME_TYPE}`,
    open: () => openFrames(Buffer.concat([Buffer.from([FRAME_TYPE]), Buffer.alloc(10)])),
  },
  'the record of acknowledged entries': {
    named: 'acknowledged-',
    number: `format ${NODE_FILE_FORMAT}`,
    open: () =>
      nodeFile(
        (folder) => NodeRecord.open(folder, STORE).write(STORE_ID, []),
        (folder) => NodeRecord.open(folder, STORE),
      ),
  },
  'the confirmed time': {
    named: 'time-',
    number: `format ${NODE_FILE_FORMAT}`,
    open: () =>
      nodeFile(
        (folder) => TimeRecord.read(folder, STORE).write(1),
        (folder) => TimeRecord.read(folder, STORE),
      ),
  },
  'the note of the last run': {
    named: 'run-',
    number: `format ${NODE_FILE_FORMAT}`,
    open: () => nodeFile((folder) => lastRun(folder).begin(), lastRun),
  },
  'the signed-out sessions': {
    named: 'signed-out-',
    number: `format ${NODE_FILE_FORMAT}`,
    open: () =>
      nodeFile(
        (folder) => signOuts(folder).write([]),
        (folder) => signOuts(folder).read(),
      ),
  },
  'a key filter file': {
    named: 'the key filter file',
    number: 'format 2',
    open: () => keyFile(2),
  },
  'a noted report': {
    named: 'the report',
    number: 'format 2',
    open: () => {
      const path = join(newTempFolder(), 'report.json');
      writeFileSync(path, JSON.stringify({ format: 2, storeId: STORE_ID, shards: [] }));
      readNoted(path);
    },
  },
};

for (const [kind, { named, number, open }] of Object.entries(KINDS)) {
  test(`${kind} in a newer format is refused, with its number`, async () => {
    await assert.rejects(
      async () => open(),
      ({ message }: Error) => message.includes(named) && message.includes(refusalOf(number)),
    );
  });
}

function refusalOf(number: string): string {
  return `was written by a newer walletd (${number}): use that release`;
}

test('PostgreSQL archives in a newer format are refused, with their number', { skip: whyNoPostgres() }, async (t) => {
  t.after(() => cleanUp());
  const { url } = startPostgres(tmpdir());
  const archive = new PostgresArchive(url, STORE_ID);
  await archive.days();
  await archive.close();
  await runSql(url, `UPDATE walletd_archive SET version = ${ARCHIVE_VERSION + 1}`);
  const newer = new PostgresArchive(url, STORE_ID);
  await assert.rejects(newer.days(), ({ message }: Error) =>
    message.includes(`the archive ${refusalOf(`format ${ARCHIVE_VERSION + 1}`)}`),
  );
  await newer.close();
});

test("a newer release's saved keys are not used, and can be rebuilt", () => {
  const newFilter = () => new KeyFilter(90, { low: 1, high: 2 }, () => {});
  const saved = newFilter();
  saved.add(20_000, 1, 'round', 2);
  const [[number, part]] = [...saved.unsaved()] as [[number, Buffer]];
  assert.equal(newFilter().load(new Map([[number, part]])), true);
  part.writeUInt32LE(part.readUInt32LE(0) + 1, 0);
  assert.equal(newFilter().load(new Map([[number, part]])), false);
});

test('a shard with a newer snapshot stops and names the release as the remedy', async () => {
  const wal = await withNewerSnapshot(SNAPSHOT_VERSION + 1);
  const before = (await wal.snapshots(0)).length;
  const host = new TestHost({ wal });
  await host.start();
  const [stopped, serving] = host.host.status();
  assert.deepEqual([stopped?.state, serving?.state], ['stopped', 'serving']);
  assert.match(String(stopped?.reason), /^snapshot \w+ of shard 0 cannot be read: .* \(format 6\): use that release$/);
  assert.equal((await wal.snapshots(0)).length, before);
  await host.host.close();
});

test('accept-loss does not give up entries in a snapshot of a newer release', async () => {
  const wal = await withNewerSnapshot(SNAPSHOT_VERSION + 1);
  wal.loseTail(0, 2);
  const owner = { host: 'test', pid: 1, startedMs: 0 };
  const deps = { ...recoveryDeps(wal, formats.format, owner), snapshotFormat: new SnapshotCodec(STORE_ID) };
  const tools = { ...deps, genesis: formats.genesis, newId: deps.newNonce, keepEntries: async () => 'a file' };
  const policy = { everyEntries: 0, everyMs: 0, keep: 3, historyBytesMax: 0 };
  await assert.rejects(findLosses([0], { ...tools, policy }), (error: Error) => {
    assert.ok(!(error instanceof NewerFormatError));
    return error.name === 'ToolError' && error.message.endsWith('use that release; nothing is lost');
  });
});
