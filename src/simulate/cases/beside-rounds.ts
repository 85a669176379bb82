import type { Case } from '../case.js';
import { BY_ROUND } from '../platform.js';
import { inDebt } from './in-debt.js';

/** Cases about tips, rewards and movements, none of which belong to a round. */
export const BESIDE_ROUNDS: readonly Case[] = [
  {
    rule: 'tips',
    name: 'a tip is taken when the balance covers it, and may be 0',
    steps: (p) => [
      [p.tip('t1', 50), [1000, 950]],
      [p.tip('t2', 0), [950, 950]],
      [p.tip('t3', 951), 10002],
      [p.balance(), [950]],
    ],
  },
  inDebt('tips', 'a tip of 0 is covered by a balance below zero', (p) => p.tip('t1', 0)),
  {
    rule: 'tips',
    name: 'its cancel gives back what was taken, whatever the message says',
    steps: (p) => {
      const tip = p.tip('t1', 50);
      return [
        [tip, [1000, 950]],
        [p.cancelTip('t1', 999), [950, 1000]],
        [tip, 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'tips',
    name: 'cancelBets gives it back, too',
    steps: (p) => [
      [p.tip('t1', 50), [1000, 950]],
      [p.cancel('t1', 50), [950, 1000]],
      [p.cancelTip('t1', 50), [950, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'tips',
    name: 'a tip is of no round: settles, voids and cancels of the round leave it alone',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.tip('t1', 10), [900, 890]],
      [p.settleRound('s1', 0), [890, 890]],
      [p.void('v1', 100, 0, BY_ROUND), [890, 990]],
      [p.cancelTip('t1', 10), [990, 1000]],
    ],
  },
  {
    rule: 'tips',
    name: 'a round of tips alone has nothing to settle',
    steps: (p) => [
      [p.tip('t1', 10), [1000, 990]],
      [p.settleRound('s1', 50), 20001],
      [p.balance(), [990]],
    ],
  },
  {
    rule: 'tips',
    name: 'the cancel of an unknown tip is not paid, and the tip that comes later is refused',
    steps: (p) => [
      [p.cancelTip('t1', 50), 20001],
      [p.tip('t1', 50), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'tips',
    name: 'an open bet can be given back by cancelTips, a settled one not',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancelTip('b1', 100), [900, 1000]],
      [p.bet('b2', 100), [1000, 900]],
      [p.settle('b2', 0), [900, 900]],
      [p.cancelTip('b2', 100), 20004],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'tips',
    name: 'a tip is no bet: it is not settled, adjusted or voided',
    steps: (p) => [
      [p.tip('t1', 50), [1000, 950]],
      [p.settle('t1', 100), 20001],
      [p.adjust('t1', 10), 20001],
      [p.void('t1', 50, 0), 20001],
      [p.bet('t1', 50), 20002],
      [p.balance(), [950]],
    ],
  },
  {
    rule: 'rewards',
    name: 'it needs no bet, and no round',
    steps: (p) => [
      [p.reward('w1', 500), [1000, 1500]],
      [p.reward('w2', 0), [1500, 1500]],
      [p.balance(), [1500]],
    ],
  },
  {
    rule: 'rewards',
    name: 'a late retry of its void leaves a bet of its id alone',
    steps: (p) => {
      const taken = p.void('w1', 0, 500);
      return [
        [p.reward('w1', 500), [1000, 1500]],
        [taken, [1500, 1000]],
        [p.bet('w1', 100), [1000, 900]],
        [p.settle('w1', 250), [900, 1150]],
        [taken, [1500, 1000]],
        [p.void('w1', 100, 250), [1150, 1000]],
      ];
    },
  },
  {
    rule: 'rewards',
    name: 'it may bear the id of a bet, which stays as it is',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.reward('b1', 500), [900, 1400]],
      [p.settle('b1', 250), [1400, 1650]],
      [p.void('b1', 100, 250), [1650, 1500]],
    ],
  },
  {
    rule: 'rewards',
    name: 'its stake is a statistic',
    steps: (p) => [
      [p.reward('w1', 500, { betAmount: 100 }), [1000, 1500]],
      [p.balance(), [1500]],
    ],
  },
  {
    rule: 'rewards',
    name: 'it is paid also in a round that was cancelled, or has ended',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('c1', 100, BY_ROUND), [900, 1000]],
      [p.reward('w1', 5), [1000, 1005]],
      [p.bet('b2', 100, { roundId: 'r2' }), [1005, 905]],
      [p.settle('b2', 0, { roundId: 'r2', isEndRound: true }), [905, 905]],
      [p.reward('w2', 5, { roundId: 'r2' }), [905, 910]],
    ],
  },
  {
    rule: 'rewards',
    name: 'a void takes it back, and then it is not paid again',
    steps: (p) => {
      const reward = p.reward('w1', 500);
      return [
        [reward, [1000, 1500]],
        [p.void('w1', 0, 500), [1500, 1000]],
        [reward, 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'rewards',
    name: 'the void goes by what was paid',
    steps: (p) => [
      [p.reward('w1', 500), [1000, 1500]],
      [p.void('w1', 0, 300), [1500, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'rewards',
    name: 'it is voided, too, when a bet of its id was cancelled that never came',
    steps: (p) => [
      [p.cancel('w1', 100), 20001],
      [p.reward('w1', 500), [1000, 1500]],
      [p.void('w1', 0, 500), [1500, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'movements',
    name: 'a debit takes, a credit gives, and both may have one refId',
    steps: (p) => [
      [p.move('m1', 'DEBIT', 300), [1000, 700]],
      [p.move('m1', 'CREDIT', 450), [700, 1150]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'movements',
    name: 'a debit must be covered, a credit needs nothing before it',
    steps: (p) => [
      [p.move('m1', 'DEBIT', 2500), 10002],
      [p.move('m2', 'CREDIT', 1500), [1000, 2500]],
      [p.move('m1', 'DEBIT', 2500), [2500, 0]],
      [p.balance(), [0]],
    ],
  },
  inDebt('movements', 'a debit of 0 is covered by a balance below zero', (p) => p.move('m1', 'DEBIT', 0)),
  {
    rule: 'movements',
    name: 'it is no bet: nothing settles, cancels or voids it',
    steps: (p) => [
      [p.move('m1', 'DEBIT', 300), [1000, 700]],
      [p.settle('m1', 100), 20001],
      [p.void('m1', 300, 0), 20001],
      [p.cancel('m1', 300), 20001],
      [p.balance(), [700]],
    ],
  },
];
