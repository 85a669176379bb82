import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import { listSnapshots } from '../../../src/log/snapshot-reader.js';
import type { Archive, ArchiveRecord } from '../../../src/ports/archive.js';
import { formatLsn, LSN_ZERO, type Lsn } from '../../../src/ports/lsn.js';
import type { EntryFormat, Head } from '../../../src/ports/wal.js';
import { IMMEDIATE } from '../../../src/snapshot/snapshotter.js';
import { EntryCodec, genesisHead } from '../../../src/store/format/entry-codec.js';
import { UnknownFormatError } from '../../../src/store/format/format-error.js';
import { SnapshotCodec } from '../../../src/store/format/snapshot-codec.js';
import { framesAfter } from '../../../src/tools/backup/follow.js';
import { framesOfStore } from '../../../src/tools/backup/store-frames.js';
import { exportEvents } from '../../../src/tools/export/export.js';
import { type AcceptLossDeps, acceptLoss, findLosses, type Loss } from '../../../src/tools/loss/accept-loss.js';
import type { StoreReader } from '../../../src/tools/store-reader.js';
import { verify } from '../../../src/tools/verify/verify.js';
import { ScaleTable } from '../../../src/wallet/amount.js';
import { serializeRound } from '../../../src/wallet/state/serialized-round.js';
import { commands, Domain } from '../../support/domain.js';
import { MemoryWal } from '../../support/memory-wal.js';
import { TestHost } from '../../support/test-host.js';

const STORE_ID = '00000000-0000-4000-8000-00000000000a';
const newId = () => randomBytes(8).toString('hex');

function depsOf(wal: MemoryWal): AcceptLossDeps {
  return {
    wal,
    snapshots: wal,
    format: new EntryCodec(STORE_ID),
    snapshotFormat: new SnapshotCodec(STORE_ID),
    genesis: (shard) => genesisHead(STORE_ID, shard),
    clock: systemClock,
    log: silentLogger,
    delay: (ms) => delay(ms),
    attemptsMax: 1,
    yieldTurn: async () => {},
    recentBytesMax: 0,
    acknowledged: () => undefined,
    owner: { host: 'test', pid: 1, startedMs: 0 },
    newNonce: newId,
    policy: { everyEntries: 0, everyMs: 0, keep: 3, historyBytesMax: 0 },
    newId,
    keepEntries: async () => 'a file',
  };
}

const started = (wal: MemoryWal) => TestHost.started({ wal, shards: 1 });
const bet = (host: TestHost, id: string) => host.execute(commands.place([{ id }]));

/** Creates a log with a snapshot after its first entry and one after its last. */
async function played(bets: number): Promise<MemoryWal> {
  const wal = new MemoryWal(STORE_ID, 1);
  const host = await started(wal);
  await host.fund('ann', 1000);
  await host.host.takeSnapshots(IMMEDIATE);
  for (let i = 0; i < bets; i++) await bet(host, `t${i}`);
  await host.host.takeSnapshots(IMMEDIATE);
  return wal;
}

async function lossOf(wal: MemoryWal): Promise<Loss> {
  const [loss] = await findLosses([0], depsOf(wal));
  assert.ok(loss !== undefined, 'something is missing');
  return loss;
}

test('entries of a newer walletd are not a loss and are not given up', async () => {
  const wal = await played(3);
  const format = new EntryCodec(STORE_ID);
  const decode = (bytes: Buffer) => {
    const entry = format.decode(bytes);
    if (entry.lsn.sequence === 5) throw new UnknownFormatError('entry 1-5', 'kind 4');
    return entry;
  };
  const older: EntryFormat = Object.assign(Object.create(format), { decode });
  await loseNewestSnapshot(wal);
  await assert.rejects(findLosses([0], { ...depsOf(wal), format: older }), (error: Error) => {
    assert.equal(error.name, 'ToolError');
    return /entry 1-5 was written by a newer walletd \(kind 4\): use that release; nothing is lost$/.test(
      error.message,
    );
  });
});

async function serves(host: TestHost, balance: number): Promise<void> {
  const [status] = host.host.status();
  assert.equal(status?.state, 'serving', status?.reason);
  assert.equal(await host.balance('ann'), balance);
}

function readerOf(wal: MemoryWal): StoreReader {
  const scales = new ScaleTable({ default: 4, byCurrency: {} });
  return { ...depsOf(wal), storeId: STORE_ID, shards: 1, scales, shardOf: () => 0 };
}

