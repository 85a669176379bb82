import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArchiveOutage, GivenUpError } from '../../src/archive/archive-outage.js';
import { ShardArchive } from '../../src/archive/shard-archive.js';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import type { Archive } from '../../src/ports/archive.js';
import type { ArchiveMark } from '../../src/wallet/archive-mark.js';
import { type Archivable, archivableRounds } from '../../src/wallet/archiving.js';
import { commands, Domain } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { turnsDuring } from '../support/turns-during.js';
import { until } from '../support/until.js';

const DAY_MS = 86_400_000;
const SHARD = 0;
/** Deadline of a lookup that must give up: long enough for a first attempt on a busy machine. */
const LOOKUP_MS = 200;
const HASH_KEY = { low: 1, high: 2 };

/** One node's view of the shared archive. Lookups run only if `defer` calls its callback. */
function knowing(
  archive: Archive,
  defer: (run: () => void) => void = () => {},
  retentionDays = 40,
  required: () => ArchiveMark | undefined = () => undefined,
): ShardArchive {
  return new ShardArchive(SHARD, {
    archive,
    required,
    head: () => undefined,
    names: undefined,
    isInLog: async () => false,
    retentionMs: retentionDays * DAY_MS,
    hashKey: HASH_KEY,
    clock: systemClock,
    log: silentLogger,
    observer: { looked() {}, archived() {}, archiveFailed() {} },
    defer,
    yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
    delay: () => new Promise((resolve) => setImmediate(resolve)),
  });
}

/** Puts one of ann's rounds into the archive, as serialized at the log entry with this sequence number. */
async function put(node: ShardArchive, roundId: string, sequence: number): Promise<ArchiveMark | undefined> {
  const image = Buffer.from(roundId);
  const round = { productId: 'p', roundId, image, updatedMs: 20_000 * DAY_MS, transactions: [], remembers: false };
  return (await node.put({ epoch: 1, sequence }, [{ username: 'ann', rounds: [round] }])).mark;
}

function mayHave(node: ShardArchive, roundId: string): boolean {
  return node.mayHaveMissing('ann', 'p', { ids: [], rewardIds: [], roundIds: [roundId] });
}

/** Empties the archive, as if it had been replaced by a new one. */
function empty(archive: MemoryArchive): void {
  archive.records = [];
  archive.marks.clear();
}

/** Expects the lookup to give up at its deadline. */
async function mustNotAnswer(node: ShardArchive, roundId: string): Promise<void> {
  const missing = { ids: [], rewardIds: [], roundIds: [roundId] };
  await assert.rejects(node.find('ann', 'p', missing, systemClock.monotonicMs() + LOOKUP_MS), GivenUpError);
}

test('keys of an archive that is behind the log are not used', async () => {
  const archive = new MemoryArchive();
  const mark = await put(knowing(archive), 'r1', 5);
  assert.deepEqual(mark, { epoch: 1, sequence: 5, index: 0 });
  const other = new MemoryArchive();
  let isOver = false;
  const node = knowing(
    other,
    (run) => run(),
    40,
    () => mark,
  );
  void node.load().then(() => {
    isOver = true;
  });
  await mustNotAnswer(node, 'new');
  assert.deepEqual([isOver, node.measures.isAway, mayHave(node, 'new')], [false, true, true]);
  other.records = archive.records;
  await other.raiseMark(SHARD, mark as ArchiveMark);
  await until('the names', () => isOver);
  assert.deepEqual([node.measures.isAway, mayHave(node, 'new')], [false, false]);
});

test('a lookup in an archive that has fallen behind gives no answer', async () => {
  const archive = new MemoryArchive();
  let mark: ArchiveMark | undefined;
  const node = knowing(
    archive,
    (run) => run(),
    40,
    () => mark,
  );
  await node.load();
  mark = await put(node, 'r1', 5);
  empty(archive);
  await mustNotAnswer(node, 'r1');
  assert.equal(node.measures.isAway, true);
});

test("a put requires the previous put's records, even before the log has its event", async () => {
  const archive = new MemoryArchive();
  const node = knowing(archive);
  await node.load();
  await put(node, 'r1', 5);
  empty(archive);
  let isOver = false;
  void put(node, 'r2', 6).then(() => {
    isOver = true;
  });
  await until('the archive is behind', () => node.measures.isBehind);
  node.close();
  assert.deepEqual([isOver, archive.records.length, archive.marks.size], [false, 0, 0]);
});

