import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Wallets } from '../../src/wallet/state/wallets.js';

test('a missing item is found after its insertion and not after its removal', () => {
  const wallets = new Wallets();
  assert.equal(wallets.peek('ann'), undefined);
  const wallet = wallets.create('ann', 'THB');
  assert.ok(wallets.peek('ann') !== undefined);
  for (let again = 0; again < 2; again++) {
    assert.equal(wallet.round('P', 'r1'), undefined);
    assert.equal(wallet.bet('P', 't1'), undefined);
    const round = wallet.roundFor('P', 'r1');
    const bet = wallet.add(round, 't1', 'bet', 'OPEN', 1000, 10);
    assert.equal(wallet.round('P', 'r1')?.row, round.row);
    assert.equal(wallet.bet('P', 't1')?.row, bet.row);
    wallet.dropRound(round);
  }
});

test('an item is found even if its row was reused in between', () => {
  const wallets = new Wallets();
  const wallet = wallets.create('ann', 'THB');
  const round = wallet.roundFor('P', 'r1');
  wallet.add(round, 't1', 'bet', 'OPEN', 1000, 10);
  assert.ok(wallet.bet('P', 't1') !== undefined);
  wallet.dropRound(round);
  const other = wallet.roundFor('P', 'r2');
  wallet.add(other, 't2', 'bet', 'OPEN', 2000, 20);
  assert.equal(wallet.bet('P', 't1'), undefined);
  assert.equal(wallet.round('P', 'r1'), undefined);
  assert.equal(wallet.bet('P', 't2')?.createdMs, 2000);
});
