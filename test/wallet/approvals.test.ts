import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { OperationCommand } from '../../src/wallet/command.js';
import { PENDING_MAX, PENDING_OF_OPERATOR_MAX } from '../../src/wallet/decide/approvals.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import { type Books, post, total } from '../../src/wallet/ledger.js';
import { scanOperations } from '../../src/wallet/queries/scan-operations.js';
import { auditTables, imagesOf } from '../support/audit.js';
import { Domain } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';

const ANNA = { name: 'anna', address: '10.1.2.3' };
const BEN = { name: 'ben', address: '10.1.2.4' };
const HOUR_MS = 3_600_000;
const RULES = rulesOf(settingsWith({ 'money.byHand.approveAbove': { THB: 1 }, 'money.byHand.approvalHours': 1 }));
const WAITING = { type: 'request', by: undefined, username: undefined, fromMs: 0, beforeMs: 2 ** 53 } as const;

function newDomain(): Domain {
  const domain = new Domain(RULES);
  domain.run({ type: 'create-player', username: 'ann', currency: 'THB', by: ANNA });
  domain.run({ type: 'create-player', username: 'bob', currency: 'THB', by: ANNA });
  return domain;
}

const deposit = (amount: number, id = 'd', by = ANNA) =>
  ({ type: 'deposit', id, username: 'ann', amount, by }) as const;
const withdraw = (amount: number, id = 'w', by = ANNA) =>
  ({ type: 'withdraw', id, username: 'ann', amount, by }) as const;
const approve = (id: string, by = BEN) => ({ type: 'approve-request', id, username: 'ann', by }) as const;
const refuse = (id: string, by = BEN) => ({ type: 'refuse-request', id, username: 'ann', by }) as const;
const expire = (id: string) => ({ type: 'expire-request', id, username: 'ann' }) as const;

/** The resulting balance, or the failure. */
function outcome(domain: Domain, command: Parameters<Domain['run']>[0]): number | string {
  const { answer } = domain.run(command);
  return answer.type === 'failed' ? answer.failure : answer.after;
}

function waiting(domain: Domain): string[] {
  const { items } = scanOperations(domain.wallets, {
    type: 'scan-operations',
    wanted: WAITING,
    after: undefined,
    from: 0,
    limit: 10_000,
  });
  return items.map(({ operation }) => operation.id ?? '').sort();
}

