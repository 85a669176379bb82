import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatLsn, type Lsn } from '../../../src/ports/lsn.js';
import type { Manifest } from '../../../src/ports/snapshot-store.js';
import type { StoreReader } from '../../../src/tools/store-reader.js';
import type { PlayerSource, ServerPlayer } from '../../../src/tools/verify/server-comparison.js';
import { type VerifyReport, verify } from '../../../src/tools/verify/verify.js';
import { formatSum, formatUnits } from '../../../src/wallet/amount.js';
import type { Command } from '../../../src/wallet/command.js';
import { total } from '../../../src/wallet/ledger.js';
import { arbitraryStep, USERNAMES } from '../../model/arbitrary-commands.js';
import { commands } from '../../support/domain.js';
import { richer, WrittenStore, withEntry } from '../written-store.js';

const { place, settle } = commands;

const look = (reader: StoreReader, server?: PlayerSource) => verify(reader, { isDeep: false, server });
const lookDeep = (reader: StoreReader) => verify(reader, { isDeep: true, server: undefined });
const messages = ({ findings }: VerifyReport) => findings.listed.map(({ type, message }) => `${type}: ${message}`);

/** Creates a store in which ann and bob place some bets, then two snapshots are taken, and then more bets follow. */
async function storyOf(shards = 1): Promise<WrittenStore> {
  const store = new WrittenStore(shards);
  await store.takeOver();
  await store.fund('ann', 1000);
  await store.fund('bob', 2000);
  for (let i = 0; i < 20; i++) {
    await store.run(place([{ id: `t${i}`, roundId: `r${i}` }]), place([{ id: `t${i}` }], { username: 'bob' }));
    await store.run(settle([{ id: `t${i}`, roundId: `r${i}` }]));
    if (i === 5 || i === 15) for (let shard = 0; shard < shards; shard++) await store.snapshot(shard);
  }
  return store;
}

/** Snapshot ids, oldest first. */
async function idsOf(store: WrittenStore): Promise<string[]> {
  return (await store.wal.snapshots(0)).map(({ id }) => id);
}

async function manifestOf(store: WrittenStore, id: string): Promise<Manifest> {
  const found = (await store.wal.snapshots(0)).find((one) => one.id === id);
  return store.snapshotFormat.openManifest(found?.manifest as Buffer);
}

function flip(bytes: Buffer): Buffer {
  bytes.writeUInt8(bytes.readUInt8(80) ^ 1, 80);
  return bytes;
}

/** A server with the store's current wallets, changed by `change`. */
function serverOf(store: WrittenStore, change: (player: ServerPlayer) => ServerPlayer[] = (player) => [player]) {
  const players = async (shard: number) =>
    [...(store.wallets[shard] ?? [])].flatMap(({ username, currency, version, balance }) =>
      change({ username, currency, version, balance: formatUnits(balance, store.scales.of(currency)) }),
    );
  return { players };
}

test('an intact store has no faults, shallow or deep, with or without a server', async () => {
  const store = await storyOf(2);
  const report = await look(store.reader, serverOf(store));
  assert.deepEqual(messages(report), []);
  const lsns = report.shards.map(({ lsn }) => lsn);
  assert.deepEqual(lsns, [formatLsn((await store.wal.head(0)).lsn), formatLsn((await store.wal.head(1)).lsn)]);
  assert.equal(
    report.shards.reduce((sum, shard) => sum + (shard.compared ?? 0), 0),
    2,
  );
  assert.deepEqual(
    report.shards.map(({ snapshots }) => snapshots),
    [2, 2],
  );
  const deep = await lookDeep(store.reader);
  assert.deepEqual(messages(deep), []);
  assert.deepEqual(
    deep.shards.map(({ base }) => base),
    ['genesis', 'genesis'],
  );
});

test('a player in the wrong shard is found', async () => {
  const store = await storyOf(2);
  const home = store.shardOf('ann');
  const reader = { ...store.reader, shardOf: (username: string) => (username === 'ann' ? 1 - home : home) };
  assert.ok(messages(await look(reader)).includes(`wallet: shard ${home}: ann belongs to shard ${1 - home}`));
});

test('the books of every currency balance, from the first entry or a snapshot', async () => {
  const store = await storyOf();
  await store.fund('satoshi', 123_456_789, 'BTC');
  const [btc, thb] = (await lookDeep(store.reader)).books.all();
  assert.ok(btc !== undefined && thb !== undefined);
  assert.deepEqual([btc[0], btc[1].players, formatSum(btc[1].balances, 8)], ['BTC', 1, '1.23456789']);
  const { opening, balances, moved, difference } = thb[1];
  assert.deepEqual([opening, difference], [0n, 0n]);
  assert.deepEqual(Object.fromEntries(moved), { deposits: 3000n, stakes: -400n, payouts: 300n });
  assert.equal(balances, total(moved));

  const [, later] = (await look(store.reader)).books.all();
  assert.ok(later !== undefined);
  assert.equal(later[1].balances, balances);
  assert.equal(later[1].opening, balances - total(later[1].moved));
  assert.ok(later[1].opening > 0n);
});

