import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreFullError } from '../../src/base/store-full-error.js';
import { sortSnapshots } from '../../src/log/snapshot-reader.js';
import { isSameLsn, LSN_ZERO } from '../../src/ports/lsn.js';
import type { Manifest } from '../../src/ports/snapshot-store.js';
import type { Head } from '../../src/ports/wal.js';
import { isDue, marksToKeep, nextMarks, type SnapshotPolicy, trimPoint } from '../../src/snapshot/snapshot-policy.js';
import { BACKGROUND, IMMEDIATE, type SnapshotResult } from '../../src/snapshot/snapshotter.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import type { QueryResult } from '../../src/wallet/query.js';
import { commands } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { TestHost } from '../support/test-host.js';

const { place } = commands;
const STORE_ID = '00000000-0000-4000-8000-00000000000e';
const PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay'];

const newWal = () => new MemoryWal(STORE_ID, 2);
const codec = new SnapshotCodec(STORE_ID);

async function funded(wal: MemoryWal, options: ConstructorParameters<typeof TestHost>[0] = {}): Promise<TestHost> {
  const host = await TestHost.started({ wal, ...options });
  for (const username of PLAYERS) await host.fund(username, 1000);
  return host;
}

async function bet(host: TestHost, username: string, id: string): Promise<void> {
  const answer = await host.execute(place([{ id }], { username }));
  assert.equal(answer.type, 'accepted');
}

async function taken(host: TestHost): Promise<Extract<SnapshotResult, { type: 'taken' }>> {
  const result = (await host.host.takeSnapshots(IMMEDIATE)).find(({ shard }) => shard === 0);
  assert.equal(result?.type, 'taken', JSON.stringify(result));
  return result as Extract<SnapshotResult, { type: 'taken' }>;
}

async function abandoned(results: Promise<readonly SnapshotResult[]>): Promise<string> {
  const result = (await results).find(({ shard }) => shard === 0);
  assert.equal(result?.type, 'abandoned');
  return (result as { reason: string }).reason;
}

const stateOf = (host: TestHost, shard = 0) => host.host.status().find((one) => one.shard === shard);
/** Log lines with this message or code. */
const said = (host: TestHost, what: string) =>
  host.logLines.filter(({ message, fields }) => message === what || fields.code === what);
const manifests = async (wal: MemoryWal): Promise<Manifest[]> => {
  const stored = await wal.snapshots(0);
  return stored.flatMap(({ manifest }) => (manifest === undefined ? [] : [codec.openManifest(manifest)]));
};

test('a start reads the newest snapshot and only the log after it', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await bet(host, 'ann', 't1');
  const { lsn, players } = await taken(host);
  assert.equal(players, PLAYERS.length);
  await bet(host, 'ann', 't2');
  const reads: string[] = [];
  const read = wal.read.bind(wal);
  wal.read = async (shard, after, limit) => {
    if (shard === 0 && limit > 1) reads.push(`${after.epoch}-${after.sequence}`);
    return read(shard, after, limit);
  };
  const next = await TestHost.started({ wal, recentBytesMax: 0 });
  assert.equal(reads[0], lsn);
  assert.equal(await next.balance('ann'), 980);
  assert.equal(await next.balance('bob'), 1000);
  assert.deepEqual(await next.execute(place([{ id: 't1' }])), {
    type: 'accepted',
    before: 1000,
    after: 990,
    isRepeat: true,
  });
});

test('untouched players stay correct through several snapshots', async () => {
  const wal = newWal();
  let host = await funded(wal);
  await bet(host, 'eve', 'e1');
  for (let i = 0; i < 4; i++) {
    await taken(host);
    host = await TestHost.started({ wal });
    await bet(host, 'ann', `a${i}`);
  }
  assert.equal(await host.balance('eve'), 990);
  assert.equal(await host.balance('ann'), 960);
});