/** Follows the log from this entry on, like a backup or an export that already has all earlier entries. */
async function follow(wal: MemoryWal, head: Head): Promise<void> {
  const stop = new AbortController();
  const options = { now: () => 0, warn: () => {}, signal: stop.signal };
  const coverage = { timeMs: 0, shards: [{ head, snapshot: undefined }] };
  for await (const { type } of framesAfter(readerOf(wal), coverage, options)) if (type === 'end') stop.abort();
}

/** Number of entries that a restore up to this one replays. */
async function entriesUpTo(wal: MemoryWal, { lsn }: Head): Promise<number> {
  const at = { type: 'lsns', lsns: new Map([[0, lsn]]) } as const;
  const options = { meta: Buffer.alloc(0), now: () => 1, warn: () => {}, at, onProgress: () => {} };
  let entries = 0;
  for await (const { type } of framesOfStore(readerOf(wal), options)) if (type === 'entry') entries++;
  return entries;
}

async function loseNewestSnapshot(wal: MemoryWal): Promise<void> {
  const [newest] = (await listSnapshots(0, depsOf(wal))).whole;
  wal.snapshotsOf(0).delete(newest?.id as string);
}

async function exported(wal: MemoryWal, head: Head): Promise<string> {
  let text = '';
  const options = { starts: [head], following: undefined, signal: new AbortController().signal };
  for await (const batch of exportEvents(readerOf(wal), options)) text += batch.text;
  return text;
}

for (const [what, lose] of [
  [
    'an entry in its middle, and the snapshots after it',
    async (wal: MemoryWal) => {
      wal.damage(0, 6);
      await loseNewestSnapshot(wal);
    },
  ],
  ['its newest entries, and a snapshot has them', async (wal: MemoryWal) => wal.loseTail(0, 3)],
] as const) {
  test(`no tool reads beyond the fence that accepts the loss of ${what}`, async () => {
    const wal = await played(8);
    await lose(wal);
    const before = await wal.head(0);
    const mended = await acceptLoss(await lossOf(wal), depsOf(wal));
    const host = await started(wal);
    await serves(host, what.startsWith('an entry') ? 970 : 920);
    await bet(host, 'later');
    const accepted = /entry 1002-\d+ of shard 0 does not follow from the entries before it: a loss was accepted/;
    await assert.rejects(follow(wal, before), accepted);
    await assert.rejects(exported(wal, before), accepted);
    await assert.rejects(exported(wal, before), new RegExp(`--from 0:${formatLsn(mended.head.lsn)}$`));
    assert.match(await exported(wal, mended.head), /"later"/);
    await follow(wal, mended.head);

    const { findings, shards } = await verify(readerOf(wal), { isDeep: true, server: undefined });
    assert.deepEqual(findings.listed, []);
    assert.match(String(shards[0]?.accepted), /; the loss was accepted at 1002-\d+$/);

    await loseNewestSnapshot(wal);
    await lossOf(wal);
  });
}

test('accepting a later loss does not accept damage before a complete snapshot', async () => {
  const wal = new MemoryWal(STORE_ID, 1);
  const keepingAll = () => TestHost.started({ wal, shards: 1, policy: { keep: 10 } });
  const host = await keepingAll();
  await host.fund('ann', 1000);
  for (let i = 0; i < 12; i++) {
    if (i % 4 === 0) await host.host.takeSnapshots(IMMEDIATE);
    await bet(host, `t${i}`);
  }
  await host.host.takeSnapshots(IMMEDIATE);
  wal.loseTail(0, 3);
  await acceptLoss(await lossOf(wal), depsOf(wal));
  const next = await keepingAll();
  for (let i = 0; i < 3; i++) await bet(next, `u${i}`);
  const look = () => verify(readerOf(wal), { isDeep: true, server: undefined });
  assert.deepEqual((await look()).findings.listed, []);

  wal.damage(0, 4);
  const early = await look();
  assert.deepEqual(
    early.findings.listed.map(({ message }) => message.replace(/;.*/, '')),
    ['the log of shard 0 cannot be read: entry 1-4 is damaged: wrong checksum'],
  );
  assert.equal(early.shards[0]?.accepted.length, 1, 'the fence');
  wal.damage(0, (await wal.head(0)).lsn.sequence - 1);
  assert.equal((await look()).findings.count('log'), 2);
});

