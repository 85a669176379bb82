import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { restoreInShards } from '../../../src/cli/resharding.js';
import { restoreTargetOf } from '../../../src/cli/restore-target.js';
import { listSnapshots } from '../../../src/log/snapshot-reader.js';
import { readerOf } from '../../../src/node/settings/reader-of.js';
import type { Archive, ArchiveRecord } from '../../../src/ports/archive.js';
import { compareLsn, formatLsn, LSN_ZERO } from '../../../src/ports/lsn.js';
import { openFormats } from '../../../src/store/format/store-formats.js';
import { LmdbArchive } from '../../../src/store/lmdb/lmdb-archive.js';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.js';
import { decodeMeta, encodeMeta, type StoreMeta } from '../../../src/store/meta.js';
import { parseRedisAddress, type RedisAddress } from '../../../src/store/redis/redis-address.js';
import { RedisStore } from '../../../src/store/redis/redis-store.js';
import type { Store } from '../../../src/store/store.js';
import { shardOf } from '../../../src/threads/placement.js';
import { checkBackup, framesOfFile, framesOnce } from '../../../src/tools/backup/backup-reader.js';
import { fileSource, pipeSource } from '../../../src/tools/backup/backup-source.js';
import { writeNewBackup } from '../../../src/tools/backup/backup-writer.js';
import { framesOfStore } from '../../../src/tools/backup/store-frames.js';
import type { TargetStore } from '../../../src/tools/copy-ports.js';
import type { Frame, Frames } from '../../../src/tools/frame.js';
import type { At } from '../../../src/tools/point-in-time.js';
import { dryTarget } from '../../../src/tools/restore/dry-target.js';
import { MovedRecords } from '../../../src/tools/restore/moved-records.js';
import type { Restored } from '../../../src/tools/restore/restore.js';
import { verify } from '../../../src/tools/verify/verify.js';
import type { CallbackCommand, Command } from '../../../src/wallet/command.js';
import { ByteWriter } from '../../../src/wallet/records/byte-writer.js';
import { nameOfSerialized } from '../../../src/wallet/state/serialized-round.js';
import type { WalletImage } from '../../../src/wallet/state/wallet-image.js';
import type { LogsAndSnapshots } from '../../contract/store-under-test.js';
import { recovered } from '../../faults/recorded.js';
import { arbitraryStep, type Step, varied } from '../../model/arbitrary-commands.js';
import { commands } from '../../support/domain.js';
import { MemoryArchive } from '../../support/memory-archive.js';
import { MemoryWal } from '../../support/memory-wal.js';
import { RedisServer } from '../../support/redis-server.js';
import { inTempFolder } from '../../support/temp-folder.js';
import { TestHost } from '../../support/test-host.js';
import { framesOf as framesOfRecorded, IMMEDIATE, META, partsOf, recordedHistory } from '../recorded-store.js';

const PLAYERS = Array.from({ length: 24 }, (_, i) => `player-${i}`);
const START_MS = META.createdMs + 1000;
const MEMORY_MS = 1000;
const TURN_MS = 25;
const EVERYTHING = { limit: 1000, after: undefined } as const;

let redis: RedisServer;

before(async () => {
  redis = await RedisServer.start();
});

after(async () => {
  await redis.destroy();
});

/** A store that is no longer being served, and all commands that it received. */
interface History {
  readonly meta: StoreMeta;
  readonly wal: MemoryWal;
  readonly archive: MemoryArchive;
  readonly past: readonly Command[];
  readonly nowMs: number;
}

/** The command that a step sends for a player. Occasionally, it repeats a command about a closed round. */
function maybeCommand(step: Step, username: string, n: number, past: readonly Command[]): Command | undefined {
  switch (step.type) {
    case 'callback': {
      const named = (name: string) => `${name}${Math.floor(n / 200)}`;
      const txns = step.command.txns.map((txn) => ({ ...txn, id: named(txn.id), roundId: named(txn.roundId) }));
      return { ...step.command, username, txns } as CallbackCommand;
    }
    case 'again':
      return past[past.length - step.back * 20];
    case 'vary': {
      const earlier = past[past.length - step.back];
      return earlier !== undefined && 'txns' in earlier ? varied(earlier, step.element, step.change) : undefined;
    }
    case 'withdraw-all':
      return { type: 'withdraw', id: `w${n}`, username, amount: 1 };
    case 'block':
    case 'unblock':
      return { type: `${step.type}-player`, username, by: step.by } as Command;
    case 'correct':
      return { ...step.command, id: `${step.command.id}-${n}`, username };
    default:
      return undefined;
  }
}