test('a snapshot taken while players bet and are created is exact', async () => {
  const wal = newWal();
  const host = await funded(wal);
  // Each read of the clock takes half a millisecond, so a slice covers two wallets, and other work runs between slices.
  host.clock.monotonicMs = () => {
    host.clock.nowMs += 0.5;
    return Math.floor(host.clock.nowMs);
  };
  host.clock.now = () => Math.floor(host.clock.nowMs);
  const writeChunk = wal.writeChunk.bind(wal);
  let bets = 0;
  wal.writeChunk = async (...args) => {
    await bet(host, 'ann', `during${bets++}`);
    return writeChunk(...args);
  };
  const betting = (async () => {
    for (let i = 0; i < 40; i++) {
      await bet(host, PLAYERS[i % PLAYERS.length] as string, `b${i}`);
      if (i % 8 === 0) await host.fund(`new${i}`, 5);
      await delay(0);
    }
  })();
  await delay(1);
  const result = await taken(host);
  await betting;
  const manifest = (await manifests(wal)).at(-1) as Manifest;
  assert.ok(manifest.end.lsn.sequence > manifest.start.lsn.sequence, 'the shard went on meanwhile');
  assert.ok(result.players >= PLAYERS.length);
  const balances = async (of: TestHost) => {
    const found = await Promise.all([...PLAYERS, 'new0', 'new32'].map((name) => of.balance(name)));
    return { found, tallies: await of.ask({ type: 'read-tallies' }) };
  };
  const served = await balances(host);
  const { tallies } = served.tallies as Extract<QueryResult, { type: 'tallies' }>;
  assert.deepEqual(new Map(tallies.products[0]?.[2]).get('stakes'), 40 + bets, 'each bet counts once');
  assert.deepEqual(await balances(await TestHost.started({ wal })), served);
  for (const { id } of await wal.snapshots(0)) wal.snapshotsOf(0).delete(id);
  assert.deepEqual(await balances(await TestHost.started({ wal })), served, 'as the whole log says');
});

for (const [what, damage] of [
  ['a chunk with a flipped byte', (wal: MemoryWal, id: string) => wal.snapshotsOf(0).damageChunk(id, 0)],
  ['a missing chunk', (wal: MemoryWal, id: string) => wal.snapshotsOf(0).loseChunk(id, 0)],
  ['half a manifest', (wal: MemoryWal, id: string) => wal.snapshotsOf(0).replaceManifest(id, Buffer.from('half'))],
] as const) {
  test(`${what}: the previous snapshot is used, and the skipped one is logged`, async () => {
    const wal = newWal();
    const host = await funded(wal);
    await taken(host);
    await bet(host, 'ann', 't1');
    const { id } = await taken(host);
    await bet(host, 'ann', 't2');
    damage(wal, id);
    const next = await TestHost.started({ wal });
    assert.equal(said(next, 'snapshot-skipped').length, 1);
    assert.equal(await next.balance('ann'), 980);
  });
}

test('an unfinished snapshot is ignored, and the next one deletes it', async () => {
  const wal = newWal();
  const host = await funded(wal);
  const { publishSnapshot, deleteSnapshot } = wal;
  const isAway = async () => {
    throw new Error('the store is away');
  };
  wal.publishSnapshot = isAway;
  wal.deleteSnapshot = isAway;
  assert.match(await abandoned(host.host.takeSnapshots(IMMEDIATE)), /the store is away/);
  wal.publishSnapshot = publishSnapshot;
  wal.deleteSnapshot = deleteSnapshot;
  assert.equal((await wal.snapshots(0)).length, 1);
  const next = await TestHost.started({ wal });
  assert.equal(await next.balance('ann'), 1000);
  await bet(next, 'ann', 't1');
  const { id } = await taken(next);
  assert.deepEqual(
    (await wal.snapshots(0)).map((one) => one.id),
    [id],
  );
});

test('a snapshot refused by a full store leaves nothing behind', async () => {
  const wal = newWal();
  const host = await funded(wal);
  const { id } = await taken(host);
  wal.publishSnapshot = async () => {
    throw new Error('the store is full');
  };
  for (let i = 0; i < 2; i++) {
    await bet(host, 'ann', `t${i}`);
    assert.match(await abandoned(host.host.takeSnapshots(IMMEDIATE)), /the store is full/);
    assert.deepEqual(
      (await wal.snapshots(0)).map((one) => one.id),
      [id],
    );
  }
});