test('entries that are lost after an accepted loss can be restored', async () => {
  const wal = await played(8);
  wal.loseTail(0, 3);
  await acceptLoss(await lossOf(wal), depsOf(wal));
  const next = await started(wal);
  for (let i = 0; i < 3; i++) await bet(next, `u${i}`);
  await next.host.takeSnapshots(IMMEDIATE);
  const last = await started(wal);
  const before = await wal.read(0, LSN_ZERO, 100);
  for (const lost of [2, 4, 7]) {
    wal.loseTail(0, wal.entries(0).length - before.length + lost);
    assert.equal((await bet(last, `v${lost}`)).type, 'accepted', `${lost} lost`);
    assert.deepEqual((await wal.read(0, LSN_ZERO, 100)).slice(0, before.length), before);
  }
});

test('a store can be restored to entries before an accepted loss', async () => {
  const wal = await played(8);
  wal.loseTail(0, 3);
  const before = await wal.head(0);
  await acceptLoss(await lossOf(wal), depsOf(wal));
  assert.equal(await entriesUpTo(wal, before), before.lsn.sequence - 1, 'from the snapshot at the second');
  assert.equal(await entriesUpTo(wal, await wal.head(0)), 1, 'the fence, and the snapshot at it');
});

test('readers at the end of a log continue after it loses only its tail', async () => {
  const wal = await played(8);
  const before = await wal.head(0);
  const acknowledged = () => ({ lsn: { epoch: 1, sequence: before.lsn.sequence + 1 }, checksum: 7 });
  const deps = { ...depsOf(wal), acknowledged };
  const [loss] = await findLosses([0], deps);
  await acceptLoss(loss as Loss, deps);
  await bet(await started(wal), 'later');
  await follow(wal, before);
  assert.match(await exported(wal, before), /"later"/);
});

for (const starts of [0, 1, 12]) {
  test(`a snapshot beyond its log is the provable state, even after ${starts} failed starts`, async () => {
    const wal = await played(8);
    wal.loseTail(0, 6);
    for (let i = 0; i < starts; i++) await started(wal);
    await acceptLoss(await lossOf(wal), depsOf(wal));
    await serves(await started(wal), 920);
  });
}

test('ledger totals of a snapshot beyond its log are marked as incomplete', async () => {
  const wal = new MemoryWal(STORE_ID, 1);
  const host = await TestHost.started({ wal, shards: 1 });
  await host.fund('ann', 1000);
  const beginSnapshot = wal.beginSnapshot.bind(wal);
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  wal.beginSnapshot = async (...args) => {
    await gate;
    return await beginSnapshot(...args);
  };
  const taking = host.host.takeSnapshots(IMMEDIATE);
  for (let i = 0; i < 3; i++) await host.execute(commands.place([{ id: `t${i}` }]));
  goOn();
  await taking;
  wal.loseTail(0, 2);
  await acceptLoss(await lossOf(wal), depsOf(wal));
  const next = await started(wal);
  const result = await next.ask({ type: 'read-tallies' });
  assert.ok(result.type === 'tallies');
  assert.ok(result.tallies.sinceMs > 0);
});

test('a log that lost several epochs continues, is trimmed as usual, and recovers', async () => {
  const wal = new MemoryWal(STORE_ID, 1);
  let host = await started(wal);
  await host.fund('ann', 1000);
  await host.host.takeSnapshots(IMMEDIATE);
  const entries = wal.entries(0).length;
  for (let i = 0; i < 4; i++) {
    host = await started(wal);
    await bet(host, `t${i}`);
  }
  await host.host.takeSnapshots(IMMEDIATE);
  wal.loseTail(0, wal.entries(0).length - entries);
  await acceptLoss(await lossOf(wal), depsOf(wal));
  for (let i = 0; i < 6; i++) {
    host = await started(wal);
    await serves(host, 960 - 10 * i);
    await bet(host, `u${i}`);
    await host.host.takeSnapshots(IMMEDIATE);
  }
  assert.ok((wal.entries(0)[0]?.lsn.sequence ?? 0) > entries, 'the log is trimmed');
});

/** An archive that only records which records are to be removed. */
function droppingArchive() {
  const drops: { readonly lsn: Lsn; readonly isAbandoned: (record: ArchiveRecord) => boolean }[] = [];
  const dropAfter: Archive['dropAfter'] = async (_, lsn, isAbandoned) => void drops.push({ lsn, isAbandoned });
  return { archive: { dropAfter } as Archive, drops };
}