test("a repeated put requires the previous put's records even after its shard has moved", async () => {
  const archive = new MemoryArchive();
  const node = knowing(archive);
  await put(node, 'r1', 5);
  empty(archive);
  let isOver = false;
  void put(node, 'r2', 6).then(() => {
    isOver = true;
  });
  await until('the refusal', () => node.measures.isBehind);
  await node.load();
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([isOver, archive.records.length], [false, 0]);
  node.close();
});

test("a lookup requires the previous put's records, even before the log has its event", async () => {
  const archive = new MemoryArchive();
  const node = knowing(archive, (run) => run());
  await node.load();
  await put(node, 'r1', 5);
  empty(archive);
  await mustNotAnswer(node, 'r1');
  assert.equal(node.measures.isBehind, true);
});

test('a put reports which rounds the archive has refused', async () => {
  const archive = new MemoryArchive();
  const node = knowing(archive);
  await node.load();
  await archive.dropBefore(20_000);
  const roundOf = (roundId: string, day: number) => {
    const updatedMs = day * DAY_MS;
    return { productId: 'p', roundId, image: Buffer.from(roundId), updatedMs, transactions: [], remembers: false };
  };
  const late = roundOf('late', 19_999);
  const kept = roundOf('kept', 20_000);
  const put = await node.put({ epoch: 1, sequence: 1 }, [
    { username: 'ann', rounds: [late, kept] },
    { username: 'bob', rounds: [late] },
  ]);
  assert.deepEqual(put.players, [{ username: 'ann', rounds: [kept] }]);
  assert.deepEqual([archive.records.length, mayHave(node, 'late'), mayHave(node, 'kept')], [1, false, true]);
  const none = await node.put({ epoch: 1, sequence: 2 }, [{ username: 'bob', rounds: [late] }]);
  assert.deepEqual(none, { mark: undefined, players: [] });
});

test('an archive whose keys are not loaded may contain any key', async () => {
  const node = knowing(new MemoryArchive());
  assert.ok(mayHave(node, 'anything'));
  assert.ok(node.mayHaveAnyOf(commands.place([{ id: 't1' }])));
  await node.load();
  assert.ok(!mayHave(node, 'anything'));
});

for (const during of ['freshKeys', 'savedKeys', 'names'] as const) {
  test(`keys that are put during ${during} of a load are known`, async () => {
    const archive = new MemoryArchive();
    const before = knowing(archive);
    await before.load();
    await put(before, 'first', 1);
    if (during !== 'names') await before.save();
    const seen: Pick<Archive, 'freshKeys' | 'savedKeys' | 'names'> = {
      async *freshKeys(shard) {
        for await (const names of archive.freshKeys(shard)) yield names;
        if (during === 'freshKeys') await put(node, 'second', 2);
      },
      async savedKeys(shard) {
        const names = new Map(await archive.savedKeys(shard));
        if (during === 'savedKeys') await put(node, 'second', 2);
        return names;
      },
      async *names(shard, day) {
        for await (const names of archive.names(shard, day)) yield names;
        if (during === 'names') await put(node, 'second', 2);
      },
    };
    const node = knowing(Object.assign(Object.create(archive) as MemoryArchive, seen));
    await node.load();
    assert.ok(!mayHave(node, 'another'), 'it knows what is not there');
    for (const roundId of ['first', 'second']) assert.ok(mayHave(node, roundId), roundId);
    await node.save();
    const next = knowing(archive);
    await next.load();
    for (const roundId of ['first', 'second']) assert.ok(mayHave(next, roundId), `${roundId}, saved`);
  });
}

for (const during of ['freshKeys', 'savedKeys'] as const) {
  test(`a load misses no key if the former owner saves keys during ${during}`, async () => {
    const archive = new MemoryArchive();
    const before = knowing(archive);
    await before.load();
    await put(before, 'first', 1);
    await before.save();
    await put(before, 'second', 2);
    await put(before, 'third', 3);
    const seen: Pick<Archive, 'freshKeys' | 'savedKeys'> = {
      async *freshKeys(shard) {
        for await (const names of archive.freshKeys(shard)) yield names;
        if (during === 'freshKeys') await before.save();
      },
      async savedKeys(shard) {
        const names = new Map(await archive.savedKeys(shard));
        if (during === 'savedKeys') await before.save();
        return names;
      },
    };
    const after = knowing(Object.assign(Object.create(archive) as MemoryArchive, seen));
    await after.load();
    assert.ok(!mayHave(after, 'another'), 'it knows what is not there');
    for (const roundId of ['first', 'second', 'third']) assert.ok(mayHave(after, roundId), roundId);
  });
}