test('a flipped byte in an entry is found, wherever the replay begins', async () => {
  const store = await storyOf();
  for (const lsn of ['1-1', '1-7', '1-40']) {
    assert.match(messages(await look(withEntry(store, lsn, flip))).join(), new RegExp(`log: .* ${lsn} is damaged`));
  }
});

test('a missing first, middle or last entry is found', async () => {
  const store = await storyOf();
  const head = formatLsn((await store.wal.head(0)).lsn);
  const found = async (lsn: string) => messages(await look(withEntry(store, lsn, () => undefined))).join();
  assert.match(await found('1-9'), /entry 1-10 of shard 0 does not follow 1-8/);
  assert.match(await found(head), new RegExp(`ends at 1-42, but its head is ${head}`));
  // A log without its beginning was trimmed correctly only if a snapshot covers the missing part.
  assert.deepEqual(await found('1-1'), '');
  const young = new WrittenStore();
  await young.takeOver();
  await young.fund('ann', 1);
  const cut = withEntry(young, '1-1', () => undefined);
  assert.match(messages(await look(cut)).join(), /begins at 1-2, and no snapshot/);
});

test('after a fault the check resumes at the next snapshot, including the server', async () => {
  const store = await storyOf();
  const [, newer = ''] = await idsOf(store);
  const other = serverOf(store, (player) => [{ ...player, balance: '7' }]);
  for (const lsn of ['1-2', '1-20']) {
    const broken = withEntry(store, lsn, flip);
    for (const isDeep of [false, true]) {
      const report = await verify(broken, { isDeep, server: serverOf(store) });
      assert.equal(report.findings.total, 1, messages(report).join());
      assert.equal(report.shards[0]?.compared, 2);
      if (!isDeep) assert.equal(report.shards[0]?.base, newer);
      assert.equal((await verify(broken, { isDeep, server: other })).findings.count('server'), 2);
    }
  }
});

test('a damaged or missing chunk is found, and the previous snapshot is used instead', async () => {
  const store = await storyOf();
  const [older = '', newer = ''] = await idsOf(store);
  store.wal.snapshotsOf(0).damageChunk(newer, 0);
  const report = await look(store.reader);
  assert.deepEqual(messages(report), [
    `snapshot: snapshot ${newer} of shard 0 is damaged: chunk 0 of snapshot ${newer} is damaged`,
  ]);
  assert.equal(report.shards[0]?.base, older);
  store.wal.snapshotsOf(0).loseChunk(older, 0);
  const worse = await look(store.reader);
  assert.equal(worse.findings.count('snapshot'), 2);
  assert.equal(worse.shards[0]?.base, 'genesis');
  assert.equal((await lookDeep(store.reader)).findings.count('snapshot'), 2);
});

test('a damaged manifest and a manifest that goes beyond the log are found', async () => {
  const store = await storyOf();
  const manifest = await store.snapshot();
  const [id = ''] = await idsOf(store);
  store.wal.snapshotsOf(0).replaceManifest(id, Buffer.from('xxxxxx'));
  store.wal.loseTail(0, 2);
  const found = messages(await look(store.reader)).join('\n');
  assert.match(found, new RegExp(`snapshot ${id} .*wrong checksum`));
  assert.match(found, new RegExp(`snapshot ${manifest.id} ends at ${formatLsn(manifest.end.lsn)}, beyond the end`));
});

test('a snapshot from a different history of the same log is found', async () => {
  const store = await storyOf();
  const [, id = ''] = await idsOf(store);
  const real = await manifestOf(store, id);
  const other = { ...real, end: { ...real.end, checksum: real.end.checksum ^ 1 } };
  store.wal.snapshotsOf(0).replaceManifest(id, store.snapshotFormat.sealManifest(other));
  assert.match(messages(await look(store.reader)).join(), new RegExp(`snapshot ${id} names entry`));
});