/**
 * Plays a history with three owners, snapshots in between and entries after the last snapshot. Closed rounds are
 * archived, and some return to memory.
 */
async function played(shards: number, seed: number): Promise<History> {
  const meta = { ...META, storeId: randomUUID(), shards };
  const wal = new MemoryWal(meta.storeId, shards);
  const archive = new MemoryArchive();
  const steps = fc.sample(arbitraryStep, { numRuns: 600, seed });
  const past: Command[] = [];
  let nowMs = START_MS;
  for (let owner = 0; owner < 3; owner++) {
    const host = new TestHost({ wal, shards, archive, memoryMs: MEMORY_MS, idleMs: 1, policy: { keep: 100 } });
    host.clock.nowMs = nowMs;
    await host.start();
    const tell = async (command: Command) => {
      past.push(command);
      host.clock.nowMs += 3;
      await host.execute(command, shardOf(command.username, shards));
    };
    if (owner === 0) for (const username of PLAYERS) await tell(opening(username));
    for (let n = owner * 200; n < (owner + 1) * 200; n++) {
      const command = maybeCommand(steps[n] as Step, PLAYERS[(n * 7) % PLAYERS.length] as string, n, past);
      if (command !== undefined) await tell(command);
      if (n % 200 === 120) await host.host.takeSnapshots({ restMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
    }
    if (owner < 2) {
      host.clock.nowMs += 2 * MEMORY_MS;
      await roundsToLeave(host, wal, shards);
    }
    await host.host.close();
    nowMs = host.clock.nowMs + 1000;
  }
  return { meta, wal, archive: copyOf(archive), past, nowMs };
}

/** Copies the archive, so that a put that is still in progress when the owner ends does not reach the copy. */
function copyOf(archive: MemoryArchive): MemoryArchive {
  const copy = new MemoryArchive();
  copy.records = [...archive.records];
  for (const [shard, mark] of archive.marks) copy.marks.set(shard, mark);
  for (const [shard, names] of archive.saved) copy.saved.set(shard, new Map(names));
  return copy;
}

/**
 * Waits until rounds have left memory in the newest epoch and no more of them leave. The clock goes on meanwhile,
 * because a look at the players that began before the jump of the clock finds nothing.
 */
async function roundsToLeave(host: TestHost, wal: MemoryWal, shards: number): Promise<void> {
  const { format } = openFormats(encodeMeta({ ...META, storeId: wal.storeId, shards }));
  let still = 0;
  for (let turn = 0, before = 0; turn < 1000 && still < 3; turn++) {
    await delay(TURN_MS);
    host.clock.nowMs += TURN_MS;
    let left = 0;
    for (let shard = 0; shard < shards; shard++) {
      const { epoch } = (await wal.head(shard)).lsn;
      for (const bytes of await wal.read(shard, { epoch, sequence: 0 }, 1_000_000)) {
        left += format.decode(bytes).events.filter(({ type }) => type === 'rounds-archived').length;
      }
    }
    still = left > 0 && left === before ? still + 1 : 0;
    before = left;
  }
  assert.equal(still, 3, 'rounds leave for the archive, and at last no more do');
}

function opening(username: string): Command {
  return { type: 'import-player', id: 'open', username, currency: 'THB', balance: 1_000_000 };
}

interface FramesOptions {
  readonly at?: At;
}

function framesOf({ meta, wal, archive }: History, { at }: FramesOptions = {}): AsyncGenerator<Frame, void> {
  const source = { ...openFormats(encodeMeta(meta)), ...partsOf(wal), archive };
  return framesOfStore(source, { meta: encodeMeta(meta), now: () => 1, warn: assert.fail, at });
}

const restoring = { openFormats, retryPolicy: IMMEDIATE };

/** The wallet of each player, and the player's rounds in the archive. */
async function booksOf(
  store: Parameters<typeof partsOf>[0],
  meta: StoreMeta,
  archive: Archive,
): Promise<{ wallets: Map<string, WalletImage>; archived: string[] }> {
  const archived: string[] = [];
  for (const day of await archive.days()) {
    for (let shard = 0; shard < meta.shards; shard++) {
      for await (const records of archive.all(shard, day))
        for (const record of records) archived.push(reportedOf(record));
    }
  }
  const wallets = [...(await recovered(partsOf(store), meta))].sort(([a], [b]) => (a < b ? -1 : 1));
  return { wallets: new Map(wallets), archived: archived.sort() };
}

/** The content of a record without its position. */
function reportedOf({ shard: _shard, image, lsn, ...rest }: ArchiveRecord): string {
  const { username } = nameOfSerialized(image);
  return JSON.stringify({ username, ...rest, lsn: formatLsn(lsn), image: image.toString('hex') });
}

/** Starts a host that continues on a store, with the clock of this history. */
async function goingOn(
  parts: LogsAndSnapshots,
  { storeId, shards }: StoreMeta,
  archive: Archive,
  nowMs: number,
): Promise<TestHost> {
  const store = { ...partsOf(parts), storeId };
  const host = new TestHost({ store, shards, archive, memoryMs: 3_600_000 });
  host.clock.nowMs = nowMs;
  await host.start();
  return host;
}

/**
 * Sends all past commands again to both hosts, and then some new ones. Both hosts must give the same answers and end
 * with the same books.
 */
async function compareFutures(history: History, parts: LogsAndSnapshots, meta: StoreMeta, archive: Archive) {
  const { past, nowMs } = history;
  const old = await goingOn(partsOf(history.wal), history.meta, history.archive, nowMs);
  const young = await goingOn(parts, meta, archive, nowMs);
  const news = PLAYERS.map((username) => commands.place([{ id: 'new', roundId: 'new' }], { username }));
  let repeats = 0;
  for (const command of [...past, ...news]) {
    const { username } = command;
    const expected = await old.execute(command, shardOf(username, history.meta.shards));
    const actual = await young.execute(command, shardOf(username, meta.shards));
    assert.deepEqual(actual, expected, JSON.stringify(command));
    if (actual.type === 'accepted') repeats++;
  }
  assert.ok(repeats > 200, `${repeats} were accepted`);
  for (const username of PLAYERS) {
    for (const type of ['list-transactions', 'list-operations', 'read-player'] as const) {
      const query = { type, username, ...EVERYTHING };
      const expected = await old.ask(query, shardOf(username, history.meta.shards));
      assert.deepEqual(await young.ask(query, shardOf(username, meta.shards)), expected);
    }
  }
  await old.host.close();
  await young.host.close();
}

/** Checks all properties of a store into which a history was restored. */
async function check(history: History, store: Store, archive: Archive, result: Restored): Promise<void> {
  const meta = await store.meta.tryRead();
  assert.ok(meta);
  assert.equal(meta.storeId, result.storeId);
  assert.notEqual(meta.storeId, history.meta.storeId);
  assert.deepEqual(meta.scales, history.meta.scales);
  assert.ok(history.archive.records.length > 20, `${history.archive.records.length} rounds are in the archive`);
  const books = await booksOf(history.wal, history.meta, history.archive);
  assert.deepEqual(await booksOf(store, meta, archive), books);
  assert.equal(books.wallets.size, PLAYERS.length);
  const { events, tombstones } = await kindsOf(history);
  for (const kind of ['rounds-archived', 'rounds-restored', 'corrected', 'withdrawn', 'player-blocked']) {
    assert.ok(events.has(kind), `${kind} has happened`);
  }
  assert.ok(tombstones > 0, 'cancels of what is unknown are remembered');
  await checkVerified(store, meta, archive);
  await compareFutures(history, store, meta, archive);
  await checkVerified(store, meta, archive);
}

/** The kinds of events in a history, to check that it covers all kinds. */
async function kindsOf({ meta, wal }: History): Promise<{ events: Set<string>; tombstones: number }> {
  const { format } = openFormats(encodeMeta(meta));
  const events = new Set<string>();
  let tombstones = 0;
  for (let shard = 0; shard < meta.shards; shard++) {
    for (const bytes of await wal.read(shard, LSN_ZERO, 1_000_000)) {
      for (const event of format.decode(bytes).events) {
        events.add(event.type);
        if (event.type !== 'callback-applied') continue;
        tombstones += event.changes.filter(
          ({ type }) => type === 'cancel-remembered' || type === 'round-marked',
        ).length;
      }
    }
  }
  return { events, tombstones };
}

async function checkVerified(store: Store, meta: StoreMeta, archive: Archive): Promise<void> {
  const report = await verify(readerOf(store, meta, archive), { isDeep: true, server: undefined });
  assert.deepEqual(report.findings.listed, []);
  assert.deepEqual(
    report.shards.map(({ players, accepted }) => [players, accepted]),
    Array.from({ length: meta.shards }, (_, shard) => {
      return [PLAYERS.filter((username) => shardOf(username, meta.shards) === shard).length, []];
    }),
  );
}

test('LMDB restored from 8 into 3 shards has the same books, archive and answers', () =>
  inTempFolder(async (folder) => {
    const history = await played(8, 1);
    const store = LmdbStore.open(`${folder}/data`);
    let archive: LmdbArchive | undefined;
    const target = restoreTargetOf(store, {
      open: async (storeId) => {
        archive = LmdbArchive.open(`${folder}/archive`, storeId);
        return archive;
      },
      renew: async (storeId) => LmdbArchive.renew(`${folder}/archive`, storeId),
    });
    const result = await restoreInShards(framesOf(history), target, 3, restoring);
    assert.equal(result.shards.length, 3);
    assert.ok(archive);
    assert.equal((await store.meta.tryRead())?.archiveId, LmdbArchive.identify(`${folder}/archive`, result.storeId));
    await check(history, store, archive, result);
    await archive.close();
    await store.close();
  }));

test('Redis restored from 3 into 16 shards has the same books, archive and answers', () =>
  inTempFolder(async (folder) => {
    const address = parseRedisAddress(redis.url) as RedisAddress;
    const readings: Readonly<Record<string, (path: string) => Promise<Frames>>> = {
      file: async (path) => framesOfFile(path, await checkBackup(path)),
      pipe: async (path) => framesOnce(pipeSource('a pipe', fileSource(path).open()), { onEnd() {} }),
    };
    for (const [name, read] of Object.entries(readings)) {
      const history = await played(3, 2);
      const path = `${folder}/${name}.backup`;
      await (await writeNewBackup(path, framesOf(history), new AbortController().signal)).close();
      const store = new RedisStore({ address, prefix: name, durability: { type: 'fsync' }, trustConfig: false });
      const archive = new MemoryArchive();
      const target = restoreTargetOf(store, { open: async () => archive, renew: async () => 'new' });
      const result = await restoreInShards(await read(path), target, 16, restoring);
      assert.equal((await store.meta.tryRead())?.archiveId, 'new');
      await check(history, store, archive, result);
      await store.close();
    }
  }));

/** An in-memory target, whose contents exist only after its creation. */
class MemoryTarget implements TargetStore {
  readonly archive = new MemoryArchive();
  created: StoreMeta | undefined = undefined;
  completed: StoreMeta | undefined = undefined;
  wal = new MemoryWal(randomUUID(), 0);
  append: TargetStore['append'] = (appends) => this.wal.append(appends);
  read: TargetStore['read'] = (...args) => this.wal.read(...args);
  snapshots: TargetStore['snapshots'] = (shard) => this.wal.snapshots(shard);
  beginSnapshot: TargetStore['beginSnapshot'] = (...args) => this.wal.beginSnapshot(...args);
  writeChunk: TargetStore['writeChunk'] = (...args) => this.wal.writeChunk(...args);
  publishSnapshot: TargetStore['publishSnapshot'] = (...args) => this.wal.publishSnapshot(...args);
  deleteSnapshot: TargetStore['deleteSnapshot'] = (...args) => this.wal.deleteSnapshot(...args);
  openArchive = async () => this.archive;

  async createIncomplete(meta: Buffer): Promise<boolean> {
    this.created = decodeMeta(meta);
    this.wal = new MemoryWal(this.created.storeId, this.created.shards);
    return true;
  }

  async complete(meta: Buffer): Promise<void> {
    this.completed = decodeMeta(meta);
  }
}

async function resharded(frames: Frames, shards: number, at?: At, retryPolicy = IMMEDIATE) {
  const target = new MemoryTarget();
  const result = await restoreInShards(frames, target, shards, { openFormats, at, retryPolicy });
  assert.ok(target.completed);
  return { target, result, meta: target.completed };
}

test('each new log starts with a fence and snapshot newer than all old logs', async () => {
  const history = await played(3, 3);
  const { target, result, meta } = await resharded(framesOf(history), 5);
  const heads = await Promise.all([0, 1, 2].map((shard) => history.wal.head(shard)));
  const epoch = Math.max(...heads.map(({ lsn }) => lsn.epoch)) + 1;
  const sequence = Math.max(...heads.map(({ lsn }) => lsn.sequence)) + 1;
  const { format } = openFormats(encodeMeta(meta));
  for (const { shard, lsn, snapshot, entries } of result.shards) {
    assert.deepEqual([lsn, snapshot, entries], [{ epoch, sequence }, lsn, 1]);
    const [bytes, ...others] = await target.wal.read(shard, LSN_ZERO, 10);
    assert.ok(bytes !== undefined && others.length === 0);
    const entry = format.decode(bytes);
    assert.deepEqual(entry.head, await target.wal.head(shard));
    assert.ok(entry.owner !== undefined && entry.lsn.sequence > 1, 'a log that nobody takes for complete');
    assert.equal((await target.wal.snapshots(shard)).length, 1);
  }
  for (const { lsn } of target.archive.records) assert.ok(compareLsn(lsn, { epoch, sequence }) < 0);
});

test("a new log without its snapshot does not count as an empty store's log", async () => {
  const { target, meta } = await resharded(framesOf(await played(3, 4)), 2);
  const [stored] = await target.wal.snapshots(0);
  target.wal.snapshotsOf(0).delete(stored?.id ?? '');
  await assert.rejects(recovered(partsOf(target.wal), meta), /begins with .*, and there is no complete snapshot/);
});

test('a store restored to its former shard count has the same books', async () => {
  const history = await played(3, 5);
  const books = await booksOf(history.wal, history.meta, history.archive);
  const there = await resharded(framesOf(history), 7);
  const young = { ...history, meta: there.meta, wal: there.target.wal, archive: there.target.archive };
  const back = await resharded(framesOf(young), 3);
  assert.deepEqual(await booksOf(back.target.wal, back.meta, back.target.archive), books);
});

test('resharding to an earlier moment matches a restore with an unchanged shard count', async () => {
  const history = await played(3, 6);
  const { format, snapshotFormat } = openFormats(encodeMeta(history.meta));
  let snapshotMs = 0;
  for (let shard = 0; shard < 3; shard++) {
    const { whole } = await listSnapshots(shard, { snapshots: history.wal, snapshotFormat });
    snapshotMs = Math.max(snapshotMs, whole[0]?.timeMs ?? 0);
  }
  const log = (await history.wal.read(1, LSN_ZERO, 1_000_000)).map((bytes) => format.decode(bytes));
  const entry = log.find(({ timeMs }) => timeMs > snapshotMs);
  assert.ok(entry !== undefined && entry !== log.at(-1));
  const moments: readonly At[] = [
    { type: 'time', timeMs: entry.timeMs },
    { type: 'lsns', lsns: new Map([[1, entry.lsn]]) },
  ];
  for (const at of moments) {
    const plain = new MemoryTarget();
    await restoreInShards(framesOf(history, { at }), plain, undefined, { ...restoring, at });
    const expected = await booksOf(plain.wal, history.meta, plain.archive);
    // A backup contains all entries, so the restore must leave out later ones.
    for (const frames of [framesOf(history, { at }), framesOf(history)]) {
      const { target, meta } = await resharded(frames, 4, at);
      assert.deepEqual(await booksOf(target.wal, meta, target.archive), expected);
    }
    assert.notDeepEqual(expected, await booksOf(history.wal, history.meta, history.archive));
  }
});

test('an unused store can be restored with a different number of shards', async () => {
  const meta = { ...META, storeId: randomUUID(), shards: 2 };
  const wal = new MemoryWal(meta.storeId, 2);
  const empty = { meta, wal, archive: new MemoryArchive(), past: [], nowMs: 0 };
  const { target, result } = await resharded(framesOf(empty), 3);
  assert.deepEqual(
    result.shards.map(({ lsn }) => lsn.sequence),
    [0, 0, 0],
  );
  assert.equal((await target.wal.head(2)).lsn.sequence, 0);
});

test('a restore waits out an outage of the target and sends the bytes again', async () => {
  const history = await played(3, 7);
  const books = await booksOf(history.wal, history.meta, history.archive);
  for (const faultMode of ['not-written', 'answer-lost'] as const) {
    let target: MemoryTarget | undefined;
    const frames = async function* () {
      for await (const frame of framesOf(history)) {
        yield frame;
        if (target !== undefined && frame.type === 'meta') target.wal.faultMode = faultMode;
      }
    };
    let attempts = 0;
    const wait = async () => {
      if (target !== undefined && ++attempts % 2 === 0) {
        target.wal.faultMode = target.wal.faultMode === 'fine' ? faultMode : 'fine';
      }
    };
    target = new MemoryTarget();
    const retryPolicy = { ...IMMEDIATE, attemptsMax: 10, delay: wait };
    await restoreInShards(frames(), target, 4, { openFormats, retryPolicy });
    assert.ok(attempts > 0 && target.completed !== undefined);
    assert.deepEqual(await booksOf(target.wal, target.completed, target.archive), books);
  }
});

test('a dry run makes all checks and reports the result of a real restore', async () => {
  const history = await played(3, 8);
  const { shards } = await restoreInShards(framesOf(history), dryTarget(true), 4, restoring);
  assert.equal(shards.length, 4);
  await assert.rejects(
    restoreInShards(framesOf(history), dryTarget(false), 4, restoring),
    /the new store has no archive/,
  );
});

test('damage stops the restore, and the store is not ready to serve', async () => {
  const history = await played(3, 9);
  const cases: readonly (readonly [(frame: Frame, entry: number) => Frame[], RegExp])[] = [
    [(frame, entry) => (entry === 3 ? [] : [frame]), /does not follow/],
    [(frame) => (frame.type === 'end' ? [] : [frame]), /an end comes last/],
    [(frame) => (frame.type === 'chunk' ? [{ ...frame, bytes: spoiled(frame.bytes) }] : [frame]), /is damaged/],
  ];
  for (const [change, sentence] of cases) {
    const target = new MemoryTarget();
    let entries = 0;
    const frames = async function* () {
      for await (const frame of framesOf(history)) yield* change(frame, frame.type === 'entry' ? entries++ : -1);
    };
    await assert.rejects(restoreInShards(frames(), target, 4, restoring), sentence);
    assert.ok(target.created !== undefined && target.completed === undefined);
  }
});

test('a player in the wrong shard stops the restore', async () => {
  const target = new MemoryTarget();
  const result = restoreInShards(framesOfRecorded(await recordedHistory()), target, 4, restoring);
  await assert.rejects(result, /shard \d has a player who belongs to a different shard: player-/);
  assert.equal(target.completed, undefined);
});

test('players with equal hashes keep separate records in one shard', () => {
  const records = new MovedRecords(() => 0);
  const place = { day: 1, player: 7, round: 9, lsn: { epoch: 1, sequence: 5 }, index: 3, ids: [] };
  const of = (username: string, shard: number) => ({ ...place, shard, image: imageNamed(username) });
  const [ann, bob, again] = [of('ann', 0), of('bob', 1), of('bob', 1)].map((record) => records.moved(record));
  assert.deepEqual(ann, of('ann', 0));
  assert.deepEqual(bob, { ...of('bob', 0), index: bob?.index });
  assert.notEqual(bob?.index, ann?.index);
  assert.deepEqual(again, bob, 'a record that comes once more is the same one');
});

function spoiled(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1);
  return copy;
}

/** The part of a serialized round that contains its name. */
function imageNamed(username: string): Buffer {
  const bytes = new ByteWriter();
  bytes.text(username);
  for (const number of [1, 0, 0]) bytes.number(number);
  bytes.text('P1');
  bytes.text('r1');
  return bytes.copied();
}
