import type { Case } from '../case.js';
import { BY_ROUND, other } from '../platform.js';

const LAST = { isEndRound: true };

/** Cases of two players who are in one round. No message about one of them may touch the other. */
export const TWO_PLAYERS: readonly Case[] = [
  {
    rule: 'payout',
    name: 'two players of one round are each paid for their own bet',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settle('b1', 250), [900, 1150]],
      [other(p.balance()), [800]],
      [other(p.settle('b2', 30)), [800, 830]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'the end of a round for one player leaves the bet of another one open',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settle('b1', 250, LAST), [900, 1150]],
      [other(p.bet('b3', 50)), [800, 750]],
      [other(p.settle('b2', 30)), [750, 780]],
      [other(p.cancel('b3', 50)), [780, 830]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'cancel',
    name: 'two players of one round each get back their own stake',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.cancel('b1', 100), [900, 1000]],
      [other(p.balance()), [800]],
      [other(p.settle('b2', 30)), [800, 830]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'void',
    name: 'the void of one bet leaves that of another player in its round settled',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settle('b1', 250), [900, 1150]],
      [other(p.settle('b2', 30)), [800, 830]],
      [p.void('b1', 100, 250), [1150, 1000]],
      [other(p.balance()), [830]],
      [other(p.void('b2', 200, 30)), [830, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'byRound',
    name: 'a settle of a round leaves the bets of another player in it open',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settleRound('s1', 250), [900, 1150]],
      [other(p.cancel('b2', 200)), [800, 1000]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'byRound',
    name: 'a round of two players is settled and paid for each of them',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settleRound('s1', 250), [900, 1150]],
      [other(p.settleRound('s1', 250)), [800, 1050]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'roundEnd',
    name: 'a round that has ended for one player pays another one in it',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settleRound('s1', 250, LAST), [900, 1150]],
      [other(p.settleRound('s1', 30)), [800, 830]],
      [other(p.settleRound('s2', 20)), [830, 850]],
      [p.settleRound('s2', 20), 20004],
    ],
  },
  {
    rule: 'cancel',
    name: 'the cancel of a round leaves the bets of another player in it open',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.cancel('c1', 100, BY_ROUND), [900, 1000]],
      [other(p.balance()), [800]],
      [other(p.settle('b2', 30)), [800, 830]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'late',
    name: 'the cancel of a round refuses no late bet of another player',
    steps: (p) => {
      const late = p.bet('b1', 100);
      const lateOfOther = other(p.bet('b2', 200));
      return [
        [other(p.balance()), [1000]],
        [p.cancel('c1', 100, BY_ROUND), 20001],
        [lateOfOther, [1000, 800]],
        [late, 20003],
        [other(p.settle('b2', 30)), [800, 830]],
      ];
    },
  },
  {
    rule: 'void',
    name: 'the void of a round leaves the bets of another player in it settled',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settle('b1', 250), [900, 1150]],
      [other(p.settle('b2', 30)), [800, 830]],
      [p.void('v1', 100, 250, BY_ROUND), [1150, 1000]],
      [other(p.balance()), [830]],
      [other(p.void('v1', 200, 30, BY_ROUND)), [830, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'the rollback of a round leaves the bets of another player in it settled',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [other(p.bet('b2', 200)), [1000, 800]],
      [p.settle('b1', 250), [900, 1150]],
      [other(p.settle('b2', 30)), [800, 830]],
      [p.rollback('x1', 0, 250, BY_ROUND), [1150, 900]],
      [other(p.balance()), [830]],
      [other(p.cancel('b2', 200)), 20004],
      [p.cancel('b1', 100), [900, 1000]],
    ],
  },
];
