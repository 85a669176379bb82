import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../src/base/time.js';
import type { CallbackApplied, Event } from '../../src/wallet/event.js';
import { LedgerTotals } from '../../src/wallet/ledger-totals.js';
import { commands, Domain } from '../support/domain.js';

const DAY = 20_000;
const at = (day: number) => ({ username: 'ann', version: 2, timeMs: day * DAY_MS + 5 });
const deposited = (amount: number, day = DAY): Event => ({
  ...at(day),
  type: 'deposited',
  id: 'd',
  amount,
  before: 0,
  after: amount,
});

function played(productId: string, changes: CallbackApplied['changes'], before = 0): Event {
  const request = { endpoint: 'settleBets', requestId: 'q', timestampMillis: 1 } as const;
  return { ...at(DAY), type: 'callback-applied', ...request, productId, before, remembers: true, changes };
}

test('sums beyond the precision of doubles stay exact after storing and reading', () => {
  const totals = new LedgerTotals();
  for (let i = 0; i < 3; i++) totals.add('THB', deposited(Number.MAX_SAFE_INTEGER));
  const read = LedgerTotals.from(JSON.parse(JSON.stringify(totals)));
  read.add('THB', deposited(1));
  read.add('THB', { ...deposited(0), type: 'withdrawn', amount: 7 } as Event);
  const sum = String(3n * BigInt(Number.MAX_SAFE_INTEGER) + 1n);
  assert.deepEqual(read.toJSON().days, [
    [
      DAY,
      'THB',
      [
        ['deposits', sum, '0'],
        ['withdrawals', '0', '7'],
      ],
    ],
  ]);
});

test('a message that is only remembered counts as neither bet nor rollback', () => {
  const domain = new Domain();
  domain.fund('ann', 1000);
  domain.run(commands.place([{ id: 'a' }]));
  domain.run(commands.settle([{ id: 'a' }], { id: 's' }));
  for (const id of ['first', 'second', 'third']) domain.run(commands.rollback([{ id: 'a' }], { id }));
  const totals = new LedgerTotals();
  for (const event of domain.events) totals.add('THB', event);
  const kinds = [
    ['stakes', 1],
    ['payouts', 1],
    ['rollbacks', 1],
  ];
  assert.deepEqual(totals.toJSON().products[0]?.[2], kinds);
});

test('a single-state round counts as a bet and a settlement of its product', () => {
  const totals = new LedgerTotals();
  const game = {
    gameCode: 'g',
    playInfo: 'p',
    turnOver: 0,
    isFeature: false,
    isFeatureBuy: false,
    keepsRequest: false,
    skip: false,
    endsRound: true,
  };
  totals.add(
    'EUR',
    played('P', [{ type: 'single-state-settled', id: 'b', roundId: 'r', stake: 10, payout: 25, ...game, after: 15 }]),
  );
  totals.add('EUR', played('Q', []));
  const { days, products } = totals.toJSON();
  assert.deepEqual(days, [
    [
      DAY,
      'EUR',
      [
        ['stakes', '0', '10'],
        ['payouts', '25', '0'],
      ],
    ],
  ]);
  assert.deepEqual(products, [
    [
      'P',
      at(DAY).timeMs,
      [
        ['payouts', 1],
        ['stakes', 1],
      ],
    ],
  ]);
});

test('ledger totals report that a limit on days, currencies or products was reached', () => {
  const totals = new LedgerTotals();
  for (let day = DAY; day < DAY + 40; day++) totals.add('THB', deposited(1, day));
  const { days, isCut } = totals.toJSON();
  assert.deepEqual([days.length, days[0]?.[0], days.at(-1)?.[0], isCut], [35, DAY + 5, DAY + 39, false]);
  for (let i = 0; i < 60; i++) totals.add(`C${i}`, deposited(1, DAY + 39));
  assert.deepEqual([totals.toJSON().days.length, totals.toJSON().isCut], [34 + 50, true]);
  const others = new LedgerTotals();
  for (let i = 0; i < 210; i++)
    others.add('THB', played(`P${i}`, [{ type: 'round-marked', roundId: 'r', markMs: 1, touches: true, after: 0 }]));
  assert.deepEqual([others.toJSON().products.length, others.toJSON().isCut], [200, true]);
});