test('an abandoned snapshot frees its space in a full store immediately', async () => {
  const wal = newWal();
  const host = await funded(wal);
  const { id } = await taken(host);
  await bet(host, 'ann', 't1');
  let attempts = 0;
  wal.publishSnapshot = async () => {
    attempts++;
    throw new StoreFullError('no room');
  };
  // Redis at its memory limit also refuses deletions, until another client has freed memory.
  const remove = wal.deleteSnapshot.bind(wal);
  let refusals = 0;
  wal.deleteSnapshot = async (...args) => {
    if (refusals++ < 2) throw new StoreFullError('no room');
    return await remove(...args);
  };
  assert.match(await abandoned(host.host.takeSnapshots(IMMEDIATE)), /no room/);
  assert.equal(attempts, 1);
  assert.deepEqual(
    (await wal.snapshots(0)).map((one) => one.id),
    [id],
  );
});

test('a snapshot that reaches beyond its log stops only its shard', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await bet(host, 'ann', 't1');
  await taken(host);
  wal.loseTail(0, 1);
  const next = await TestHost.started({ wal });
  assert.equal(stateOf(next)?.state, 'stopped');
  assert.match(
    stateOf(next)?.reason ?? '',
    /contains entries up to 1-8, but the log ends at 1-7: .*`walletd accept-loss`/,
  );
  assert.equal(stateOf(next, 1)?.state, 'serving');
  const answer = await next.execute(place([{ id: 't2' }]));
  assert.deepEqual(answer, { type: 'failed', failure: 'stopped' });
});

test('a log that diverged after a loss is not combined with an old snapshot', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await bet(host, 'ann', 't1');
  await bet(host, 'ann', 't2');
  await taken(host);
  wal.loseTail(0, 2);
  await TestHost.started({ wal });
  const next = await TestHost.started({ wal });
  assert.equal(stateOf(next)?.state, 'stopped');
  assert.match(stateOf(next)?.reason ?? '', /accept-loss/);
});

test('a log that lost its tail stays stopped at every start', async () => {
  const wal = newWal();
  const host = await funded(wal);
  const { writeChunk } = wal;
  wal.writeChunk = async (...args) => {
    for (let i = 0; i < 8; i++) await bet(host, 'ann', `t${i}`);
    return writeChunk.apply(wal, args);
  };
  await taken(host);
  wal.loseTail(0, 6);
  for (let start = 0; start < 10; start++) {
    const next = await TestHost.started({ wal });
    assert.equal(stateOf(next)?.state, 'stopped', `start ${start}`);
    assert.match(stateOf(next)?.reason ?? '', /accept-loss/);
  }
});

test('a lost tail stops the shard even if the newest snapshot is damaged', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await taken(host);
  for (let i = 0; i < 8; i++) await bet(host, 'ann', `t${i}`);
  const { id } = await taken(host);
  wal.snapshotsOf(0).damageChunk(id, 0);
  assert.equal(await (await TestHost.started({ wal })).balance('ann'), 920);
  wal.loseTail(0, 7);
  for (let start = 0; start < 10; start++) {
    assert.equal(stateOf(await TestHost.started({ wal }))?.state, 'stopped', `start ${start}`);
  }
});

test('a log that lacks an acknowledged entry stops the shard at every start', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await bet(host, 'ann', 't1');
  const acknowledged = new Map([[0, { lsn: { epoch: 1, sequence: 8 }, checksum: undefined }]]);
  assert.equal(stateOf(await TestHost.started({ wal, acknowledged }))?.state, 'serving');
  wal.loseTail(0, 2);
  for (let start = 0; start < 3; start++) {
    const next = await TestHost.started({ wal, acknowledged });
    assert.match(stateOf(next)?.reason ?? '', /lacks 1-8, which this node has acknowledged/);
  }
});

test('a different entry in place of an acknowledged one stops the shard', async () => {
  const wal = newWal();
  await funded(wal);
  const host = await TestHost.started({ wal });
  const { head } = stateOf(host) as { head: Head };
  await bet(host, 'ann', 't1');
  wal.loseTail(0, 2);
  const acknowledged = new Map([[0, head]]);
  for (let start = 0; start < 3; start++) {
    const next = await TestHost.started({ wal, acknowledged });
    assert.match(stateOf(next)?.reason ?? '', /lacks 2-\d+, .* acknowledged: a different entry is in its place/);
  }
  assert.ok(wal.entries(0).some(({ lsn }) => isSameLsn(lsn, head.lsn)));
});

