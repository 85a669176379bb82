import type { Case } from '../case.js';
import { BY_ROUND, but, SKIP } from '../platform.js';

export const ARRAYS: readonly Case[] = [
  {
    rule: 'arrays',
    name: 'the balances are those around the whole',
    steps: (p) => [
      [p.array(p.bet('b1', 100), p.bet('b2', 200), p.bet('b3', 50)), [1000, 650]],
      [p.array(p.settle('b1', 30), p.settle('b2', 0), p.settle('b3', 500)), [650, 1180]],
      [p.balance(), [1180]],
    ],
  },
  {
    rule: 'arrays',
    name: 'when one bet is not covered none is placed',
    steps: (p) => [
      [p.array(p.bet('b1', 600), p.bet('b2', 600)), 10002],
      [p.balance(), [1000]],
      [p.cancel('b1', 600), 20001],
    ],
  },
  {
    rule: 'arrays',
    name: 'when one settle finds no bet none is paid',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.array(p.settle('b1', 250), p.settle('b2', 250)), 20001],
      [p.balance(), [900]],
      [p.settle('b1', 40), [900, 940]],
    ],
  },
  {
    rule: 'arrays',
    name: 'each element sees the balance that those before it leave',
    steps: (p) => [
      [p.array(p.move('m1', 'CREDIT', 500), p.move('m2', 'DEBIT', 1400)), [1000, 100]],
      [p.array(p.move('m3', 'DEBIT', 1400), p.move('m4', 'CREDIT', 1500)), 10002],
      [p.move('m4', 'CREDIT', 5), [100, 105]],
    ],
  },
  {
    rule: 'arrays',
    name: 'a repeat of the whole array gets the first answer',
    steps: (p) => {
      const bets = p.array(p.bet('b1', 100), p.bet('b2', 200));
      return [
        [bets, [1000, 700]],
        [bets, [1000, 700]],
        [p.balance(), [700]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'a repeat gets the first answer, too, where the last element took the stake that the first had left',
    steps: (p) => {
      const skipped = p.bet('b1', 100, SKIP);
      const waiting = p.bet('b1', 100, { status: 'WAITING', ...SKIP });
      const bets = p.array(waiting, p.bet('b2', 1, SKIP), p.bet('b1', 100));
      return [
        [skipped, [1000, 1000]],
        [bets, [1000, 900]],
        [bets, [1000, 900]],
        [p.anew(bets), [1000, 900]],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'repeats of two requests are answered as the newer one was',
    steps: (p) => {
      const older = p.bet('b1', 100);
      const newer = p.bet('b2', 200);
      return [
        [older, [1000, 900]],
        [newer, [900, 700]],
        [p.array(older, newer), [900, 700]],
        [p.balance(), [700]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'elements that are repeats are passed over, the rest applies',
    steps: (p) => {
      const first = p.bet('b1', 100);
      return [
        [first, [1000, 900]],
        [p.array(first, p.bet('b2', 200)), [900, 700]],
        [p.balance(), [700]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'the same bet twice in one array is placed once',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [p.array(bet, bet), [1000, 900]],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'the repeat of an array with the same bet twice gets the first answer',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      const bets = p.array(bet, p.bet('b2', 200), bet);
      return [
        [bets, [1000, 700]],
        [bets, [1000, 700]],
        [p.anew(bets), [1000, 700]],
        [p.balance(), [700]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'the same id with two stakes in one array is refused as a whole',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [p.array(bet, but(bet, { betAmount: 60 })), 20002],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'a cancel of several gives the known ones back, and remembers the others',
    steps: (p) => {
      const late = p.bet('b2', 200);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.array(p.cancel('b1', 100), p.cancel('b2', 200)), [900, 1000]],
        [late, 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'the repeat of a cancel of several, one of them unknown, gets the first answer',
    steps: (p) => {
      const cancels = p.array(p.cancel('b1', 100), p.cancel('b2', 200));
      return [
        [p.bet('b1', 100), [1000, 900]],
        [cancels, [900, 1000]],
        [cancels, [900, 1000]],
        [p.anew(cancels), [900, 1000]],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'a cancel of several that is refused remembers nothing',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 0), [900, 900]],
      [p.array(p.cancel('b2', 50), p.cancel('b1', 100)), 20004],
      [p.bet('b2', 50), [900, 850]],
    ],
  },
  {
    rule: 'arrays',
    name: 'a round and its bets are cancelled together, in either order',
    steps: (p) => {
      const r2 = { roundId: 'r2' };
      return [
        [p.array(p.bet('b1', 100), p.bet('b2', 200)), [1000, 700]],
        [p.array(p.cancel('c1', 300, BY_ROUND), p.cancel('b1', 100)), [700, 1000]],
        [p.bet('b3', 50, r2), [1000, 950]],
        [p.array(p.cancel('b3', 50, r2), p.cancel('c2', 50, { ...r2, ...BY_ROUND })), [950, 1000]],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'a round and its bets are voided together, in either order',
    steps: (p) => {
      const r2 = { roundId: 'r2' };
      return [
        [p.array(p.bet('b1', 100), p.bet('b2', 200, r2)), [1000, 700]],
        [p.array(p.settle('b1', 250), p.settle('b2', 0, r2)), [700, 950]],
        [p.array(p.void('v1', 100, 250, BY_ROUND), p.void('b1', 100, 250)), [950, 800]],
        [p.array(p.void('b2', 200, 0, r2), p.void('v2', 200, 0, { ...r2, ...BY_ROUND })), [800, 1000]],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'arrays',
    name: 'the rollbacks of a bet and its round in one array mean the results, and leave refunds alone',
    steps: (p) => [
      [p.array(p.bet('b1', 100), p.bet('b2', 200)), [1000, 700]],
      [p.settle('b1', 250), [700, 950]],
      [p.cancel('b2', 200), [950, 1150]],
      [p.array(p.rollback('b1', 0, 250), p.rollback('x1', 0, 250, BY_ROUND)), [1150, 900]],
      [p.settle('b2', 10), 20003],
      [p.settle('b1', 40), [900, 940]],
    ],
  },
  {
    rule: 'arrays',
    name: 'voids of several are one operation',
    steps: (p) => [
      [p.array(p.bet('b1', 100), p.bet('b2', 50)), [1000, 850]],
      [p.array(p.settle('b1', 250), p.settle('b2', 0)), [850, 1100]],
      [p.array(p.void('b1', 100, 250), p.void('b2', 50, 0)), [1100, 1000]],
      [p.balance(), [1000]],
    ],
  },
];
