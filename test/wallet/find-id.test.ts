import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findIds } from '../../src/wallet/queries/find-id.js';
import { commands, Domain, throughSnapshot } from '../support/domain.js';

const { place, settle, cancel, adjust, rollback } = commands;
const ALL = 100;

/** Fields that distinguish one hit from another. */
function found({ wallets }: Domain, id: string) {
  return findIds(wallets, id, 0, ALL).hits.map(({ username, kind, what, state }) => [username, kind, what, state]);
}

function pack({ wallets }: Domain): void {
  for (let i = 0; i < wallets.count * 2; i++) wallets.hibernateNext();
  assert.equal(wallets.packedCount, wallets.count);
}

function played(): Domain {
  const domain = new Domain();
  for (const username of ['ann', 'bob']) {
    const over = { username };
    domain.run({ type: 'import-player', id: `open-${username}`, username, currency: 'THB', balance: 1000 });
    domain.run(place([{ id: `bet-${username}`, roundId: 'both' }], over));
    domain.run(
      adjust([{ id: `bet-${username}`, roundId: 'both', betAmount: 7 }], { ...over, id: `change-${username}` }),
    );
    domain.run(settle([{ id: `pay-${username}`, roundId: 'both', byRound: true, isEndRound: true }], over));
  }
  domain.run(place([{ id: 'back', roundId: 'r9' }], { username: 'ann' }));
  domain.run(settle([{ id: 'back', roundId: 'r9' }], { username: 'ann' }));
  domain.run(rollback([{ id: 'back', roundId: 'r9', payoutAmount: 15 }], { username: 'ann', id: 'undo' }));
  domain.run(cancel([{ id: 'never-seen', roundId: 'r7' }], { username: 'bob' }));
  domain.run(place([{ id: 'given-back', roundId: 'r8' }], { username: 'ann' }));
  domain.run(cancel([{ id: 'all', roundId: 'r8', byRound: true }], { username: 'ann' }));
  return domain;
}

const WANTED: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  'bet-ann': [['ann', 'transaction', 'bet', 'SETTLED']],
  'pay-bob': [['bob', 'transaction', 'settlement', 'SETTLED']],
  'change-ann': [['ann', 'request', 'adjust', 'SETTLED']],
  undo: [['ann', 'request', 'rollback', 'OPEN']],
  both: [
    ['ann', 'round', 'round', 'closed'],
    ['bob', 'round', 'round', 'closed'],
  ],
  'never-seen': [['bob', 'transaction', 'cancel of an unknown id', 'REFUND']],
  all: [['ann', 'transaction', 'cancel of the round', undefined]],
  'open-ann': [['ann', 'operation', 'import', undefined]],
  'bet-an': [],
  'et-ann': [],
};

test('the search finds every use of an id and no similar ids', () => {
  const domain = played();
  for (const [id, hits] of Object.entries(WANTED)) assert.deepEqual(found(domain, id), hits, id);
});

test('ids are found in hibernated wallets, and only wallets with a hit wake', () => {
  const domain = played();
  for (const [id, hits] of Object.entries(WANTED)) {
    pack(domain);
    assert.deepEqual(found(domain, id), hits, id);
    const holders = new Set(hits.map(([username]) => username)).size;
    assert.equal(domain.wallets.packedCount, domain.wallets.count - holders, id);
  }
  domain.wallets = throughSnapshot(domain.wallets);
  for (const [id, hits] of Object.entries(WANTED)) assert.deepEqual(found(domain, id), hits, id);
});

test('ids in any script are found', () => {
  for (const id of ['ünï', '🎲', 'with space', '\u0000', 'x'.repeat(256), 'ＡＢ']) {
    const domain = new Domain();
    domain.fund('ann', 1000);
    domain.run(place([{ id, roundId: `r-${id}` }]));
    assert.deepEqual(found(domain, id), [['ann', 'transaction', 'bet', 'OPEN']]);
    pack(domain);
    assert.deepEqual(found(domain, id), [['ann', 'transaction', 'bet', 'OPEN']]);
  }
});

test('one turn examines a thousand hibernated players, and the next one continues there', () => {
  const domain = new Domain();
  for (let n = 0; n < 2500; n++) domain.fund(`player-${n}`, 1);
  for (let n = 0; n < 2500; n++) domain.run({ type: 'deposit', id: 'same', username: `player-${n}`, amount: 1 });
  pack(domain);
  const turns = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const { hits, next, players } = findIds(domain.wallets, 'nothing', from, ALL);
    assert.deepEqual([hits.length, players], [0, 2500]);
    turns.push(next);
    from = next;
  }
  assert.deepEqual(turns, [1000, 2000, undefined]);
  const { hits, next } = findIds(domain.wallets, 'same', 0, 7);
  assert.deepEqual([hits.length, next], [7, undefined]);
});