test('a false snapshot with valid checksums is found by --deep', async () => {
  const store = await storyOf();
  const { id } = await store.snapshot(0, (wallet) => (wallet.username === 'ann' ? richer(wallet, 5) : wallet));
  assert.deepEqual(messages(await look(store.reader)), []);
  assert.deepEqual(messages(await lookDeep(store.reader)), [
    `snapshot: shard 0: snapshot ${id} has another balance for ann than the log, at version 41`,
  ]);
  // Let ann play again, because a replay from the snapshot then detects the mismatch as well.
  await store.run(place([{ id: 'next' }]));
  assert.match(messages(await look(store.reader)).join(), /event: .* of ann in entry 1-44 cannot be applied/);
});

test('--deep finds a snapshot that lacks a player or has a different version', async () => {
  const store = await storyOf();
  const half = await store.beginSnapshot();
  await half.chunk(1);
  const { id } = await half.publish();
  assert.deepEqual(messages(await lookDeep(store.reader)), [`snapshot: shard 0: snapshot ${id} lacks bob`]);
});

test('a fuzzy snapshot passes verification', async () => {
  const store = await storyOf();
  const snapshot = await store.beginSnapshot();
  await snapshot.chunk(1);
  await store.run(place([{ id: 'u1' }]), place([{ id: 'u1' }], { username: 'bob' }));
  await store.fund('cat', 100);
  await snapshot.chunk(1);
  await store.run(place([{ id: 'u2' }]), place([{ id: 'u2' }], { username: 'bob' }));
  await store.fund('dog', 100);
  await snapshot.chunk(10);
  await snapshot.publish();
  await store.run(place([{ id: 'u3' }]), place([{ id: 'u3' }], { username: 'cat' }));
  for (const report of [await look(store.reader, serverOf(store)), await lookDeep(store.reader)]) {
    assert.deepEqual(messages(report), []);
    assert.equal(report.books.all()[0]?.[1].difference, 0n);
  }
});

test('a trimmed log is verified from its oldest snapshot', async () => {
  const store = await storyOf();
  const [id = ''] = await idsOf(store);
  const oldest = await manifestOf(store, id);
  await store.trim({ epoch: 1, sequence: oldest.start.lsn.sequence + 1 });
  const deep = await lookDeep(store.reader);
  assert.deepEqual(messages(deep), []);
  assert.equal(deep.shards[0]?.base, oldest.id);
  await store.trim({ epoch: 1, sequence: oldest.start.lsn.sequence + 2 });
  assert.match(messages(await look(store.reader)).join(), new RegExp(`snapshot ${oldest.id} needs the log from`));
});

test('an event that does not fit the wallet is found', async () => {
  const store = await storyOf();
  const about = { username: 'ann', version: 42, timeMs: store.nowMs };
  await store.write(0, { type: 'deposited', id: 'd', amount: 5, before: 0, after: 5, ...about });
  assert.match(
    messages(await look(store.reader)).join(),
    /event of ann in entry 1-44 cannot be applied: a movement starts/,
  );
});

test('a server with a different balance, version or set of players is found', async () => {
  const store = await storyOf();
  const found = async (change: (player: ServerPlayer) => ServerPlayer[]) => {
    const report = await look(
      store.reader,
      serverOf(store, (player) => (player.username === 'ann' ? change(player) : [player])),
    );
    return messages(report);
  };
  assert.deepEqual(await found((ann) => [{ ...ann, balance: '0.1101' }]), [
    'server: shard 0: ann has 0.1101 THB on the server at version 41, but 0.11 THB in the log',
  ]);
  assert.deepEqual(await found((ann) => [{ ...ann, currency: 'EUR' }]), [
    'server: shard 0: ann has 0.11 EUR on the server at version 41, but 0.11 THB in the log',
  ]);
  assert.deepEqual(await found((ann) => [{ ...ann, version: 42 }]), [
    'server: shard 0: ann has version 42 on the server, but the log ends with version 41',
  ]);
  assert.deepEqual(await found(() => []), ['server: shard 0: ann is in the log, but not on the server']);
  assert.deepEqual(await found((ann) => [ann, { ...ann, username: 'zoe' }]), [
    'server: shard 0: zoe is on the server, but not in the log',
  ]);
});

test('a server is compared at the version that it answered, regardless of later events', async () => {
  const store = await storyOf();
  const reported = await serverOf(store).players(0);
  const wrong = reported.map((player) => ({ ...player, balance: '7' }));
  const later = async (players: readonly ServerPlayer[]) => {
    const server = {
      players: async () => {
        await store.run(place([{ id: `late-${store.nowMs}` }]));
        await store.fund(`player-${store.nowMs}`, 5);
        return players;
      },
    };
    return await look(store.reader, server);
  };
  const report = await later(reported);
  assert.deepEqual(messages(report), []);
  assert.equal(report.shards[0]?.compared, 2);
  await store.wal.snapshots(0);
  assert.equal((await later(wrong.slice(0, 1))).findings.count('server'), 3);

  // A snapshot newer than the server's answer no longer contains the balance at that version.
  const fresh = await storyOf();
  const then = await serverOf(fresh).players(0);
  await fresh.run(place([{ id: 'next' }]));
  await fresh.snapshot();
  const moved = await look(fresh.reader, { players: async () => then });
  assert.deepEqual([messages(moved), moved.shards[0]?.compared, moved.shards[0]?.movedOn], [[], 1, 1]);
});