describe('manual movements above the approval threshold', () => {
  test('money waits for approval by a second operator and moves once', () => {
    const domain = newDomain();
    assert.equal(outcome(domain, deposit(10_000)), 10_000, 'the threshold itself needs nobody');
    assert.equal(outcome(domain, deposit(10_001, 'big')), 'approval-pending');
    assert.deepEqual(waiting(domain), ['big']);
    assert.equal(domain.wallet('ann').balance, 10_000);
    assert.equal(outcome(domain, approve('big', ANNA)), 'approval-own');
    assert.equal(outcome(domain, approve('big')), 20_001);
    const again = domain.run(approve('big')).answer;
    assert.deepEqual(again, { type: 'accepted', before: 10_000, after: 20_001, isRepeat: true });
    assert.equal(outcome(domain, deposit(10_001, 'big')), 20_001, 'the request itself is a repeat now');
    assert.equal(outcome(domain, refuse('big')), 'approval-closed');
    assert.deepEqual(waiting(domain), []);
    const [newest] = domain.wallet('ann').allOperations();
    assert.deepEqual([newest?.type, newest?.by, newest?.approver], ['deposit', ANNA, BEN]);
  });

  test('a repeated request stays pending, and the same id with different content conflicts', () => {
    const domain = newDomain();
    domain.run(deposit(20_000));
    const events = domain.events.length;
    assert.equal(outcome(domain, deposit(20_000)), 'approval-pending');
    assert.equal(outcome(domain, deposit(20_000, 'd', BEN)), 'approval-pending');
    assert.equal(outcome(domain, deposit(20_001)), 'duplicate-transaction');
    assert.equal(outcome(domain, deposit(1)), 'duplicate-transaction');
    const correction = { type: 'correct', id: 'd', username: 'ann', amount: 20_000, reason: 'r' } as const;
    assert.equal(outcome(domain, { ...correction, allowNegativeBalance: false, by: ANNA }), 'duplicate-transaction');
    assert.equal(domain.events.length, events);
  });

  test('a refused request moves nothing and its id cannot be reused', () => {
    const domain = newDomain();
    domain.run(deposit(20_000));
    domain.run(deposit(20_000, 'mine'));
    assert.equal(outcome(domain, refuse('d')), 0);
    assert.equal(outcome(domain, refuse('d')), 0);
    assert.equal(outcome(domain, refuse('mine', ANNA)), 0, 'an operator takes a request of their own back');
    assert.equal(outcome(domain, approve('d')), 'approval-closed');
    assert.equal(outcome(domain, deposit(20_000)), 'approval-closed');
    assert.equal(outcome(domain, approve('nothing')), 'approval-not-found');
    domain.run(deposit(1, 'small'));
    assert.equal(outcome(domain, approve('small')), 'approval-not-found');
    assert.equal(outcome(domain, refuse('small')), 'approval-not-found');
  });

  test('a request expires by log time', () => {
    const domain = newDomain();
    domain.run(deposit(20_000));
    domain.nowMs += HOUR_MS - 1;
    assert.equal(outcome(domain, expire('d')), 0);
    assert.deepEqual(waiting(domain), ['d']);
    domain.nowMs += 1;
    assert.equal(outcome(domain, approve('d')), 'approval-closed');
    assert.equal(outcome(domain, refuse('d')), 'approval-closed');
    assert.deepEqual(
      domain.wallets.expiredRequests(domain.nowMs),
      [{ username: 'ann', id: 'd' }].map((one) => ({ ...one })),
    );
    domain.run(expire('d'));
    assert.deepEqual(waiting(domain), []);
    assert.equal(outcome(domain, deposit(20_000)), 'approval-closed');
    assert.equal(domain.wallet('ann').balance, 0);
  });

  test('the balance is checked at the request and again at the approval', () => {
    const domain = newDomain();
    assert.equal(outcome(domain, withdraw(20_000)), 'insufficient-balance');
    for (let i = 0; i < 3; i++) domain.run(deposit(10_000, `d${i}`));
    assert.equal(outcome(domain, withdraw(30_000)), 'approval-pending');
    assert.equal(outcome(domain, withdraw(10_000, 'w2')), 20_000);
    assert.equal(outcome(domain, approve('w')), 'insufficient-balance');
    domain.run(deposit(10_000, 'd9'));
    assert.equal(outcome(domain, approve('w')), 0);
  });

  test('an opening balance above the threshold is refused', () => {
    const line = {
      type: 'import-player',
      id: 'o',
      username: 'cy',
      currency: 'THB',
      balance: 10_001,
      by: ANNA,
    } as const;
    assert.equal(outcome(newDomain(), line), 'approval-needed');
    assert.equal(outcome(newDomain(), { ...line, currency: 'USD' }), 10_001);
  });

  test('an operator at the limit of pending requests does not block other operators', () => {
    const domain = newDomain();
    for (let i = 0; i < PENDING_OF_OPERATOR_MAX; i++) {
      assert.equal(outcome(domain, deposit(10_001, `a${i}`)), 'approval-pending');
    }
    assert.equal(outcome(domain, deposit(10_001, 'more')), 'approvals-full');
    assert.equal(outcome(domain, deposit(10_001, 'a0')), 'approval-pending', 'a repeat needs no place');
    assert.equal(outcome(domain, deposit(1, 'small')), 1);
    for (let i = PENDING_OF_OPERATOR_MAX; i < PENDING_MAX; i++) {
      const by = { name: `o${i % 20}`, address: '10.0.0.1' };
      assert.equal(outcome(domain, deposit(10_001, `b${i}`, by)), 'approval-pending');
    }
    assert.equal(outcome(domain, deposit(10_001, 'last', BEN)), 'approvals-full');
    assert.equal(outcome(domain, approve('a0')), 10_002);
    assert.equal(outcome(domain, deposit(10_001, 'last', BEN)), 'approval-pending');
    domain.nowMs += HOUR_MS;
    assert.equal(outcome(domain, deposit(10_001, 'later')), 'approval-pending', 'what has expired takes no place');
  });

  test('requests, decisions and expiry in any order conserve money', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const by = fc.constantFrom(ANNA, BEN, { name: 'cleo', address: '10.1.2.5' });
    const username = fc.constantFrom('ann', 'bob');
    const amount = fc.integer({ min: 1, max: 40_000 });
    const command: fc.Arbitrary<OperationCommand | 'restart' | 'wait'> = fc.oneof(
      fc.record({ type: fc.constantFrom('deposit', 'withdraw'), id, username, amount, by }),
      fc.record({
        type: fc.constant('correct' as const),
        id,
        username,
        amount: fc.integer({ min: -40_000, max: 40_000 }).filter((units) => units !== 0),
        reason: fc.constantFrom('one', 'two'),
        allowNegativeBalance: fc.boolean(),
        by,
      }),
      fc.record({ type: fc.constantFrom('approve-request', 'refuse-request'), id, username, by }),
      fc.constantFrom('restart', 'wait'),
    ) as never;
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const domain = newDomain();
        for (const one of commands) {
          if (one === 'restart') domain.restart();
          else if (one === 'wait') {
            domain.nowMs += HOUR_MS / 2;
            for (const { username, id } of domain.wallets.expiredRequests(domain.nowMs)) {
              domain.run({ type: 'expire-request', username, id });
            }
          } else {
            const first = domain.run(one);
            const again = domain.run(one);
            assert.equal(again.event, undefined, 'a repeat changes nothing');
            if (first.answer.type === 'accepted') assert.deepEqual(again.answer, { ...first.answer, isRepeat: true });
          }
          for (const wallet of domain.wallets) checkWallet(wallet);
        }
        const books: Books = new Map();
        for (const event of domain.events) post(books, event);
        const balances = [...domain.wallets].reduce((sum, { balance }) => sum + balance, 0);
        assert.equal(total(books), BigInt(balances));
        const moved = domain.events.filter((event) => 'approvedBy' in event);
        const names = moved.map((event) => 'id' in event && `${event.username} ${event.id}`);
        assert.equal(new Set(names).size, names.length, 'an approval moves once');
        for (const event of moved)
          if ('by' in event) assert.notEqual(event.by?.name, 'approvedBy' in event && event.approvedBy?.name);
        const replayed = domain.replayed();
        assert.deepEqual(imagesOf(replayed), imagesOf(domain.wallets));
        assert.deepEqual(
          replayed.tables.pending.count('anna', domain.nowMs),
          domain.wallets.tables.pending.count('anna', domain.nowMs),
        );
        auditTables(domain.wallets);
        const before = waiting(domain);
        domain.restart();
        assert.deepEqual(waiting(domain), before);
        auditTables(domain.wallets);
      }),
      { numRuns: Number(process.env.RUNS ?? 200) },
    );
  });
});
