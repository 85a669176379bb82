import assert from 'node:assert/strict';
import { test } from 'node:test';
import { query } from '../../src/wallet/queries/query.js';
import type { ScanCursor, TransactionCursor } from '../../src/wallet/query.js';
import { commands, Domain } from '../support/domain.js';

const { place, settle, rollback, placeTip, tip } = commands;

test("a player's pages have no gaps or repeats despite new transactions in between", () => {
  const domain = new Domain();
  domain.fund('ann', 1_000_000);
  domain.run(place(Array.from({ length: 7 }, (_, i) => ({ id: `array${i}`, roundId: `r${i}` }))));
  for (let i = 0; i < 20; i++) domain.run(place([{ id: `t${i}`, roundId: `q${i}` }]));
  const all = [...domain.wallet('ann').transactions()].map((item) => item.id);

  const seen: string[] = [];
  let after: TransactionCursor | undefined;
  do {
    const result = query(domain.wallets, { type: 'list-transactions', username: 'ann', limit: 4, after });
    assert.ok(result.type === 'transactions' && result.page !== undefined);
    seen.push(...result.page.items.map((item) => item.id));
    after = result.page.next;
    domain.run(place([{ id: `late${seen.length}`, roundId: 'late' }]));
  } while (after !== undefined);
  assert.deepEqual(seen, all);
});

test('a scan over all players finds every open bet once, at any page size', () => {
  const domain = new Domain();
  const expected: string[] = [];
  for (let player = 0; player < 30; player++) {
    const username = `p${player}`;
    domain.fund(username, 1000);
    for (let i = 0; i < player % 4; i++) {
      domain.run(place([{ id: `t${i}`, roundId: `r${i}` }], { username }));
      if (i % 2 === 1) domain.run(settle([{ id: `t${i}`, roundId: `r${i}` }], { username }));
      else expected.push(`${username}/t${i}`);
    }
  }
  for (const limit of [1, 2, 3, 7, 1000]) {
    const seen: string[] = [];
    let after: ScanCursor | undefined;
    do {
      const result = query(domain.wallets, {
        type: 'scan-transactions',
        state: 'OPEN',
        createdBeforeMs: domain.nowMs,
        limit,
        after,
      });
      assert.ok(result.type === 'scan');
      assert.ok(result.items.length <= limit);
      seen.push(...result.items.map((item) => `${item.username}/${item.id}`));
      after = result.next;
    } while (after !== undefined);
    assert.deepEqual(seen.sort(), [...expected].sort(), `limit ${limit}`);
  }
});

test('a bet reopened by a rollback is marked as such and can be filtered', () => {
  const domain = new Domain();
  domain.fund('ann', 1000);
  const scan = (over: object) => {
    const result = query(domain.wallets, {
      ...({
        type: 'scan-transactions',
        state: 'OPEN',
        createdBeforeMs: domain.nowMs,
        limit: 10,
        after: undefined,
      } as const),
      ...over,
    });
    assert.ok(result.type === 'scan');
    return result.items.map(({ id, openSince }) => `${id} ${openSince ?? '-'}`);
  };
  const placedMs = domain.nowMs;
  domain.run(place(['b1', 'b2', 'b3'].map((id) => ({ id }))));
  domain.run(placeTip([{ id: 't1' }]));
  domain.run(settle([{ id: 'b2' }, { id: 'b3' }], { id: 's' }));
  domain.run(tip([{ id: 't1' }]));
  domain.nowMs += 60_000;
  domain.run(rollback([{ id: 'b2' }, { id: 'b3' }, { id: 't1' }], { id: 'k' }));
  domain.run(settle([{ id: 'b3' }], { id: 's-again' }));
  assert.deepEqual(scan({}), ['b2 rollback', 'b1 -']);
  assert.deepEqual(scan({ openSince: 'rollback' }), ['b2 rollback']);
  assert.deepEqual(scan({ state: 'TIPS', openSince: 'rollback' }), ['t1 rollback']);
  assert.deepEqual(scan({ state: 'SETTLED' }), ['b3 -']);
  assert.deepEqual(scan({ createdBeforeMs: placedMs }), ['b1 -']);
  const reopenedMs = domain.nowMs;
  domain.nowMs += 60_000;
  assert.deepEqual(scan({ createdBeforeMs: reopenedMs }), ['b2 rollback', 'b1 -']);
  domain.run(settle([{ id: 'b2' }], { id: 's2-again' }));
  domain.run(rollback([{ id: 'b2' }], { id: 'k-again' }));
  assert.deepEqual(scan({ createdBeforeMs: reopenedMs }), ['b1 -']);
});

