import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../../src/node/settings/rules.js';
import { PAGE_MESSAGES_MAX } from '../../src/wallet/message-view.js';
import { query } from '../../src/wallet/queries/query.js';
import type { TransactionCursor } from '../../src/wallet/query.js';
import { serializeRound } from '../../src/wallet/state/serialized-round.js';
import { commands, Domain } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';

const { place, settle, cancel, adjust, void: voidBets, rollback, reward } = commands;

function played(): Domain {
  const domain = new Domain();
  domain.fund('ann', 1000);
  domain.run(place([{ id: 'a' }, { id: 'b', status: 'WAITING' }]));
  domain.run(adjust([{ id: 'a', betAmount: 7 }], { id: 'change' }));
  domain.run(settle([{ id: 'a' }]));
  domain.run(voidBets([{ id: 'a', betAmount: 7 }]));
  domain.run(place([{ id: 'c', roundId: 'r2' }]));
  domain.run(settle([{ id: 'pay', roundId: 'r2', byRound: true }]));
  domain.run(rollback([{ id: 'x', roundId: 'r2', byRound: true }], { id: 'undo' }));
  domain.run(place([{ id: 'd', roundId: 'r3' }]));
  domain.run(cancel([{ id: 'all', roundId: 'r3', byRound: true }]));
  domain.run(reward([{ id: 'gift', roundId: 'r4' }]));
  return domain;
}

function pageOf({ wallets }: Domain, images: readonly Buffer[] = [], after?: TransactionCursor) {
  const question = { type: 'list-transactions', username: 'ann', limit: 1000, after, withMessages: true } as const;
  const result = query(wallets, question, { images, downTo: 0 });
  assert.ok(result.type === 'transactions' && result.page !== undefined);
  return result.page;
}

const listed = (domain: Domain, images: readonly Buffer[] = []) => pageOf(domain, images).items;

/** The rollbacks in the list, with their requests. */
function rollbacksOf(domain: Domain) {
  const messages = listed(domain).flatMap((item) => item.messages ?? []);
  return messages
    .filter(({ type }) => type === 'rollback')
    .map(({ ofRound, requestId }) => [ofRound ? 'round' : 'bet', requestId]);
}

test('every message with an effect is listed once, with the balances before and after', () => {
  const reported = listed(played()).map(({ id, messages = [] }) => [
    id,
    messages.map(({ type, ofRound, amount, before, after, requestId }) => [
      ofRound ? `${type} of the round` : type,
      amount,
      before,
      after,
      requestId,
    ]),
  ]);
  const of = (id: string) => reported.find(([one]) => one === id)?.[1];
  assert.deepEqual(of('a'), [
    ['place', 10, 1000, 990, undefined],
    ['adjust', 7, 980, 983, 'change'],
    ['settle', 15, 983, 998, undefined],
    ['void', undefined, 998, 990, undefined],
  ]);
  assert.deepEqual(of('d'), [
    ['place', 10, 980, 970, undefined],
    ['cancel of the round', undefined, 970, 980, undefined],
  ]);
});

test('a round lists the same messages in the archive as in memory', () => {
  const domain = played();
  const before = listed(domain);
  const wallet = domain.wallet('ann');
  const images: Buffer[] = [];
  for (const id of ['r1', 'r2', 'r3', 'r4']) {
    const round = wallet.round('P1', id);
    assert.ok(round !== undefined);
    images.push(serializeRound(wallet, round));
    wallet.dropRound(round);
  }
  assert.deepEqual(listed(domain, images), before);
});

test('messages are listed only on request', () => {
  const result = query(played().wallets, { type: 'list-transactions', username: 'ann', limit: 1, after: undefined });
  assert.ok(result.type === 'transactions');
  assert.equal('messages' in (result.page?.items[0] ?? {}), false);
});

test('a rollback is listed with its own request, without its remembered repeats', () => {
  const alone = new Domain();
  alone.fund('ann', 1000);
  alone.run(place([{ id: 'a' }]));
  alone.run(settle([{ id: 'a' }]));
  alone.run(rollback([{ id: 'a' }], { id: 'R1' }));
  alone.run(rollback([{ id: 'a' }], { id: 'R2' }));
  alone.run(rollback([{ id: 'x', byRound: true }], { id: 'R3' }));
  assert.deepEqual(rollbacksOf(alone), [['bet', 'R1']]);

  const whole = new Domain();
  whole.fund('ann', 1000);
  whole.run(place([{ id: 'a' }]));
  whole.run(settle([{ id: 'a' }]));
  whole.run(rollback([{ id: 'x', byRound: true }], { id: 'R1' }));
  whole.run(rollback([{ id: 'x', byRound: true }], { id: 'R2' }));
  whole.run(rollback([{ id: 'a' }], { id: 'R3' }));
  assert.deepEqual(rollbacksOf(whole), [
    ['bet', undefined],
    ['round', 'R1'],
  ]);
});

test('a BY_ROUND message is listed once per page', () => {
  const domain = new Domain();
  domain.fund('ann', 1_000_000);
  for (let n = 0; n < 100; n++) {
    domain.run(place([{ id: `b${n}` }], { id: `p${n}`, timestampMillis: 2000 }));
    domain.run(cancel([{ id: `c${n}`, byRound: true }], { id: `k${n}`, timestampMillis: 1000 }));
  }
  const reported = listed(domain).flatMap(({ messages = [] }) => messages.filter(({ ofRound }) => ofRound));
  assert.equal(reported.length, 100);
});

test('a page ends early if it would have too many messages', () => {
  const domain = new Domain();
  domain.fund('ann', 1_000_000);
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
    domain.run(place([{ id }], { id: `p-${id}` }));
    for (let n = 1; n < 900; n++) domain.run(adjust([{ id, betAmount: 10 }], { id: `x-${n}` }));
  }
  const pages = [];
  for (let page = pageOf(domain), next = page.next; ; page = pageOf(domain, [], next), next = page.next) {
    pages.push(page.items.map(({ id, messages, isCut }) => [id, messages?.length, isCut]));
    if (next === undefined) break;
  }
  assert.deepEqual(pages, [
    [
      ['f', 900, false],
      ['e', 900, false],
      ['d', 900, false],
      ['c', 900, false],
      ['b', 900, false],
    ],
    [['a', 900, false]],
  ]);
});

test('a transaction with too many messages for a page lists the newest ones', () => {
  const domain = new Domain(rulesOf(settingsWith({ historyMax: 1_000_000 })));
  domain.fund('ann', 1_000_000);
  domain.run(place([{ id: 'a' }]));
  for (let n = 0; n < PAGE_MESSAGES_MAX; n++) domain.run(adjust([{ id: 'a', betAmount: 10 }], { id: `x-${n}` }));
  domain.run(place([{ id: 'b' }], { id: 'p-b' }));
  const first = pageOf(domain);
  assert.deepEqual(
    first.items.map(({ id }) => id),
    ['b'],
  );
  const [item] = pageOf(domain, [], first.next).items;
  assert.deepEqual(
    [item?.isCut, item?.messages?.length, item?.messages?.[0]?.type],
    [true, PAGE_MESSAGES_MAX, 'adjust'],
  );
});