test('trimmed entries do not count as missing', async () => {
  const wal = newWal();
  const host = await funded(wal, { policy: { keep: 1 } });
  await bet(host, 'ann', 't1');
  await taken(host);
  const acknowledged = new Map([[0, { lsn: { epoch: 1, sequence: 3 }, checksum: undefined }]]);
  assert.ok((wal.entries(0)[0]?.lsn.sequence ?? 0) > 3);
  assert.equal(await (await TestHost.started({ wal, acknowledged })).balance('ann'), 990);
});

test('a trimmed log needs a complete snapshot', async () => {
  const wal = newWal();
  const host = await funded(wal, { policy: { keep: 1 } });
  await taken(host);
  for (const { id } of await wal.snapshots(0)) wal.snapshotsOf(0).damageChunk(id, 0);
  const next = await TestHost.started({ wal });
  assert.match(stateOf(next)?.reason ?? '', /begins with 1-7, and there is no complete snapshot/);
});

test('a start that is fenced during recovery loses nothing', async () => {
  const wal = newWal();
  await taken(await funded(wal));
  const { snapshots } = wal;
  let later: TestHost | undefined;
  wal.snapshots = async (shard) => {
    wal.snapshots = snapshots;
    later = await TestHost.started({ wal });
    await bet(later, 'ann', 't1');
    await taken(later);
    return snapshots.call(wal, shard);
  };
  const overtaken = await TestHost.started({ wal });
  assert.equal(stateOf(overtaken)?.state, 'fenced');
  assert.deepEqual(overtaken.fenced.map(({ shard }) => shard).sort(), [0, 1]);
  assert.equal(await later?.balance('ann'), 990);
});

test('an owner fenced during a snapshot cannot write, publish, delete or trim', async () => {
  for (const step of ['beginSnapshot', 'writeChunk', 'publishSnapshot', 'deleteSnapshot', 'trimLog'] as const) {
    const wal = newWal();
    const host = await funded(wal, { policy: { keep: 1 } });
    await taken(host);
    await bet(host, 'ann', 't1');
    const run = wal[step].bind(wal) as (...args: unknown[]) => Promise<boolean>;
    let refused: boolean | undefined;
    Object.assign(wal, {
      [step]: async (...args: unknown[]) => {
        if (refused === undefined) {
          await TestHost.started({ wal });
          refused = !(await run(...args));
          return !refused;
        }
        return await run(...args);
      },
    });
    const entriesBefore = wal.entries(0).length;
    await host.host.takeSnapshots(IMMEDIATE);
    assert.equal(refused, true, step);
    assert.ok(wal.entries(0).length >= entriesBefore, `${step}: nothing was trimmed`);
    assert.ok((await manifests(wal)).length > 0, `${step}: the old snapshot is there, or the new one`);
    assert.equal(await (await TestHost.started({ wal })).balance('ann'), 990);
  }
});

test('a snapshot that the store refuses is abandoned', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await TestHost.started({ wal });
  assert.equal(
    await abandoned(host.host.takeSnapshots(IMMEDIATE)),
    'the head of the log was not written by this owner: another owner took it over, or the store lost the log',
  );
  assert.deepEqual(await manifests(wal), []);
});

test('a snapshot is not published once its shard has failed an assertion', async () => {
  const wal = newWal();
  const host = await funded(wal);
  const publishSnapshot = wal.publishSnapshot.bind(wal);
  wal.publishSnapshot = async () => {
    wal.publishSnapshot = publishSnapshot;
    // The shard cannot load again, so that its old nonce stays valid.
    wal.head = () => new Promise(() => {});
    host.plantBug();
    await host.execute(place([{ id: 'bug' }]));
    throw new Error('the store is away');
  };
  assert.equal(await abandoned(host.host.takeSnapshots(IMMEDIATE)), 'the shard was unloaded in the meantime');
  assert.deepEqual(await manifests(wal), []);
});

test('a manifest of another snapshot or shard counts as damaged', async () => {
  const wal = newWal();
  const { id } = await taken(await funded(wal));
  const [stored] = await wal.snapshots(0);
  assert.ok(stored !== undefined);
  assert.deepEqual(
    sortSnapshots(0, [stored], codec).whole.map((one) => one.id),
    [id],
  );
  assert.equal(sortSnapshots(0, [{ ...stored, id: 'another' }], codec).damaged.length, 1);
  assert.equal(sortSnapshots(1, [stored], codec).damaged.length, 1);
});

