import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../src/base/time.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import { auditTables, imagesOf } from '../support/audit.js';
import { commands, Domain } from '../support/domain.js';

const { place, settle, cancel } = commands;

function forget(domain: Domain, days: number) {
  const beforeMs = domain.nowMs - days * DAY_MS;
  return domain.run({ type: 'forget', username: 'ann', beforeMs });
}

test('the ledger accounts for the balance while old rounds are forgotten one by one', () => {
  const domain = new Domain();
  domain.fund('ann', 100);
  domain.run(place([{ id: 'old', roundId: 'r-old' }]));
  domain.run(settle([{ id: 'old', roundId: 'r-old' }]));
  domain.run(
    place([
      { id: 'hangs', roundId: 'r-hangs' },
      { id: 'beside', roundId: 'r-hangs' },
    ]),
  );
  domain.run(settle([{ id: 'beside', roundId: 'r-hangs' }]));
  domain.run(cancel([{ id: 'tomb', roundId: 'r-tomb' }]));
  domain.run(cancel([{ id: 'c', roundId: 'r-marked', byRound: true }]));
  domain.nowMs += 100 * DAY_MS;
  domain.run(place([{ id: 'new', roundId: 'r-new' }]));
  domain.run(settle([{ id: 'new', roundId: 'r-new' }]));
  domain.nowMs += 30 * DAY_MS;

  const { event } = forget(domain, 120);
  assert.equal(event?.type, 'rounds-forgotten');
  const wallet = domain.wallet('ann');
  checkWallet(wallet);
  const ids = [...wallet.transactions()].map((item) => item.id);
  assert.deepEqual(ids, ['new', 'beside', 'hangs'], 'a round with an open bet is kept as a whole');
  assert.equal(wallet.tombstones, 0);
  assert.equal(wallet.balance, 100 + 5 + 5 - 10 + 5);
  assert.deepStrictEqual(imagesOf(domain.replayed()), imagesOf(domain.wallets));

  assert.equal(domain.statusCode(settle([{ id: 'old', roundId: 'r-old' }])), 20001, 'its id is free again');
  assert.equal(domain.statusCode(place([{ id: 'hangs', roundId: 'r-hangs' }])), 0, 'what is kept is still known');
});

test("retention of a round's mark counts from the latest cancel", () => {
  const domain = new Domain();
  domain.fund('ann', 100);
  const unknown = { id: 'c', roundId: 'r-unknown', byRound: true };
  const known = { id: 'd', roundId: 'r-known', byRound: true };
  domain.run(cancel([unknown], { timestampMillis: 1000 }));
  domain.run(place([{ id: 'a', roundId: 'r-known' }]));
  domain.run(cancel([{ id: 'a', roundId: 'r-known' }]));
  domain.nowMs += 118 * DAY_MS;
  assert.equal(domain.statusCode(cancel([unknown], { timestampMillis: 3000 })), 20001);
  assert.equal(domain.statusCode(cancel([known], { timestampMillis: 3000 })), 20003);
  domain.nowMs += 3 * DAY_MS;
  forget(domain, 120);
  for (const { roundId } of [unknown, known]) {
    assert.equal(domain.statusCode(place([{ id: 'late', roundId }], { timestampMillis: 2000 })), 20003);
  }
  domain.nowMs += 120 * DAY_MS;
  forget(domain, 120);
  assert.deepEqual([...domain.wallet('ann').transactions()], []);
  assert.deepStrictEqual(imagesOf(domain.replayed()), imagesOf(domain.wallets));
});

test('there is no event if nothing is old enough to be forgotten', () => {
  const domain = new Domain();
  domain.fund('ann', 100);
  domain.run(place([{ id: 'a' }]));
  domain.run(settle([{ id: 'a' }]));
  domain.run(place([{ id: 'b' }]));
  domain.nowMs += 119 * DAY_MS;
  assert.equal(forget(domain, 120).event, undefined);
  domain.nowMs += 2 * DAY_MS;
  assert.equal(
    forget(domain, 120).event?.type,
    'rounds-forgotten',
    'the funding is old; the round of the open bet stays',
  );
  assert.equal(forget(domain, 120).event, undefined);
  checkWallet(domain.wallet('ann'));
});

test('a long wallet finds the right transactions before and after it forgets some', () => {
  const domain = new Domain();
  domain.fund('ann', 100_000);
  for (let i = 0; i < 50; i++) {
    domain.run(place([{ id: `t${i}`, roundId: `r${i}` }], { productId: i % 2 ? 'P1' : 'P2' }));
    if (i % 5 !== 0) domain.run(settle([{ id: `t${i}`, roundId: `r${i}` }], { productId: i % 2 ? 'P1' : 'P2' }));
    domain.nowMs += DAY_MS;
  }
  forget(domain, 20);
  const wallet = domain.wallet('ann');
  checkWallet(wallet);
  auditTables(domain.wallets);
  for (let i = 0; i < 50; i++) {
    const bet = wallet.bet(i % 2 ? 'P1' : 'P2', `t${i}`);
    assert.equal(bet !== undefined, i % 5 === 0 || i >= 30, `t${i}`);
    assert.equal(wallet.bet(i % 2 ? 'P2' : 'P1', `t${i}`), undefined);
    assert.equal(wallet.round(i % 2 ? 'P1' : 'P2', `r${i}`)?.bets[0]?.row, bet?.row);
  }
});