/** An archived round of ann, whose bet gave her wallet this version. It was archived behind the entry `lsn`. */
function roundWith(version: number, lsn: Lsn): ArchiveRecord {
  const domain = new Domain();
  domain.fund('ann', 1000);
  domain.run(commands.place([{ id: 'a' }]));
  const wallet = domain.wallet('ann');
  const round = wallet.round('P1', 'r1');
  assert.ok(round !== undefined);
  const place = { shard: 0, day: 1, player: 1, round: 1, lsn, index: 0 };
  return { ...place, ids: [{ id: 1, version }], image: serializeRound(wallet, round) };
}

for (const starts of [0, 3]) {
  test(`archived rounds of lost entries are removed after ${starts} refused starts`, async () => {
    const wal = await played(8);
    for (const { id } of (await listSnapshots(0, depsOf(wal))).whole) wal.snapshotsOf(0).delete(id);
    const kept = await wal.head(0);
    for (let i = 0; i < starts; i++) await started(wal);
    const { archive, drops } = droppingArchive();
    const deps = { ...depsOf(wal), acknowledged: () => ({ lsn: { epoch: 1, sequence: 99 }, checksum: 7 }) };
    const [loss] = await findLosses([0], deps);
    await acceptLoss(loss as Loss, { ...deps, archive });
    assert.deepEqual(
      drops.map(({ lsn }) => formatLsn(lsn)),
      [formatLsn(kept.lsn)],
    );
  });
}

test('a snapshot beyond the log keeps the archived rounds that it has let go', async () => {
  const wal = await played(8);
  wal.loseTail(0, 6);
  const loss = await lossOf(wal);
  const { wallets, snapshot } = loss.salvaged;
  const version = wallets.get('ann')?.version ?? 0;
  const end = snapshot?.end.lsn ?? LSN_ZERO;
  const { archive, drops } = droppingArchive();
  await acceptLoss(loss, { ...depsOf(wal), archive });
  const isAbandoned = drops[0]?.isAbandoned;
  assert.ok(isAbandoned !== undefined);
  assert.deepEqual(
    [version - 1, version, version + 1].map((one) => isAbandoned(roundWith(one, end))),
    [false, false, true],
  );
  assert.ok(isAbandoned(roundWith(version, { ...end, sequence: end.sequence + 1 })), 'archived after the snapshot');
});

test('an accepted loss has an epoch that no lost owner can have used', async () => {
  const wal = await played(8);
  const kept = await wal.head(0);
  let host = await started(wal);
  for (let i = 0; i < 3; i++) {
    await bet(host, `lost${i}`);
    host = await started(wal);
  }
  const acknowledged = await wal.head(0);
  wal.loseTail(0, acknowledged.lsn.sequence - kept.lsn.sequence);
  const deps = { ...depsOf(wal), acknowledged: () => acknowledged };
  const [loss] = await findLosses([0], deps);
  await acceptLoss(loss as Loss, { ...deps, acknowledged: () => undefined });
  assert.ok((await wal.head(0)).lsn.epoch > acknowledged.lsn.epoch, 'this machine does not know what was acknowledged');
  const node = new TestHost({ wal, shards: 1, isShared: true, acknowledged: new Map([[0, acknowledged]]) });
  await node.host.start([]);
  assert.equal((await node.take({ acknowledged })).type, 'taken');
  assert.deepEqual(await findLosses([0], deps), []);
});

test('entries written after the loss was found are not lost', async () => {
  const wal = await played(8);
  const deps = { ...depsOf(wal), acknowledged: () => ({ lsn: { epoch: 1, sequence: 99 }, checksum: 7 }) };
  const [loss] = await findLosses([0], deps);
  const elsewhere = await started(wal);
  await bet(elsewhere, 'late');
  await assert.rejects(
    acceptLoss(loss as Loss, deps),
    /has been written to since it was examined: run the command again/,
  );
  await bet(elsewhere, 'later');
  await serves(elsewhere, 900);
});

test('a repair snapshot is never older than its wallets, even if the clock lags', async () => {
  const wal = await played(8);
  const [newest] = (await listSnapshots(0, depsOf(wal))).whole;
  wal.loseTail(0, 6);
  const deps = { ...depsOf(wal), clock: { ...systemClock, now: () => 1 } };
  await acceptLoss(await lossOf(wal), deps);
  const [accepted] = (await listSnapshots(0, deps)).whole;
  assert.ok(accepted && newest && accepted.id !== newest.id && accepted.timeMs >= newest.timeMs);
});
