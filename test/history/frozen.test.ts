import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { atOnce } from '../../src/base/steps.js';
import { isKnownMessage } from '../../src/cluster/known-messages.js';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import type { Manifest } from '../../src/ports/snapshot-store.js';
import type { Head } from '../../src/ports/wal.js';
import { decodeRecord, encodeRecord } from '../../src/store/format/archive-record.js';
import { EntryCodec, FORMAT_VERSION } from '../../src/store/format/entry-codec.js';
import { formatOf } from '../../src/store/format/event-codec.js';
import { FormatGate } from '../../src/store/format/format-gate.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { decodeMeta, encodeMeta } from '../../src/store/meta.js';
import { NodeRecord } from '../../src/store/node-record.js';
import { checkBackup, framesOfFile } from '../../src/tools/backup/backup-reader.js';
import type { Frame } from '../../src/tools/frame.js';
import { apply } from '../../src/wallet/apply.js';
import type { Event } from '../../src/wallet/event.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { arbitraryStep, USERNAMES } from '../model/arbitrary-commands.js';
import { Domain } from '../support/domain.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { describeWallet } from './describe-wallet.js';
import { LINK_MESSAGES } from './link-messages.js';
import { HISTORY_FOLDER, readHistories, type StoredHistory, type StoredLog } from './stored-history.js';

/*
 * The codecs of earlier releases, as freeze.ts compiled them. In a cluster with a node of such a release, its code
 * follows logs that today's code writes, and today's code follows logs that its code writes.
 */
type Frozen = typeof import('./frozen-codec.js');
type Codec = Pick<Frozen, 'EntryCodec' | 'SnapshotCodec' | 'Wallets' | 'apply' | 'atOnce'>;

const FOLDER = new URL('frozen/', HISTORY_FOLDER);
const TODAY: Codec = { EntryCodec, SnapshotCodec, Wallets, apply, atOnce };
const RUNS = 60;
const STORE_ID = '5b0c4d2e-8a41-4f6b-9c37-d1e2f3a4b5c6';
const NONCE = '0123456789abcdef';
const GENESIS: Head = { lsn: { epoch: 0, sequence: 0 }, nonce: '0'.repeat(16), checksum: 1 };
const RECORD: ArchiveRecord = {
  ...{ shard: 3, day: 20_000, player: 7, round: 9, lsn: { epoch: 2, sequence: 2 ** 40 }, index: 5 },
  ...{ ids: [{ id: 1, version: 2 }], image: Buffer.from('0102', 'hex') },
};

const histories = readHistories();
const releases = await Promise.all(
  readdirSync(FOLDER)
    .sort()
    .map(async (release) => ({
      release,
      frozen: (await import(new URL(`${release}/codec.mjs`, FOLDER).href)) as Frozen,
    })),
);

/** Encodes the events as log entries of this format, one entry for each event. */
function encoded({ EntryCodec: Entries }: Codec, events: readonly Event[], gate: FormatGate): Buffer[] {
  const codec = new Entries(STORE_ID, gate);
  let previous = GENESIS;
  return events.map((event, i) => {
    const batch = codec.beginBatch(event.timeMs);
    batch.add(event);
    const { head, bytes } = batch.seal({ shard: 0, lsn: { epoch: 1, sequence: i + 1 }, nonce: NONCE, previous });
    previous = head;
    return bytes;
  });
}

function replayed({ EntryCodec: Entries, Wallets: Kept, apply: add }: Codec, entries: readonly Buffer[]): Wallets {
  const codec = new Entries(STORE_ID);
  const wallets = new Kept();
  for (const bytes of entries) for (const event of codec.decode(bytes).events) add(wallets, event);
  return wallets;
}

/** The wallets that `reader` reads from a snapshot that `writer` took in this format. */
function through(writer: Codec, reader: Codec, wallets: Wallets, gate: FormatGate): Wallets {
  const codec = new writer.SnapshotCodec(STORE_ID, gate);
  const id = NONCE;
  const chunk = codec.beginChunk(0, id, 0);
  for (const wallet of wallets) writer.atOnce(chunk.add(wallet));
  const { bytes, summary } = chunk.seal();
  const head = { lsn: { epoch: 1, sequence: 1 }, nonce: NONCE, checksum: 1 };
  const manifest: Manifest = {
    ...{ id, shard: 0, start: head, end: head, timeMs: 1, players: wallets.count, chunks: [summary] },
    marks: [{ lsn: head.lsn, bytes: 0 }],
  };
  const there = new reader.SnapshotCodec(STORE_ID);
  const reading = there.beginReading(there.openManifest(codec.sealManifest(manifest)));
  reader.atOnce(reading.addChunk(bytes));
  return reading.finish();
}

const described = (wallets: Wallets) => [...wallets].map(describeWallet);

/**
 * Tests both directions: each side replays the other's log, and a snapshot of the result contains the same wallets as
 * today's code.
 */
function checkBothWays(frozen: Codec, events: readonly Event[], gate: FormatGate): void {
  const expected = described(replayed(TODAY, encoded(TODAY, events, gate)));
  for (const [owner, follower] of [
    [TODAY, frozen],
    [frozen, TODAY],
  ] as const) {
    const followed = replayed(follower, encoded(owner, events, gate));
    assert.deepEqual(described(through(follower, TODAY, followed, gate)), expected);
    assert.deepEqual(
      described(through(owner, follower, replayed(owner, encoded(owner, events, gate)), gate)),
      expected,
    );
  }
}