test('a snapshot with events that are lost is abandoned', async () => {
  const { wal, unheard, taking } = await takingUndurable();
  assert.deepEqual(
    (await wal.snapshots(0)).map(({ manifest }) => manifest),
    [undefined],
    'a manifest waits for the log',
  );
  // Another owner takes over before the append completes, so the log never contains it.
  wal.intrude(0, await foreignAppend(wal));
  wal.release();
  assert.equal((await unheard).type, 'failed');
  assert.match(await abandoned(taking), /unloaded in the meantime/);
  assert.deepEqual(await manifests(wal), []);
  assert.equal(await (await TestHost.started({ wal })).balance('ann'), 1000);
});

test('a snapshot whose events are not durable after 30 s is abandoned', async () => {
  const { wal, host, unheard, taking } = await takingUndurable();
  host.clock.nowMs += 31_000;
  assert.match(await abandoned(taking), /do not become durable/);
  assert.deepEqual(await manifests(wal), []);
  wal.release();
  assert.equal((await unheard).type, 'accepted');
  await taken(host);
  assert.equal((await wal.snapshots(0)).length, 1, 'what was abandoned has gone');
  assert.equal(await (await TestHost.started({ wal })).balance('ann'), 990);
});

/** Begins a snapshot that contains a bet whose append is being held back. */
async function takingUndurable() {
  const wal = newWal();
  const host = await funded(wal);
  wal.hold();
  const unheard = host.execute(place([{ id: 't1' }]));
  const taking = host.host.takeSnapshots(IMMEDIATE);
  await delay(20);
  return { wal, host, unheard, taking };
}

async function foreignAppend(wal: MemoryWal) {
  const { EntryCodec } = await import('../../src/store/format/entry-codec.js');
  const previous = await wal.head(0);
  const lsn = { epoch: previous.lsn.epoch + 1, sequence: previous.lsn.sequence + 1 };
  const owner = { host: 'elsewhere', pid: 2, startedMs: 0 };
  const header = { shard: 0, lsn, nonce: 'f'.repeat(16), previous, timeMs: 1_700_000_000_001 };
  return { shard: 0, expected: previous, entries: [new EntryCodec(STORE_ID).encodeFence(header, owner)] };
}

test('a snapshot is retried through an outage and taken once', async () => {
  const wal = newWal();
  const host = await funded(wal);
  wal.faultMode = 'answer-lost';
  const taking = host.host.takeSnapshots(IMMEDIATE);
  await delay(300);
  wal.faultMode = 'fine';
  const [first] = await taking;
  assert.equal(first?.type, 'taken');
  assert.equal((await manifests(wal)).length, 1);
});

test('no snapshot is taken without a change or after only a fence', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await taken(host);
  assert.equal((await host.host.takeSnapshots(IMMEDIATE))[0]?.type, 'unchanged');
  const next = await TestHost.started({ wal });
  assert.equal((await next.host.takeSnapshots(IMMEDIATE))[0]?.type, 'unchanged');
  await bet(next, 'ann', 't1');
  assert.equal((await next.host.takeSnapshots(IMMEDIATE))[0]?.type, 'taken');
});

test('the newest snapshots are kept, and the log before them is trimmed', async () => {
  const wal = newWal();
  const host = await funded(wal, { policy: { keep: 2 } });
  const starts: number[] = [];
  for (let i = 0; i < 5; i++) {
    await bet(host, 'ann', `t${i}`);
    await taken(host);
    starts.push((await manifests(wal)).at(-1)?.start.lsn.sequence ?? 0);
    assert.equal((await wal.snapshots(0)).length, Math.min(i + 1, 2));
    const first = wal.entries(0)[0]?.lsn.sequence;
    assert.equal(first, i === 0 ? 1 : starts[i - 1], `after ${i + 1} snapshots`);
  }
});

test('a snapshot past its deadline is abandoned', async () => {
  const host = await funded(newWal());
  const late = { restMs: 0, deadlineMs: host.clock.nowMs - 1 };
  assert.match(await abandoned(host.host.takeSnapshots(late)), /no time left/);
});

