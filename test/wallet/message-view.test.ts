import assert from 'node:assert/strict';
import { test } from 'node:test';
import { query } from '../../src/wallet/query.js';
import { imageOfRound } from '../../src/wallet/state/round-image.js';
import { commands, Domain } from '../support/domain.js';

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

function listed({ wallets }: Domain, images: readonly Buffer[] = []) {
  const question = {
    type: 'list-transactions',
    username: 'ann',
    limit: 100,
    after: undefined,
    withMessages: true,
  } as const;
  const result = query(wallets, question, { images, downTo: 0 });
  assert.ok(result.type === 'transactions' && result.page !== undefined);
  return result.page.items;
}

test('a transaction tells each message that had an effect, with the balances around it; a round what was about all of it', () => {
  const told = listed(played()).map(({ id, messages = [] }) => [
    id,
    messages.map(({ type, ofRound, amount, before, after, requestId }) => [
      ofRound ? `${type} of the round` : type,
      amount,
      before,
      after,
      requestId,
    ]),
  ]);
  const of = (id: string) => told.find(([one]) => one === id)?.[1];
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

test('a round in the archive tells the same as it did in memory', () => {
  const domain = played();
  const before = listed(domain);
  const wallet = domain.wallet('ann');
  const images: Buffer[] = [];
  for (const id of ['r1', 'r2', 'r3', 'r4']) {
    const round = wallet.round('P1', id);
    assert.ok(round !== undefined);
    images.push(imageOfRound(wallet, round));
    wallet.dropRound(round);
  }
  assert.deepEqual(listed(domain, images), before);
});

test('messages are told where they are asked for only', () => {
  const result = query(played().wallets, { type: 'list-transactions', username: 'ann', limit: 1, after: undefined });
  assert.ok(result.type === 'transactions');
  assert.equal('messages' in (result.page?.items[0] ?? {}), false);
});