test('a scan for one product excludes bets of other products on every page', () => {
  const domain = new Domain();
  domain.fund('ann', 1000);
  for (const [id, productId] of [
    ['b1', 'SLOTS'],
    ['b2', 'slots'],
    ['b3', 'SLOTS'],
    ['b4', 'CARDS'],
  ] as const) {
    domain.run(place([{ id }], { productId }));
  }
  const question = { type: 'scan-transactions', state: 'OPEN', createdBeforeMs: domain.nowMs, limit: 1 } as const;
  for (const [productId, expected] of [
    ['SLOTS', ['b3', 'b1']],
    ['CARDS', ['b4']],
    ['DICE', []],
  ] as const) {
    const seen: string[] = [];
    let after: ScanCursor | undefined;
    do {
      const result = query(domain.wallets, { ...question, productId, after });
      assert.ok(result.type === 'scan');
      seen.push(...result.items.map(({ id }) => id));
      after = result.next;
    } while (after !== undefined);
    assert.deepEqual(seen, expected, productId);
  }
});

test('a scan examines a limited number of transactions per turn', () => {
  const domain = new Domain();
  const players = 12;
  const bets = 1000;
  for (let player = 0; player < players; player++) {
    const username = `p${player}`;
    domain.fund(username, 1_000_000);
    domain.run(
      place(
        Array.from({ length: bets }, (_, i) => ({ id: `t${i}`, betAmount: 1 })),
        { username },
      ),
    );
  }
  let turns = 0;
  let after: ScanCursor | undefined;
  do {
    const from = after?.position ?? 0;
    const result = query(domain.wallets, {
      type: 'scan-transactions',
      state: 'VOID',
      createdBeforeMs: Number.POSITIVE_INFINITY,
      limit: 10,
      after,
    });
    assert.ok(result.type === 'scan');
    assert.ok(((result.next?.position ?? players) - from) * bets <= 5000);
    after = result.next;
    turns++;
  } while (after !== undefined);
  assert.ok(turns > 1);
});

test('a list of players covers all positions, including players created between its pages', () => {
  const domain = new Domain();
  for (let player = 0; player < 10; player++) domain.fund(`p${player}`, player);
  const seen: string[] = [];
  let from: number | undefined = 0;
  while (from !== undefined) {
    const result = query(domain.wallets, { type: 'list-players', from, limit: 4 });
    assert.ok(result.type === 'players');
    seen.push(...result.players.map(({ username, version, balance }) => `${username} ${version} ${balance}`));
    from = result.next;
    if (seen.length === 4) domain.fund('late', 100);
  }
  assert.deepEqual(seen, [...Array.from({ length: 10 }, (_, i) => `p${i} 1 ${i}`), 'late 1 100']);
});

test("the sum of a player's open stakes is exact and wakes no idle player", () => {
  const domain = new Domain();
  const openOf = (username: string) => {
    const result = query(domain.wallets, { type: 'read-player', username });
    assert.ok(result.type === 'player' && result.player !== undefined);
    return [result.player.openBets, result.player.openStakes];
  };
  domain.fund('ann', 1_000_000);
  assert.deepEqual(openOf('ann'), [0, '0']);
  domain.run(place([{ id: 't1' }, { id: 't2', status: 'WAITING', betAmount: 5 }, { id: 't3' }, { id: 't4' }]));
  domain.run(settle([{ id: 't1' }]));
  domain.run(commands.adjust([{ id: 't3', betAmount: 7 }]));
  domain.run(commands.cancel([{ id: 't4' }]));
  assert.deepEqual(openOf('ann'), [2, '12']);
  domain.restart();
  assert.deepEqual(openOf('ann'), [2, '12']);
  const most = Number.MAX_SAFE_INTEGER;
  domain.run(
    place([
      { id: 'big1', betAmount: most, skipBalanceUpdate: true },
      { id: 'big2', betAmount: most, skipBalanceUpdate: true },
    ]),
  );
  assert.deepEqual(openOf('ann'), [4, String(2n * BigInt(most) + 12n)]);
  domain.fund('bob', 1);
  domain.restart();
  assert.deepEqual(openOf('bob'), [0, '0']);
  assert.ok(domain.wallets.peek('bob')?.isPacked);
});