test('keys saved under a different retention are reread only once', async () => {
  const archive = new MemoryArchive();
  let reads = 0;
  const counted: Pick<Archive, 'names'> = {
    names(shard, day) {
      reads++;
      return archive.names(shard, day);
    },
  };
  const readsOf = async (retentionDays: number, roundId: string, sequence: number) => {
    reads = 0;
    const node = knowing(Object.assign(Object.create(archive) as MemoryArchive, counted), undefined, retentionDays);
    await node.load();
    await put(node, roundId, sequence);
    await node.save();
    return reads;
  };
  await readsOf(40, 'first', 1);
  assert.equal(await readsOf(80, 'second', 2), 1);
  assert.equal(await readsOf(80, 'third', 3), 0);
  const last = knowing(archive, undefined, 80);
  await last.load();
  for (const roundId of ['first', 'second', 'third']) assert.ok(mayHave(last, roundId), roundId);
});

test('of two records with the same log entry, the later one is found', async () => {
  const archive = new MemoryArchive();
  const node = knowing(archive, setImmediate);
  const domain = new Domain();
  domain.fund('ann', 1000);
  const lsn = { epoch: 1, sequence: 7 };
  const leave = async () => {
    const rounds = archivableRounds(domain.wallet('ann'), Number.POSITIVE_INFINITY, 0, 10);
    await node.put(lsn, [{ username: 'ann', rounds }]);
    return rounds[0] as Archivable;
  };
  domain.run(commands.place([{ id: 'a', betAmount: 10 }]));
  domain.run(commands.settle([{ id: 'a', payoutAmount: 20 }]));
  const { image: before } = await leave();
  domain.run(commands.void([{ id: 'a' }]));
  const { productId, roundId, image: after } = await leave();
  assert.notDeepEqual(after, before);
  const found = await node.find('ann', productId, { ids: [], rewardIds: [], roundIds: [roundId] });
  assert.deepEqual(found.images, [after]);
});

test('lookups for expired requests are not retried during an outage', async () => {
  const archive = new MemoryArchive();
  const node = knowing(archive, setImmediate);
  let asked = 0;
  const away = async () => {
    asked++;
    throw new Error('the archive is away');
  };
  Object.assign(archive, { find: away, list: away });
  await assert.rejects(
    node.list('ann', 9, 9, () => false),
    GivenUpError,
  );
  assert.equal(asked, 1);
  const missing = { ids: [], rewardIds: [], roundIds: ['r'] };
  const [late, wanted] = [0, 1].map((ms) => node.find('ann', 'p', missing, ms * (systemClock.monotonicMs() + 5)));
  await assert.rejects(Promise.resolve(late), GivenUpError);
  await assert.rejects(Promise.resolve(wanted), GivenUpError);
});

test('unreadable keys are looked up in the archive', async () => {
  const archive = new MemoryArchive();
  const before = knowing(archive);
  await put(before, 'r1', 5);
  await put(before, 'r2', 6);
  const [damaged] = archive.records;
  assert.ok(damaged !== undefined);
  archive.damaged.add(damaged);
  const node = knowing(archive);
  await node.load();
  assert.equal(node.measures.skipped, 1);
  assert.equal(mayHave(node, 'r1'), true);
  assert.equal(mayHave(node, 'new'), true, 'an id of the damaged round has any name');
});

test('other work can run while the keys of many puts are loaded', async () => {
  const archive = new MemoryArchive();
  const before = knowing(archive);
  await put(before, 'r1', 5);
  await before.load();
  await put(before, 'r2', 6);
  await before.save();
  const name = (hash: number) => ({ player: hash, kind: 'round', hash }) as const;
  const names = Array.from({ length: 400_000 }, (_, i) => name(i));
  Object.assign(archive, {
    async *freshKeys() {
      yield { day: 20_000, names };
    },
  });
  const node = knowing(archive);
  const turns = await turnsDuring(() => node.load());
  assert.ok(node.measures.names > names.length * 0.99, 'nearly none has the hash of another');
  assert.ok(turns > 10, `${turns} turns`);
});

test('an archive outage is logged immediately, and every ten seconds until it ends', async () => {
  const codes: unknown[] = [];
  const clock = { ...systemClock, nowMs: 0, monotonicMs: () => clock.nowMs };
  const log = { ...silentLogger, warn: ({ code }: { readonly code: string }) => void codes.push(code) };
  const observer = { looked() {}, archived() {}, archiveFailed() {} };
  const outage = new ArchiveOutage(SHARD, { clock, log, observer, delay: async () => {} });
  const fail = () => outage.ask(() => Promise.reject(new Error('refused')));
  await fail();
  clock.nowMs = 9_999;
  await fail();
  assert.deepEqual(codes, ['archive-away']);
  clock.nowMs = 10_000;
  await fail();
  assert.deepEqual(codes, ['archive-away', 'archive-away']);
});
