import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionFailure } from '../../src/base/assert.js';
import { apply, applyIn, type WalletEvent } from '../../src/wallet/apply.js';
import type { CallbackApplied } from '../../src/wallet/event.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import type { Wallet } from '../../src/wallet/state/wallet.js';
import { commands, Domain } from '../support/domain.js';

/* Tests of apply's preconditions: the replay of a log with a gap must stop instead of guessing. */

const { cancel, place, settle } = commands;

/** Creates ann and bob with 100 each, and the event of a bet of 10 that ann is about to make. */
function aboutToBet(): { domain: Domain; event: CallbackApplied } {
  const domain = new Domain();
  const ahead = new Domain();
  for (const one of [domain, ahead]) {
    for (const username of ['ann', 'bob'])
      one.run({ type: 'import-player', id: 'opening', username, currency: 'THB', balance: 100 });
  }
  ahead.run(place([{ id: 't1', betAmount: 10 }]));
  const event = ahead.events.at(-1);
  assert.ok(event?.type === 'callback-applied');
  return { domain, event };
}

const refuses = (run: () => void, message: RegExp) =>
  assert.throws(run, (error) => error instanceof AssertionFailure && message.test(error.message));

test('an event is applied once, to the version before its own', () => {
  const { domain, event } = aboutToBet();
  const { wallets } = domain;
  refuses(() => apply(wallets, { ...event, version: event.version + 1 }), /version/);
  assert.equal(apply(wallets, event).version, event.version);
  refuses(() => apply(wallets, event), /version/);
  apply(wallets, { ...event, version: event.version + 1, before: 90, changes: [] });
});

test('an event is applied to the wallet of its player', () => {
  const { domain, event } = aboutToBet();
  const bob = domain.wallets.get('bob') as Wallet;
  refuses(() => applyIn(bob, event as WalletEvent), /own wallet/);
  assert.equal(bob.balance, 100);
});

test("a callback starts from the wallet's balance", () => {
  const { domain, event } = aboutToBet();
  refuses(() => apply(domain.wallets, { ...event, before: 99 }), /starts from the balance/);
});

test('a change moves exactly the amount that it states', () => {
  const { domain, event } = aboutToBet();
  const [change] = event.changes;
  assert.ok(change !== undefined);
  refuses(() => apply(domain.wallets, { ...event, changes: [{ ...change, after: 89 }] }), /moves what it says/);
});

test('an open bet is counted until it is settled', () => {
  const { domain, event } = aboutToBet();
  const ann = apply(domain.wallets, event);
  assert.equal(ann.openBets, 1);
  domain.run(settle([{ id: 't1', betAmount: 10, payoutAmount: 5 }]));
  assert.equal(ann.openBets, 0);
});

test('a refused array leaves its side effect and moves no money', () => {
  const { domain, event } = aboutToBet();
  const ann = apply(domain.wallets, event);
  domain.run(place([{ id: 't2', roundId: 'r2', betAmount: 20 }]));
  domain.run(cancel([{ id: 't2', roundId: 'r2', betAmount: 20 }]));
  const before = ann.balance;
  const { answer } = domain.run(
    cancel([
      { id: 't1', betAmount: 10 },
      { id: 'r2', roundId: 'r2', byRound: true },
    ]),
  );
  assert.deepEqual(answer, { type: 'failed', failure: 'already-cancelled' });
  const residue = domain.events.at(-1);
  assert.ok(residue?.type === 'callback-applied');
  assert.deepEqual(
    residue.changes.map(({ type, after }) => [type, after]),
    [['round-marked', before]],
  );
  assert.equal(ann.balance, before);
  assert.equal(ann.openBets, 1);
});

test('the ledger accounts for the balance after a round leaves memory and returns', () => {
  const { domain, event } = aboutToBet();
  const ann = apply(domain.wallets, event);
  domain.run(settle([{ id: 't1', betAmount: 10, payoutAmount: 25 }]));
  domain.letGo(10);
  assert.equal([...ann.transactions()].length, 0, 'it is gone');
  checkWallet(ann);
  const again = domain.runRecalling(settle([{ id: 't1', betAmount: 10, payoutAmount: 25 }]));
  assert.deepEqual(again.answer, { type: 'accepted', before: 90, after: 115, isRepeat: true });
  checkWallet(ann);
});