test('near the memory limit, snapshots are always taken at the slow pace', async () => {
  const wal = newWal();
  const host = await funded(wal);
  host.memory.isFull = true;
  assert.deepEqual(await host.host.takeSnapshots({ restMs: 0, deadlineMs: host.clock.nowMs + 1000 }), []);
  assert.equal(said(host, 'urgent-snapshots-skipped').length, 1);
  assert.deepEqual(await manifests(wal), []);
  const [gently] = await host.host.takeSnapshots(BACKGROUND);
  assert.equal(gently?.type, 'taken');
});

test('closing a host ends its snapshot, and nothing is written afterwards', async () => {
  const wal = newWal();
  const host = await funded(wal);
  let isClosed = false;
  let late = 0;
  let onBegun = () => {};
  const begun = new Promise<void>((resolve) => {
    onBegun = resolve;
  });
  for (const step of ['writeChunk', 'publishSnapshot', 'deleteSnapshot', 'trimLog'] as const) {
    const run = wal[step].bind(wal) as (...args: unknown[]) => Promise<boolean>;
    Object.assign(wal, {
      [step]: async (...args: unknown[]) => {
        if (isClosed) late++;
        onBegun();
        await delay(20);
        return await run(...args);
      },
    });
  }
  const taking = host.host.takeSnapshots(IMMEDIATE);
  await begun;
  await host.host.close();
  isClosed = true;
  assert.match(await abandoned(taking), /no time left/);
  assert.equal(late, 0);
});

test('a damaged snapshot does not count as kept', async () => {
  const wal = newWal();
  const host = await funded(wal);
  await taken(host);
  await bet(host, 'ann', 't1');
  const damaged = await taken(host);
  wal.snapshotsOf(0).damageChunk(damaged.id, 0);
  const next = await TestHost.started({ wal, policy: { keep: 2 } });
  await bet(next, 'ann', 't2');
  await taken(next);
  const ids = (await wal.snapshots(0)).map(({ id }) => id);
  assert.equal(ids.length, 2);
  assert.ok(!ids.includes(damaged.id));
});

test('trimmed entries are not saved as orphans', async () => {
  const wal = newWal();
  const host = await funded(wal, { policy: { keep: 1 } });
  await bet(host, 'ann', 't1');
  await taken(host);
  await bet(host, 'ann', 't2');
  await host.host.keepOrphans();
  assert.deepEqual(host.orphans, []);
});

test('a shard that is always due for a snapshot does not block other shards', async () => {
  const wal = newWal();
  const host = await TestHost.started({ wal, policy: { everyEntries: 1 } });
  for (let i = 0; said(host, 'snapshot taken').length < 2; i++) {
    assert.ok(i < 300, 'two sweeps are enough');
    for (const shard of [0, 1]) await host.fund(`p${i}`, 5, shard);
    await delay(10);
  }
  assert.equal((await wal.snapshots(1)).length, 1);
});

const POLICY: SnapshotPolicy = { everyEntries: 100, everyMs: 5000, keep: 2, historyBytesMax: 20_000_000 };

test('a snapshot is due by entries or by time, but only after an entry', () => {
  assert.equal(isDue(POLICY, 99, 4999), false);
  assert.equal(isDue(POLICY, 100, 0), true);
  assert.equal(isDue(POLICY, 1, 5000), true);
  assert.equal(isDue(POLICY, 0, 1e9), false);
  assert.equal(isDue({ ...POLICY, everyEntries: 0, everyMs: 0 }, 1e9, 1e9), false, '0 is never');
});

for (const apart of [100_000, 3_000_000, 50_000_000]) {
  test(`with snapshots every ${apart} bytes, the log keeps little more than the history limit`, () => {
    let marks: Manifest['marks'] = [];
    const kept: Manifest[] = [];
    for (let bytes = apart; bytes < 1000 * apart; bytes += apart) {
      marks = nextMarks(marks, { lsn: { epoch: 1, sequence: bytes }, bytes }, POLICY);
      assert.ok(marks.length < 100, `${marks.length} marks`);
      kept.unshift({ marks } as Manifest);
      const newest = kept.slice(0, POLICY.keep);
      const point = trimPoint(newest, POLICY);
      const oldest = newest.at(-1)?.marks.at(-1)?.bytes ?? 0;
      if (newest.length < POLICY.keep || oldest < POLICY.historyBytesMax + apart) continue;
      const history = oldest - (point?.sequence ?? Number.NaN);
      assert.ok(history >= POLICY.historyBytesMax, `${history} bytes are kept`);
      assert.ok(history < POLICY.historyBytesMax * 1.2 + apart, `${history} bytes are kept`);
    }
  });
}