test('a running server that trims and deletes during verification causes no fault', async () => {
  const store = await storyOf();
  let reads = 0;
  const { reader } = store;
  const readChunks: StoreReader['snapshots']['readChunks'] = async (...args) => {
    if (++reads === 1) {
      // Delete the old snapshots, and the part of the log that only they required.
      const old = await idsOf(store);
      const newest = await store.snapshot();
      const { nonce } = await store.wal.head(0);
      for (const id of old) assert.ok(await store.wal.deleteSnapshot(0, nonce, [], id));
      await store.trim(newest.start.lsn);
    }
    return await store.wal.readChunks(...args);
  };
  const snapshots = { snapshots: (shard: number) => store.wal.snapshots(shard), readChunks };
  const report = await verify({ ...reader, snapshots }, { isDeep: true, server: undefined });
  assert.deepEqual(
    messages(report).filter((one) => !/needs the log from/.test(one)),
    [],
  );
});

test('an empty log is intact, but a log with missing entries is not', async () => {
  const store = new WrittenStore(2);
  assert.deepEqual(messages(await look(store.reader)), []);
  await store.takeOver();
  const gone = withEntry(store, '1-1', () => undefined);
  assert.match(messages(await look(gone)).join(), /log of shard 0 ends at 0-0, but its head is 1-1/);
});

test('the list of findings is bounded, but their count is complete', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  for (let i = 0; i < 50; i++) await store.fund(`p${i}`, 1);
  const { findings } = await look(store.reader, { players: async () => [] });
  assert.deepEqual([findings.listed.length, findings.total, findings.all()], [20, 50, { server: 50 }]);
});

test('progress goes from 0 to all entries of the store', async () => {
  const store = await storyOf(2);
  const steps: [number, number][] = [];
  await verify(store.reader, { isDeep: false, server: undefined, onProgress: (...step) => steps.push(step) });
  const heads = await Promise.all([0, 1].map(async (shard) => (await store.wal.head(shard)).lsn.sequence));
  const all = heads.reduce((sum, entries) => sum + entries, 0);
  assert.ok(steps.every(([done, total], i) => total === all && done >= (steps[i - 1]?.[0] ?? 0)));
  assert.equal(steps.at(-1)?.[0], all);
});

test('two snapshots with the same start, the second one fuzzy, pass verification', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 100);
  const first = await store.snapshot();
  await store.trim(first.start.lsn);
  const second = await store.beginSnapshot();
  await store.run(place([{ id: 't1' }]));
  await second.chunk(10);
  await second.publish();
  assert.deepEqual(messages(await lookDeep(store.reader)), []);
});

test('random histories with fuzzy snapshots and trimmed logs pass verification', async () => {
  const step = fc.oneof(
    { weight: 12, arbitrary: arbitraryStep },
    {
      weight: 1,
      arbitrary: fc.constantFrom('begin' as const, 'chunk' as const, 'publish' as const, 'takeOver' as const),
    },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
      fc.boolean(),
      async (steps, trims) => {
        const store = new WrittenStore();
        await store.takeOver();
        for (const username of USERNAMES) await store.fund(username, 100);
        let snapshot: Awaited<ReturnType<WrittenStore['beginSnapshot']>> | undefined;
        for (const one of steps) {
          if (one === 'begin') snapshot = await store.beginSnapshot();
          else if (one === 'chunk') await snapshot?.chunk(1);
          else if (one === 'takeOver') {
            await store.takeOver();
            snapshot = undefined;
          } else if (one === 'publish') {
            await snapshot?.chunk(10);
            const manifest: { start: { lsn: Lsn } } | undefined = await snapshot?.publish();
            if (trims && manifest !== undefined && (await store.wal.snapshots(0)).length === 1)
              await store.trim(manifest.start.lsn);
            snapshot = undefined;
          } else if (one.type === 'callback') await store.run(one.command as Command);
          else if (one.type === 'tomorrow') store.nowMs += 86_400_000;
        }
        assert.deepEqual(messages(await look(store.reader, serverOf(store))), []);
        assert.deepEqual(messages(await lookDeep(store.reader)), []);
      },
    ),
    { numRuns: 150 },
  );
});
