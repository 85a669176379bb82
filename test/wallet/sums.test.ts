import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ExactSum, trySum } from '../../src/wallet/amount.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import { imagesOf } from '../support/audit.js';
import { commands, Domain } from '../support/domain.js';

const { place, settle, void: voidSettled } = commands;
const LARGE = 999_999_999_999_999;

test('an exact sum stays exact for any amounts', () => {
  const amount = fc.oneof(fc.integer(), fc.maxSafeInteger());
  fc.assert(
    fc.property(fc.array(amount), (amounts) => {
      const sum = new ExactSum();
      let expected = 0n;
      for (const one of amounts) {
        sum.add(one);
        expected += BigInt(one);
      }
      assert.equal(sum.value, expected);
      const isSafe = expected <= BigInt(Number.MAX_SAFE_INTEGER) && expected >= BigInt(Number.MIN_SAFE_INTEGER);
      assert.equal(trySum(amounts), isSafe ? Number(expected) : undefined);
    }),
  );
});

test('the ledger accounts for the balance even when sums exceed safe integers', () => {
  const domain = new Domain();
  domain.fund('ann', 0);
  for (let i = 0; i < 40; i++) {
    domain.run({ type: 'deposit', id: `d${i}`, username: 'ann', amount: LARGE });
    assert.equal(domain.statusCode(place([{ id: `t${i}`, roundId: `r${i}`, betAmount: LARGE }])), 0);
    assert.equal(domain.statusCode(settle([{ id: `t${i}`, roundId: `r${i}`, payoutAmount: 1 }])), 0);
    checkWallet(domain.wallet('ann'));
  }
  assert.deepEqual(imagesOf(domain.replayed()), imagesOf(domain.wallets));
  domain.nowMs += 1000;
  domain.run({ type: 'forget', username: 'ann', beforeMs: domain.nowMs });
  checkWallet(domain.wallet('ann'));
  assert.equal(domain.wallet('ann').transactionCount, 0);
  assert.equal(domain.wallet('ann').balance, 40);
});

test('a void of a round whose payouts exceed safe integers changes nothing', () => {
  const domain = new Domain();
  domain.fund('ann', 10);
  domain.run(place([{ id: 'a', betAmount: 10 }]));
  for (let i = 0; i < 14; i++) {
    assert.equal(domain.statusCode(settle([{ id: `s${i}`, payoutAmount: LARGE, byRound: true }])), 0);
    domain.run({ type: 'withdraw', id: `w${i}`, username: 'ann', amount: LARGE });
  }
  const before = domain.wallet('ann').version;
  assert.equal(domain.statusCode(voidSettled([{ id: 'v', byRound: true }])), 40003);
  assert.equal(domain.wallet('ann').version, before);
  checkWallet(domain.wallet('ann'));
});