/** Events of a log up to the first one in a format that the release cannot read. */
function readable({ entries }: StoredLog, format: number): Event[] {
  const events = entries.flatMap(({ entry }) => entry.events);
  const newer = events.findIndex((event) => formatOf(event) > format);
  return newer === -1 ? events : events.slice(0, newer);
}

test('at least one release has a frozen codec', () => {
  assert.ok(releases.length > 0);
});

for (const { release, frozen } of releases) {
  const { STORE_FORMAT } = frozen;
  const gate = () => new FormatGate(STORE_FORMAT);

  test(`${release} and today's code follow each other's logs of every stored story`, () => {
    for (const { logs } of histories)
      for (const log of logs) checkBothWays(frozen, readable(log, STORE_FORMAT), gate());
  });

  test(`${release} and today's code follow each other's logs of random histories`, () => {
    fc.assert(
      fc.property(fc.array(arbitraryStep, { minLength: 1, maxLength: 40 }), (steps) => {
        const domain = new Domain();
        for (const username of USERNAMES) domain.fund(username, 100);
        for (const step of steps) if ('command' in step) domain.run(step.command);
        checkBothWays(
          frozen,
          domain.events.filter((event) => formatOf(event) <= STORE_FORMAT),
          gate(),
        );
      }),
      { numRuns: RUNS },
    );
  });

  test(`${release} reads the stored logs and meta records byte for byte`, () => {
    for (const { bytes, meta, logs } of histories) {
      assert.deepEqual(frozen.decodeMeta(bytes.meta), meta);
      assert.deepEqual(decodeMeta(frozen.encodeMeta(meta)), meta);
      assert.deepEqual(frozen.encodeMeta(meta), encodeMeta(meta));
      for (const log of logs) checkEntries(frozen, log, meta);
    }
  });

  test(`${release} refuses an entry of a newer release and names that release`, () => {
    const event: Event = { type: 'session-ended', username: 'ann', version: 2, timeMs: 1, by: undefined };
    const [bytes = Buffer.alloc(0)] = encoded(TODAY, [event], gate());
    const codec = new frozen.EntryCodec(STORE_ID);
    assert.deepEqual(codec.decode(bytes).events, [event]);
    bytes.writeUInt8(FORMAT_VERSION + 1, 0);
    bytes.writeUInt32BE(crc32(bytes.subarray(72), crc32(bytes.subarray(0, 68))), 68);
    assert.throws(() => codec.decode(bytes), /was written by a newer walletd \(format 2\): use that release/);
  });

  test(`${release} and today's code read each other's archived rounds`, () => {
    assert.deepEqual(frozen.decodeRecord(RECORD, encodeRecord(RECORD), 'x'), RECORD);
    assert.deepEqual(decodeRecord(RECORD, frozen.encodeRecord(RECORD), 'x'), RECORD);
  });

  test(`${release} and today's code read each other's backups and node records`, async () => {
    const folder = makeTempFolder();
    const [history] = histories;
    assert.ok(history !== undefined);
    const path = `${folder.path}/backup`;
    const writer = await frozen.BackupWriter.create(path);
    for (const frame of framesOf(history)) await (frame.type === 'end' ? writer.endSegment(frame) : writer.add(frame));
    await writer.close();
    for (const { check, frames } of [
      { check: checkBackup, frames: framesOfFile },
      { check: frozen.checkBackup, frames: frozen.framesOfFile },
    ]) {
      const read: Frame[] = [];
      for await (const frame of frames(path, await check(path))) read.push(frame);
      assert.deepEqual(read, framesOf(history));
    }
    const acknowledged = [[0, { lsn: { epoch: 1, sequence: 5 }, checksum: 7 }]] as const;
    for (const [theirs, ours] of [
      [frozen.NodeRecord, NodeRecord],
      [NodeRecord, frozen.NodeRecord],
    ]) {
      await theirs?.open(folder.path, 'lmdb:/data').write('id', acknowledged);
      const read = [...(ours?.open(folder.path, 'lmdb:/data').all ?? [])];
      assert.deepEqual(
        read.map(([shard, { lsn, checksum }]) => [shard, { lsn, checksum }]),
        acknowledged,
      );
    }
    folder.remove();
  });

  test(`${release} and today's code handle each other's messages or report them as unknown`, () => {
    const [theirs, ours] = [frozen.Packr, Packr].map((Packer) => new Packer({ useRecords: false, moreTypes: true }));
    for (const [type, message] of Object.entries(LINK_MESSAGES)) {
      assert.ok(isKnownMessage(ours?.unpack(theirs?.pack(message) ?? Buffer.alloc(0))), type);
      assert.ok(frozen.isKnownMessage(theirs?.unpack(ours?.pack(message) ?? Buffer.alloc(0))), type);
    }
  });
}

function checkEntries(frozen: Frozen, { entries }: StoredLog, { storeId }: StoredHistory['meta']): void {
  const codec = new frozen.EntryCodec(storeId);
  for (const { bytes, entry } of entries) {
    if (entry.events.every((event) => formatOf(event) <= frozen.STORE_FORMAT))
      assert.deepEqual(codec.decode(bytes), entry);
    else assert.throws(() => codec.decode(bytes), /was written by a newer walletd \(.*\): use that release/);
  }
}

function framesOf({ bytes, logs, meta }: StoredHistory): Frame[] {
  const entries = logs.flatMap((log) =>
    log.entries.map((one): Frame => ({ type: 'entry', shard: log.shard, bytes: one.bytes })),
  );
  const shards = logs.map(({ head }) => ({ head, snapshot: undefined }));
  return [
    { type: 'meta', bytes: bytes.meta },
    ...entries,
    { type: 'archived', record: RECORD },
    { type: 'end', coverage: { timeMs: meta.createdMs, shards } },
  ];
}
