import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archivableRounds } from '../../src/wallet/archiving.js';
import { Cursor } from '../../src/wallet/records/bytes.js';
import { commands, Domain } from '../support/domain.js';

const { place, settle, adjust, void: voidSettled, cancel } = commands;
const MANY = 200;

/** Number of texts read while `run` runs. */
function textsRead(run: () => void): number {
  const { text } = Cursor.prototype;
  let count = 0;
  Cursor.prototype.text = function (this: Cursor) {
    count++;
    return text.call(this);
  };
  try {
    run();
  } finally {
    Cursor.prototype.text = text;
  }
  return count;
}

function begun(): Domain {
  const domain = new Domain();
  domain.fund('ann', 1_000_000);
  domain.run(place([{ id: 'bet' }]));
  return domain;
}

function accept(domain: Domain, command: Parameters<Domain['run']>[0]): void {
  assert.equal(domain.statusCode(command), 0);
}

test('a payout in a long round does not read the other ids', () => {
  const domain = begun();
  const payout = (n: number) => textsRead(() => accept(domain, settle([{ id: `payout ${n}`, byRound: true }])));
  payout(0);
  const second = payout(1);
  for (let n = 2; n < MANY; n++) payout(n);
  // The wallet may have hibernated and been woken in between.
  assert.ok(payout(MANY) < second + MANY / 2);
  assert.equal(domain.wallet('ann').round('P1', 'r1')?.settlementCount, MANY + 1);
});

test('an adjustment of an often adjusted bet does not read the other ids', () => {
  const domain = begun();
  const adjustment = (n: number) =>
    textsRead(() => accept(domain, adjust([{ id: 'bet', betAmount: 1 + (n % 9) }], { id: `request ${n}` })));
  adjustment(0);
  const second = adjustment(1);
  for (let n = 2; n < MANY; n++) adjustment(n);
  assert.ok(adjustment(MANY) < second + MANY / 2);
  const { wallets } = domain;
  accept(domain, adjust([{ id: 'bet', betAmount: 1 + (7 % 9) }], { id: 'request 7' }));
  assert.equal(wallets.get('ann')?.bet('P1', 'bet')?.adjustmentCount, MANY + 1, 'a repeat is one');
});

test('a void of many payouts reads each of them only a few times', () => {
  const domain = begun();
  for (let n = 0; n < MANY; n++) accept(domain, settle([{ id: `payout ${n}`, payoutAmount: 3, byRound: true }]));
  const read = textsRead(() => accept(domain, voidSettled([{ id: 'bet', payoutAmount: 3 * MANY }])));
  assert.ok(read < 10 * MANY, `${read} texts`);
  assert.equal(domain.wallet('ann').balance, 1_000_000);
});

test('a cancel in a long round does not read the other ids', () => {
  const domain = begun();
  const close = (n: number) => {
    accept(domain, place([{ id: `bet ${n}` }], { timestampMillis: 1001 + n }));
    return textsRead(() =>
      accept(domain, cancel([{ id: `cancel ${n}`, byRound: true }], { timestampMillis: 1001 + n })),
    );
  };
  close(0);
  const second = close(1);
  for (let n = 2; n < MANY; n++) close(n);
  assert.ok(close(MANY) < second + MANY / 2);
  assert.equal(domain.statusCode(cancel([{ id: 'cancel 5', byRound: true }])), 0, 'a repeat');
});

test('a round too large for an archive record stays in memory', () => {
  const domain = new Domain();
  domain.fund('ann', 1_000_000);
  const add = (from: number, count: number, roundId: string) =>
    accept(
      domain,
      settle(Array.from({ length: count }, (_, i) => ({ id: `t${from + i}`, roundId, isSingleState: true }))),
    );
  for (let from = 0; from < 2 ** 16; from += 2 ** 10) add(from, 2 ** 10, 'long');
  add(2 ** 16, 1, 'short');
  const reported = archivableRounds(domain.wallet('ann'), Number.POSITIVE_INFINITY, 0, 10);
  assert.deepEqual(
    reported.map(({ roundId }) => roundId),
    ['short'],
  );
});
