import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apply } from '../../src/wallet/apply.js';
import type { OperationCommand } from '../../src/wallet/command.js';
import type { Event } from '../../src/wallet/event.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import { post } from '../../src/wallet/ledger.js';
import { listOperations } from '../../src/wallet/queries/list-operations.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { imagesOf } from '../support/audit.js';
import { Domain } from '../support/domain.js';

const ANNA = { name: 'anna', address: '10.1.2.3' };
const BERT = { name: 'bert', address: '2001:db8::7' };

/** One command of each kind. Each of them changes something the first time. */
const EACH: readonly OperationCommand[] = [
  { type: 'create-player', username: 'ann', currency: 'THB' },
  { type: 'import-player', id: 'opening', username: 'bob', currency: 'THB', balance: 50 },
  { type: 'deposit', id: 'd', username: 'ann', amount: 100 },
  { type: 'withdraw', id: 'w', username: 'ann', amount: 30 },
  correction({ id: 'c', amount: -20 }),
  { type: 'block-player', username: 'ann' },
  { type: 'unblock-player', username: 'ann' },
];

type Correction = Extract<OperationCommand, { type: 'correct' }>;

function correction(over: Partial<Correction>): Correction {
  return {
    type: 'correct',
    id: 'c',
    username: 'ann',
    amount: 1,
    reason: 'a slip',
    allowNegativeBalance: false,
    by: ANNA,
    ...over,
  };
}

function domainWith(...commands: readonly OperationCommand[]): Domain {
  const domain = new Domain();
  for (const command of commands) domain.run(command);
  return domain;
}

test('every operator action is in the log with name and address', () => {
  const domain = domainWith(...EACH.map((command) => ({ ...command, by: ANNA })));
  assert.equal(domain.events.length, EACH.length);
  for (const event of domain.events) assert.deepEqual('by' in event && event.by, ANNA, event.type);
});

test('a repeat by any operator gets the first answer and leaves no second trace', () => {
  const domain = domainWith({ type: 'create-player', username: 'ann', currency: 'THB' });
  for (const command of EACH) {
    const first = domain.run({ ...command, by: ANNA });
    const count = domain.events.length;
    const again = domain.run({ ...command, by: BERT });
    assert.deepEqual(again.answer, { ...first.answer, isRepeat: true }, command.type);
    assert.equal(domain.events.length, count, command.type);
  }
  const signers = listOperations(domain.wallet('ann'), 100, undefined).items.map(({ by }) => by?.name);
  assert.deepEqual(new Set(signers), new Set(['anna']));
});

test('a log without operator names yields the same balances', () => {
  const signed = domainWith(...EACH.map((command) => ({ ...command, by: ANNA })));
  const wallets = new Wallets();
  for (const event of signed.events) apply(wallets, { ...event, by: undefined } as Event);
  const facts = (all: Wallets) =>
    [...all].map(({ username, balance, version, blocked }) => [username, balance, version, blocked]);
  assert.deepEqual(facts(wallets), facts(signed.wallets));
});

test('a wallet without operator names remembers operations that have an id', () => {
  const domain = domainWith(...EACH.map((command) => ({ ...command, by: undefined })));
  const { items } = listOperations(domain.wallet('ann'), 100, undefined);
  assert.deepEqual(
    items.map(({ type }) => type),
    ['correction', 'withdrawal', 'deposit'],
  );
});

test("an operator's name is stored once until its last operation is forgotten", () => {
  const domain = domainWith(
    { type: 'create-player', username: 'ann', currency: 'THB', by: ANNA },
    ...EACH.map((command) => ({ ...command, by: ANNA })),
  );
  const { operators } = domain.wallets.tables;
  const name = `${ANNA.address} ${ANNA.name}`;
  assert.equal(operators.find(name), 1);
  assert.equal(operators.take('another'), 2);
  domain.nowMs += 1000;
  for (const username of ['ann', 'bob']) domain.run({ type: 'forget', username, beforeMs: domain.nowMs });
  assert.equal(operators.find(name), 0);
});

test('a correction is a repeat only with the same amount and reason', () => {
  const domain = domainWith(EACH[0] as OperationCommand, correction({ amount: 5 }));
  const failed = { type: 'failed', failure: 'duplicate-transaction' };
  assert.deepEqual(domain.run(correction({ amount: 6 })).answer, failed);
  assert.deepEqual(domain.run(correction({ amount: 5, reason: 'another' })).answer, failed);
  assert.deepEqual(domain.run({ type: 'deposit', id: 'c', username: 'ann', amount: 5 }).answer, failed);
  assert.equal(domain.wallet('ann').balance, 5);
});

test('a correction leaves a debt only when the command allows it', () => {
  const domain = domainWith(EACH[0] as OperationCommand, correction({ id: 'c1', amount: 5 }));
  const refused = { type: 'failed', failure: 'insufficient-balance' };
  assert.deepEqual(domain.run(correction({ id: 'c2', amount: -6 })).answer, refused);
  assert.equal(domain.run(correction({ id: 'c2', amount: -6, allowNegativeBalance: true })).answer.type, 'accepted');
  assert.deepEqual(domain.run(correction({ id: 'c3', amount: -1 })).answer, refused);
  domain.run(correction({ id: 'c3', amount: 1, reason: 'back' }));
  assert.equal(domain.wallet('ann').balance, 0);
  const huge = correction({ id: 'c4', amount: -Number.MAX_SAFE_INTEGER, allowNegativeBalance: true });
  domain.run(huge);
  assert.deepEqual(domain.run({ ...huge, id: 'c5' }).answer, { type: 'failed', failure: 'amount-out-of-range' });
});

test('corrections are posted to the ledger under a kind of their own', () => {
  const domain = domainWith(
    EACH[0] as OperationCommand,
    correction({ id: 'c1', amount: 7 }),
    correction({ id: 'c2', amount: -3 }),
  );
  const books = new Map();
  for (const event of domain.events) post(books, event);
  assert.deepEqual([...books], [['corrections', 4n]]);
});

test('the ledger accounts for the balance after corrections are forgotten', () => {
  const domain = domainWith(
    EACH[0] as OperationCommand,
    correction({ id: 'c1', amount: 7 }),
    correction({ id: 'c2', amount: -3 }),
  );
  domain.nowMs += 1000;
  domain.run({ type: 'block-player', username: 'ann', by: ANNA });
  domain.run({ type: 'forget', username: 'ann', beforeMs: domain.nowMs });
  const wallet = domain.wallet('ann');
  checkWallet(wallet);
  assert.deepEqual([wallet.balance, wallet.rareFields.carried], [4, 4n]);
  assert.deepEqual(
    [...wallet.allOperations()].map(({ type }) => type),
    ['block'],
  );
  assert.deepStrictEqual(imagesOf(domain.replayed()), imagesOf(domain.wallets));
});

test('pages list each operation once, even within one millisecond', () => {
  const domain = domainWith(EACH[0] as OperationCommand);
  const ids = Array.from({ length: 20 }, (_, i) => `d${i}`);
  for (const [i, id] of ids.entries()) {
    if (i % 5 === 0) domain.nowMs++;
    domain.run({ type: 'deposit', id, username: 'ann', amount: 1, by: ANNA });
  }
  domain.restart();
  const found: (string | undefined)[] = [];
  let page = listOperations(domain.wallet('ann'), 3, undefined);
  for (;;) {
    found.push(...page.items.map(({ id }) => id));
    if (page.next === undefined) break;
    page = listOperations(domain.wallet('ann'), 3, page.next);
  }
  assert.deepEqual(found, ids.reverse());
});
