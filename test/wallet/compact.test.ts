import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { Directory } from '../../src/wallet/state/directory.js';
import type { Transaction } from '../../src/wallet/state/round.js';
import { commands, Domain, throughSnapshot } from '../support/domain.js';

const { place, settle, adjust, cancel } = commands;

setFlagsFromString('--allow-natives-syntax');
const isOfDoubles = new Function('numbers', 'return %HasDoubleElements(numbers)') as (numbers: unknown) => boolean;

const numbersOf = (item: Transaction) => (item as unknown as { numbers: number[] }).numbers;

test('the numbers of a transaction are plain doubles, however many, also out of a snapshot', () => {
  const domain = new Domain();
  domain.fund('ann', 10_000_000_000_000);
  const betAmount = 5_000_000_000;
  domain.run(cancel([{ id: 'unknown', roundId: 'r0' }]));
  for (const adjustments of [0, 1, 2, 3, 6]) {
    const bet = { id: `bet-${adjustments}`, roundId: `r-${adjustments}`, betAmount };
    domain.run(place([bet]));
    for (let n = 1; n <= adjustments; n++) {
      domain.run(adjust([{ ...bet, betAmount: betAmount + n }], { id: `q${n}` }));
    }
  }
  domain.run(settle([{ id: 'bet-0', roundId: 'r-0', betAmount, payoutAmount: betAmount }]));
  for (const wallets of [domain.wallets, throughSnapshot(domain.wallets)]) {
    const items = [...(wallets.get('ann')?.transactions() ?? [])];
    assert.deepEqual(
      items.map((item) => [item.id, item.effectCount, isOfDoubles(numbersOf(item))]),
      [
        ['bet-6', 7, true],
        ['bet-3', 4, true],
        ['bet-2', 3, true],
        ['bet-1', 2, true],
        ['bet-0', 2, true],
        ['unknown', 0, true],
      ],
    );
  }
});

test('a directory keeps nothing of a product when its last item has left', () => {
  const directory = new Directory<number>();
  directory.set({ productId: 'first', id: 'a' }, 1);
  for (let n = 0; n < 100; n++) directory.set({ productId: `P${n}`, id: 'a' }, n);
  directory.set({ productId: 'P7', id: 'b' }, 8);
  for (let n = 0; n < 100; n++) directory.delete({ productId: `P${n}`, id: 'a' });
  directory.delete({ productId: 'never', id: 'a' });
  const { others } = directory as unknown as { others: Map<string, Map<string, number>> };
  assert.deepEqual([...others.keys()], ['P7']);
  assert.equal(directory.get('P7', 'b'), 8);
  assert.equal(directory.get('P8', 'a'), undefined);
  assert.equal(directory.get('first', 'a'), 1);
});
