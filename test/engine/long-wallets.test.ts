import assert from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '../../src/base/assert.js';
import { listSnapshots, readSnapshot } from '../../src/log/snapshot-reader.js';
import { IMMEDIATE } from '../../src/snapshot/snapshotter.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { imagesOf } from '../support/audit.js';
import { commands, Domain, throughSnapshot } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { TestHost, turns } from '../support/test-host.js';

const { place, settle } = commands;
const STORE_ID = '00000000-0000-4000-8000-00000000000e';
const SNAPSHOT_ID = '0123456789abcdef';

const single = (n: number) => settle([{ id: `bet-${n}`, roundId: `round-${n}`, isSingleState: true }]);

/** Creates a domain with one round of two bets, settled BY_ROUND, and with this many additional bets. */
function domainWith(bets: number): Domain {
  const domain = new Domain();
  domain.fund('ann', 1_000_000);
  domain.run(place([{ id: 'a' }, { id: 'b' }]));
  domain.run(settle([{ id: 'payout', byRound: true, isEndRound: true }]));
  for (let n = 0; n < bets; n++) domain.run(single(n));
  return domain;
}

for (const bets of [61, 62, 200, 66_000]) {
  test(`a wallet with ${bets + 3} transactions survives a snapshot unchanged`, () => {
    const { wallets } = domainWith(bets);
    const [wallet] = wallets;
    assert.ok(wallet !== undefined && wallet.transactionCount === bets + 3);
    assert.deepEqual(imagesOf(throughSnapshot(wallets)), imagesOf([wallet]));
  });
}

test('a wallet that changes between two steps leaves nothing in the chunk', () => {
  const { wallets } = domainWith(200);
  const [wallet] = wallets;
  assert.ok(wallet !== undefined);
  const steps = [...new SnapshotCodec(STORE_ID).beginChunk(0, SNAPSHOT_ID, 0).add(wallet)].length;
  assert.ok(steps > 6, `${steps} steps`);
  for (let step = 0; step < steps; step++) {
    const chunk = new SnapshotCodec(STORE_ID).beginChunk(0, SNAPSHOT_ID, 0);
    const empty = chunk.byteLength;
    const adding = chunk.add(wallet);
    for (let i = 0; i <= step; i++) assert.equal(adding.next().done, false);
    wallet.version++;
    assert.deepEqual(adding.next(), { done: true, value: false });
    assert.equal(chunk.byteLength, empty);
  }
});

/**
 * Starts a host with a player who has this many bets. The clock advances at every read, so that each slice has two
 * steps.
 */
async function hostWith(bets: number) {
  const wal = new MemoryWal(STORE_ID, 2);
  const host = await TestHost.started({ wal });
  for (const username of ['ann', 'bob']) await host.fund(username, 1_000_000);
  for (let n = 0; n < bets; n++) assert.equal((await host.execute(single(n))).type, 'accepted');
  host.clock.monotonicMs = () => {
    host.clock.nowMs += 0.5;
    return Math.floor(host.clock.nowMs);
  };
  return { wal, host };
}

async function takenOf(host: TestHost) {
  const [result] = await host.host.takeSnapshots(IMMEDIATE);
  assert.equal(result?.type, 'taken', JSON.stringify(result));
}

test('all players are served while a long wallet is added to a snapshot', async () => {
  const { wal, host } = await hostWith(1000);
  let isTaking = true;
  let bobs = 0;
  let anns = 0;
  const betting = (async () => {
    while (isTaking) {
      const bet = { id: `bob-${bobs++}` };
      assert.equal((await host.execute(place([bet], { username: 'bob' }))).type, 'accepted');
      if (bobs % 12 === 0) assert.equal((await host.execute(single(2000 + anns++))).type, 'accepted');
      await turns(1);
    }
  })();
  await takenOf(host);
  isTaking = false;
  await betting;
  assert.ok(bobs > 12 && anns > 0, `${bobs} bets of bob, ${anns} of ann`);
  const served = [await host.balance('ann'), await host.balance('bob')];
  const next = await TestHost.started({ wal });
  assert.deepEqual([await next.balance('ann'), await next.balance('bob')], served);
  const again = await next.execute(single(2000));
  assert.ok(again.type === 'accepted' && again.isRepeat);
});

test('a chunk ends between two wallets, even if a slice ends within a wallet', async () => {
  const players = Array.from({ length: 12 }, (_, i) => `long-${i}`);
  const { wal, host } = await hostWith(0);
  for (const username of players) {
    await host.fund(username, 1_000_000);
    for (let n = 0; n < 300; n++) {
      const bet = { id: `${username}-${n}`, roundId: `${username}-${n}`, isSingleState: true };
      assert.equal((await host.execute(settle([bet], { username }))).type, 'accepted');
    }
  }
  await takenOf(host);
  const snapshotFormat = new SnapshotCodec(STORE_ID);
  const { whole } = await listSnapshots(0, { snapshots: wal, snapshotFormat });
  const manifest = must(whole[0], 'one was taken');
  assert.ok(manifest.chunks.length > 1, 'it has several chunks');
  const wallets = await readSnapshot(manifest, { snapshots: wal, snapshotFormat, yieldTurn: () => turns(1) });
  for (const username of players) assert.equal(wallets.get(username)?.transactionCount, 300);
});

test('a player who bets continuously is still included in the snapshot', async () => {
  const { wal, host } = await hostWith(1000);
  let isTaking = true;
  let bets = 0;
  const betting = (async () => {
    while (isTaking) {
      assert.equal((await host.execute(single(2000 + bets++))).type, 'accepted');
      await turns(1);
    }
  })();
  await takenOf(host);
  isTaking = false;
  await betting;
  assert.ok(bets > 3, `${bets} bets`);
  const served = await host.balance('ann');
  assert.equal(await (await TestHost.started({ wal })).balance('ann'), served);
});
