import type { Case } from '../case.js';
import { BY_ROUND, but, SKIP } from '../platform.js';
import { inDebt } from './in-debt.js';

const LAST = { isEndRound: true };

export const SETTLES: readonly Case[] = [
  {
    rule: 'payout',
    name: 'a win is paid',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'payout',
    name: 'a loss is settled, too',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 0), [900, 900]],
      [p.cancel('b1', 100), 20004],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'payout',
    name: 'each bet of a round is paid its own',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settle('b2', 50), [700, 750]],
      [p.settle('b1', 300), [750, 1050]],
      [p.balance(), [1050]],
    ],
  },
  {
    rule: 'payout',
    name: 'nothing is paid to a bet that was never placed',
    steps: (p) => [
      [p.settle('b1', 250), 20001],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'payout',
    name: 'the bet is found by its id, whatever round the message names',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250, { roundId: 'r2' }), [900, 1150]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'payout',
    name: 'a settle BY_TRANSACTION leaves the other bets of its round open',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settle('b1', 150), [700, 850]],
      [p.cancel('b2', 200), [850, 1050]],
    ],
  },
  {
    rule: 'byRound',
    name: 'all bets of the round are closed, and the payout comes once',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settleRound('s1', 500), [700, 1200]],
      [p.cancel('b1', 100), 20004],
      [p.cancel('b2', 200), 20004],
      [p.balance(), [1200]],
    ],
  },
  {
    rule: 'byRound',
    name: 'the message may bear the id of a bet',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settleRound('b1', 500), [700, 1200]],
      [p.cancel('b2', 200), 20004],
    ],
  },
  {
    rule: 'byRound',
    name: 'bets of other rounds stay open',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200, { roundId: 'r2' }), [900, 700]],
      [p.settleRound('s1', 0), [700, 700]],
      [p.cancel('b2', 200, { roundId: 'r2' }), [700, 900]],
    ],
  },
  {
    rule: 'byRound',
    name: 'a bet that the round has settled is not settled by itself again',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 250), [900, 1150]],
      [p.settle('b1', 250), 20004],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'byRound',
    name: 'a round without bets is not paid',
    steps: (p) => [
      [p.settleRound('s1', 250), 20001],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'byRound',
    name: 'a round whose bets were all cancelled is not paid',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 100), [900, 1000]],
      [p.settleRound('s1', 250), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'byRound',
    name: 'a bet that was cancelled before is not settled with its round',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 100), [900, 800]],
      [p.cancel('b1', 100), [800, 900]],
      [p.settleRound('s1', 250), [900, 1150]],
      [p.void('b1', 100, 250), 20003],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'byRound',
    name: 'another message of the round is a further payout',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 150), [900, 1050]],
      [p.settleRound('s2', 50), [1050, 1100]],
      [p.balance(), [1100]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'after isEndRound there is no further payout',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 150, LAST), [900, 1050]],
      [p.settleRound('s2', 50), 20004],
      [p.balance(), [1050]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'what is still open is settled after the end, too',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 100), [900, 800]],
      [p.settle('b1', 150, LAST), [800, 950]],
      [p.settle('b2', 30), [950, 980]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'what is still open is settled after the end with its round, too',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 100), [900, 800]],
      [p.settle('b1', 150, LAST), [800, 950]],
      [p.settleRound('s1', 30), [950, 980]],
      [p.settleRound('s2', 30), 20004],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'a new bet is taken after the end, and paid',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 150, LAST), [900, 1050]],
      [p.bet('b2', 100), [1050, 950]],
      [p.settle('b2', 30), [950, 980]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'the end of a round can be reached BY_TRANSACTION',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 150, LAST), [900, 1050]],
      [p.settleRound('s1', 50), 20004],
      [p.balance(), [1050]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'it is the round of the bet that ends, whatever round the message names',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 150, { roundId: 'r2', ...LAST }), [900, 1050]],
      [p.settleRound('s1', 50), 20004],
      [p.balance(), [1050]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'a single-state settle can be the end of a round',
    steps: (p) => [
      [p.single('b1', 100, 250, LAST), [1000, 1150]],
      [p.settleRound('s1', 50), 20004],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'the end binds from the next request on',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.array(p.settleRound('s1', 150, LAST), p.settleRound('s2', 50)), [900, 1100]],
      [p.settleRound('s3', 20), 20004],
      [p.balance(), [1100]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'a settle of the round that skipped is paid after the end, too',
    steps: (p) => {
      const skipped = p.settleRound('s1', 150, { ...LAST, ...SKIP });
      return [
        [p.bet('b1', 100), [1000, 900]],
        [skipped, [900, 900]],
        [but(skipped, { skipBalanceUpdate: false }), [900, 1050]],
        [p.settleRound('s2', 50), 20004],
      ];
    },
  },
  {
    rule: 'singleState',
    name: 'a win adds the difference',
    steps: (p) => [
      [p.single('b1', 100, 250), [1000, 1150]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'singleState',
    name: 'a loss takes the stake',
    steps: (p) => [
      [p.single('b1', 100, 0), [1000, 900]],
      [p.single('b2', 100, 30), [900, 830]],
      [p.balance(), [830]],
    ],
  },
  {
    rule: 'singleState',
    name: 'the balance must cover the stake, whatever the payout',
    steps: (p) => [
      [p.single('b1', 1001, 5000), 10002],
      [p.single('b2', 1000, 0), [1000, 0]],
      [p.balance(), [0]],
    ],
  },
  inDebt('singleState', 'a stake of 0 is covered by a balance below zero', (p) => p.single('b3', 0, 0)),
  {
    rule: 'singleState',
    name: 'the id of an open bet is refused',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.single('b1', 100, 250), 20002],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'singleState',
    name: 'a bet with its id is refused',
    steps: (p) => [
      [p.single('b1', 100, 250), [1000, 1150]],
      [p.bet('b1', 100), 20002],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'singleState',
    name: 'the id of a tip is refused',
    steps: (p) => [
      [p.tip('t1', 50), [1000, 950]],
      [p.single('t1', 50, 100), 20002],
      [p.balance(), [950]],
    ],
  },
  {
    rule: 'singleState',
    name: 'it is taken when it was sent after the cancel of its round, and in a round that has ended',
    steps: (p) => {
      const late = p.single('b1', 100, 250);
      return [
        [p.cancel('c1', 100, BY_ROUND), 20001],
        [p.later(late), [1000, 1150]],
        [p.bet('b2', 100, { roundId: 'r2' }), [1150, 1050]],
        [p.settle('b2', 0, { roundId: 'r2', ...LAST }), [1050, 1050]],
        [p.single('b3', 100, 30, { roundId: 'r2' }), [1050, 980]],
      ];
    },
  },
  {
    rule: 'singleState',
    name: 'it is no repeat of a settle BY_TRANSACTION, nor the other way round',
    steps: (p) => [
      [p.single('b1', 100, 250), [1000, 1150]],
      [p.settle('b1', 250), 20004],
      [p.bet('b2', 100), [1150, 1050]],
      [p.settle('b2', 250), [1050, 1300]],
      [p.single('b2', 100, 250), 20004],
      [p.balance(), [1300]],
    ],
  },
  {
    rule: 'singleState',
    name: 'it is voided like any other',
    steps: (p) => [
      [p.single('b1', 100, 250), [1000, 1150]],
      [p.void('b1', 100, 250), [1150, 1000]],
      [p.balance(), [1000]],
    ],
  },
];
