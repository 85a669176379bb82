import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionFailure } from '../../src/base/assert.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import { formatOf } from '../../src/store/format/event-codec.js';
import { apply } from '../../src/wallet/apply.js';
import type { Event } from '../../src/wallet/event.js';
import { commands, Domain } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';

const { place, settle, adjust, cancel, rollback } = commands;
const WAITING = { id: 'b', betAmount: 100, status: 'WAITING', skipBalanceUpdate: true } as const;

function waiting(rules = rulesOf(settingsWith())): Domain {
  const domain = new Domain(rules);
  domain.fund('ann', 1000);
  domain.run(place([WAITING], { id: 'q-waiting' }));
  return domain;
}

const newest = ({ events }: Domain) => events.at(-1) as Event;

test('a confirmation with a different stake needs store format 4', () => {
  const domain = waiting();
  assert.ok(domain.events.every((event) => formatOf(event) <= 3));
  assert.deepEqual(domain.run(place([{ id: 'b', betAmount: 95 }])).remarks, ['stake-changed']);
  assert.equal(formatOf(newest(domain)), 4);
});

test('no confirmation changes a stake while an older node cannot read it', () => {
  const domain = waiting({ ...rulesOf(settingsWith()), confirmsOtherStake: false });
  assert.equal(domain.statusCode(place([{ id: 'b', betAmount: 95 }])), 20002);
  assert.equal(domain.statusCode(place([{ id: 'b', betAmount: 100 }])), 0);
  assert.ok(domain.events.every((event) => formatOf(event) <= 3));
});

test('a taken stake is never replaced', () => {
  const domain = waiting();
  const ahead = waiting();
  ahead.run(place([{ id: 'b', betAmount: 95 }]));
  domain.run(place([{ id: 'b', betAmount: 100 }]));
  const event = { ...newest(ahead), version: 4, before: 900 } as Event;
  assert.throws(() => apply(domain.wallets, event), AssertionFailure);
});

test('a refund gives back the stake of the confirmation', () => {
  const domain = waiting();
  const open = place([{ id: 'b', betAmount: 95 }], { id: 'q-open' });
  domain.run(open);
  domain.run(cancel([{ id: 'b', betAmount: 95 }], { id: 'q-cancel' }));
  assert.equal(domain.wallet('ann').balance, 1000);
  domain.run(rollback([{ id: 'b', betAmount: 95, payoutAmount: 0, skipBalanceUpdate: true }], { id: 'q-back' }));
  // Check that neither acknowledged message takes the returned stake again.
  for (const message of [open, place([WAITING], { id: 'q-waiting' })]) {
    const { answer, event } = domain.run(message);
    assert.deepEqual([answer.type, event], ['accepted', undefined]);
  }
  assert.equal(domain.statusCode(place([{ id: 'b', betAmount: 90 }], { id: 'q-new' })), 20002, 'it was opened before');
});

test('a message that an older walletd acknowledged remains a repeat', () => {
  const rules = rulesOf(settingsWith(), {});
  const old = { ...rules, remembersMessages: false, keepsRequests: false };
  const before = waiting(old);
  const open = place([{ id: 'b', betAmount: 100 }], { id: 'q-open' });
  before.run(open);
  before.run(cancel([{ id: 'b', betAmount: 100 }]));
  before.run(rollback([{ id: 'b', betAmount: 100, skipBalanceUpdate: true }], { timestampMillis: 2000 }));
  const after = new Domain();
  after.wallets = before.replayed();
  for (const message of [open, place([WAITING], { id: 'q-waiting' })]) {
    const { answer, event } = after.run(message);
    assert.deepEqual([answer.type, event], ['accepted', undefined]);
  }
});

for (const [name, remarks, before, settled] of [
  ['one bet', ['untaken-stake'], [], { id: 'b', betAmount: 100 }],
  ['a lost bet', ['untaken-stake'], [], { id: 'b', betAmount: 100, payoutAmount: 0 }],
  ['its round', ['untaken-stake'], [], { id: 's', byRound: true }],
  ['one bet without money', [], [], { id: 'b', betAmount: 100, skipBalanceUpdate: true }],
  ['its round without money', [], [], { id: 's', byRound: true, skipBalanceUpdate: true }],
  ['one bet, later', ['untaken-stake'], [settle([{ id: 'b', skipBalanceUpdate: true }])], { id: 'b', betAmount: 100 }],
  [
    'its round, later',
    ['untaken-stake'],
    [settle([{ id: 's', byRound: true, skipBalanceUpdate: true }])],
    { id: 's', byRound: true },
  ],
  ['a taken bet', [], [place([{ id: 'b', betAmount: 100 }])], { id: 'b', betAmount: 100 }],
  ['a free bet', [], [adjust([{ id: 'b', betAmount: 0 }])], { id: 'b', betAmount: 0 }],
] as const) {
  test(`a settle of ${name} ${remarks.length > 0 ? 'warns of the untaken stake' : 'gives no warning'}`, () => {
    const domain = waiting();
    for (const command of before) domain.run(command);
    const decision = domain.run(settle([settled]));
    assert.deepEqual([decision.answer.type, decision.remarks], ['accepted', remarks]);
  });
}
