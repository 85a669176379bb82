import assert from 'node:assert/strict';
import { test } from 'node:test';
import { query } from '../../src/wallet/queries/query.js';
import { auditTables, imagesOf } from '../support/audit.js';
import { commands, Domain, throughSnapshot } from '../support/domain.js';

const { place, settle, cancel, adjust, tip } = commands;

/** Creates players whose wallets contain all kinds of data. */
function played(): Domain {
  const domain = new Domain();
  for (const username of ['ann', 'bob', 'eve']) {
    const over = { username };
    domain.fund(username, 1_000_000);
    domain.run(place([{ id: 'a' }, { id: 'b', status: 'WAITING' }], over));
    domain.run(adjust([{ id: 'a', betAmount: 7 }], { ...over, id: 'adjustment' }));
    domain.run(settle([{ id: 'payout', byRound: true, isEndRound: true }], over));
    domain.run(cancel([{ id: 'unknown', roundId: 'r2' }], over));
    domain.run(cancel([{ id: 'c', roundId: 'r3', byRound: true }], over));
    domain.run(tip([{ id: 'tip', roundId: 'r4' }], over));
  }
  return domain;
}

test('an unused player hibernates and wakes unchanged', () => {
  const { wallets } = played();
  const before = imagesOf(wallets);
  for (let i = 0; i < wallets.count * 2; i++) wallets.hibernateNext();
  assert.equal(wallets.packedCount, 3);
  assert.equal(wallets.transactionCount, 3 * 6);
  const { count: rows } = wallets.tables.transactions;
  assert.equal(rows, 0);
  wallets.get('bob');
  wallets.hibernateNext();
  assert.equal(wallets.packedCount, 2, 'asked for since the last look');
  assert.deepEqual(imagesOf(wallets), before);
  assert.equal(wallets.packedCount, 0);
  auditTables(wallets);
});

test('snapshots of hibernated and awake players are equal byte for byte', () => {
  const { wallets } = played();
  const before = imagesOf(wallets);
  const packed = throughSnapshot(wallets);
  assert.equal(packed.packedCount, 3);
  const again = throughSnapshot(packed);
  assert.equal(packed.packedCount, 3, 'they are taken over as they are');
  assert.deepEqual(imagesOf(again), before);
});

test('reading balances, listing players and scanning for open bets wakes no player', () => {
  const { wallets } = played();
  const packed = throughSnapshot(wallets);
  query(packed, { type: 'read-player', username: 'ann' });
  query(packed, { type: 'list-players', from: 0, limit: 10 });
  query(packed, { type: 'scan-transactions', state: 'OPEN', createdBeforeMs: 0, limit: 10, after: undefined });
  assert.equal(packed.packedCount, 3);
});

test('a long wallet does not hibernate', () => {
  const domain = new Domain();
  domain.fund('ann', 1_000_000);
  for (let n = 0; n < 200; n++) domain.run(settle([{ id: `t${n}`, roundId: `r${n}`, isSingleState: true }]));
  for (let i = 0; i < 4; i++) domain.wallets.hibernateNext();
  assert.equal(domain.wallets.packedCount, 0);
  assert.equal(throughSnapshot(domain.wallets).packedCount, 0);
});

test('waking a wallet detects a packed record that contradicts its row', () => {
  const packed = throughSnapshot(played().wallets);
  const wallet = packed.peek('ann');
  assert.ok(wallet?.isPacked);
  wallet.counts = { ...wallet.counts, openBets: 1 };
  assert.throws(() => packed.get('ann'), /a wallet is unpacked as it was packed/);
  const other = packed.peek('bob');
  assert.ok(other?.isPacked);
  other.balance++;
  assert.throws(() => packed.get('bob'), /the balance is what the books explain/);
});