test('the log for a consumer begins at a mark that it has, within the maximum bytes', () => {
  const bytesMax = 40_000_000;
  const policy = { ...POLICY, historyBytesMax: 0, forConsumers: { bytesMax, ageMaxMs: 1 } };
  const apart = 3_000_000;
  let marks: Manifest['marks'] = [];
  for (let bytes = apart; bytes <= 100 * apart; bytes += apart) {
    marks = nextMarks(marks, { lsn: { epoch: 1, sequence: bytes }, bytes }, policy);
    const kept = [{ marks } as Manifest];
    const trim = { epoch: 1, sequence: bytes };
    const oldest = Math.max(0, bytes - Math.floor(bytesMax / apart) * apart);
    assert.equal(marksToKeep(kept, trim, LSN_ZERO, bytesMax)[0]?.sequence, oldest);
    const read = { epoch: 1, sequence: bytes - 1 };
    assert.equal(marksToKeep(kept, trim, read, bytesMax)[0]?.sequence, bytes - apart);
    assert.deepEqual(marksToKeep(kept, trim, { epoch: 2, sequence: bytes + 1 }, bytesMax), [trim]);
    assert.deepEqual(marksToKeep(kept, trim, LSN_ZERO, 0), [trim]);
  }
});

test('the log is kept for a consumer until its entries are too old', async () => {
  for (const [ageMs, isKept] of [
    [999, true],
    [1001, false],
  ] as const) {
    const wal = newWal();
    const host = await funded(wal, {
      policy: { keep: 1, forConsumers: { bytesMax: 1e12, ageMaxMs: 1000 } },
      consumers: { slowest: async () => LSN_ZERO, timeAfter: async () => host.clock.nowMs - ageMs },
    });
    await bet(host, 'ann', 't1');
    await taken(host);
    assert.equal(wal.entries(0)[0]?.lsn.sequence === 1, isKept, `after ${ageMs} ms`);
  }
});

test('nothing is trimmed while the positions of the consumers cannot be read', async () => {
  const wal = newWal();
  const host = await funded(wal, {
    policy: { keep: 1, forConsumers: { bytesMax: 0, ageMaxMs: 0 } },
    consumers: { slowest: () => Promise.reject(new Error('away')), timeAfter: async () => undefined },
  });
  await taken(host);
  assert.equal(wal.entries(0)[0]?.lsn.sequence, 1);
  assert.equal(said(host, 'cleanup-failed').length, 1);
});

test('trimming keeps the entries that the kept snapshots need, even after a loss', () => {
  const manifest = (epoch: number, sequence: number) =>
    ({ marks: [{ lsn: { epoch, sequence }, bytes: sequence }] }) as unknown as Manifest;
  const policy = { ...POLICY, keep: 3, historyBytesMax: 0 };
  assert.equal(trimPoint([manifest(3, 60), manifest(2, 51), manifest(1, 100)], policy), undefined);
  assert.deepEqual(trimPoint([manifest(3, 60), manifest(2, 51), manifest(1, 40)], policy), { epoch: 1, sequence: 40 });
});

test('a snapshot of dropped wallets does not replace other snapshots', async () => {
  const wal = newWal();
  const host = await funded(wal, { policy: { keep: 1 } });
  const { id } = await taken(host);
  await bet(host, 'ann', 't1');
  const publish = wal.publishSnapshot.bind(wal);
  wal.publishSnapshot = async (...args) => {
    host.plantBug();
    // The new fence has not been written, so the store cannot refuse the deletion because of its nonce.
    wal.hold();
    await host.execute(place([{ id: 't2' }]));
    return await publish(...args);
  };
  await host.host.takeSnapshots(IMMEDIATE);
  wal.release();
  assert.ok((await wal.snapshots(0)).some((one) => one.id === id));
});
