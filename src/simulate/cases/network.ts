import { atOnce, type Case, cut } from '../case.js';
import { BY_ROUND, SKIP } from '../platform.js';

/** Cases about network faults: messages that overtake each other, arrive at the same time, or get lost. */
export const NETWORK: readonly Case[] = [
  {
    rule: 'late',
    name: 'a bet that comes after its cancel takes nothing',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [p.cancel('b1', 100), 20001],
        [bet, 20003],
        [p.settle('b1', 250), 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'a bet that comes after the cancel of its round takes nothing, a later one does',
    steps: (p) => {
      const late = p.bet('b1', 100);
      return [
        [p.cancel('c1', 100, BY_ROUND), 20001],
        [late, 20003],
        [p.bet('b2', 100), [1000, 900]],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'a single-state settle that comes after the cancel of its round takes and pays nothing, a later one does',
    steps: (p) => {
      const late = p.single('b1', 100, 250);
      return [
        [p.cancel('c1', 100, BY_ROUND), 20001],
        [late, 20003],
        [p.single('b2', 100, 250), [1000, 1150]],
        [late, 20003],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'a bet comes too late also where the round was known, or all its bets had been cancelled',
    steps: (p) => {
      const r2 = { roundId: 'r2' };
      const late = p.bet('b3', 50);
      const lateOfOther = p.bet('b4', 50, r2);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.bet('b2', 100, r2), [900, 800]],
        [p.cancel('c1', 100, BY_ROUND), [800, 900]],
        [p.cancel('b2', 100, r2), [900, 1000]],
        [p.cancel('c2', 100, { ...r2, ...BY_ROUND }), 20003],
        [late, 20003],
        [lateOfOther, 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'of several cancels of a round the latest counts, in whatever order they come',
    steps: (p) => {
      const earlier = p.cancel('c1', 100, BY_ROUND);
      const late = p.bet('b2', 50);
      const latest = p.cancel('c2', 100, BY_ROUND);
      return [
        [earlier, 20001],
        [latest, 20001],
        [p.bet('b1', 100), [1000, 900]],
        [earlier, [900, 1000]],
        [late, 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'a settle that comes before its bet is refused, and pays when it comes again',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      const settle = p.settle('b1', 250);
      return [
        [settle, 20001],
        [bet, [1000, 900]],
        [settle, [900, 1150]],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'a confirmation that comes after the settle changes nothing',
    steps: (p) => {
      const confirmation = p.bet('b1', 100);
      return [
        [p.bet('b1', 100, { status: 'WAITING' }), [1000, 900]],
        [p.settle('b1', 250), [900, 1150]],
        [confirmation, [1150, 1150]],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'a confirmation that comes after the settle takes the stake that a WAITING with skip left',
    steps: (p) => {
      const confirmation = p.bet('b1', 100);
      return [
        [p.bet('b1', 100, { status: 'WAITING', ...SKIP }), [1000, 1000]],
        [p.settle('b1', 250), [1000, 1250]],
        [confirmation, [1250, 1150]],
        [p.void('b1', 100, 250), [1150, 1000]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'a cancel that comes after the settle gives nothing back',
    steps: (p) => {
      const cancel = p.cancel('b1', 100);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.settle('b1', 0), [900, 900]],
        [cancel, 20004],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'late',
    name: 'the retry of a cancel of an unknown bet is answered the same again',
    steps: (p) => {
      const cancel = p.cancel('b1', 100);
      return [
        [cancel, 20001],
        [cancel, 20001],
        [p.bet('b1', 100), 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'atOnce',
    name: 'one bet four times is placed once',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [atOnce(bet, bet, bet, bet), 'any order'],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'atOnce',
    name: 'one settle four times is paid once',
    steps: (p) => {
      const settle = p.settle('b1', 250);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [atOnce(settle, settle, settle, settle), 'any order'],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'atOnce',
    name: 'of four bets no more are placed than the balance covers',
    steps: (p) => {
      const bets = ['b1', 'b2', 'b3', 'b4'].map((id) => p.bet(id, 400, { roundId: id }));
      return [
        [atOnce(...bets), 'any order'],
        [p.balance(), [200]],
      ];
    },
  },
  {
    rule: 'atOnce',
    name: 'each of four bets is taken',
    steps: (p) => {
      const bets = ['b1', 'b2', 'b3', 'b4'].map((id) => p.bet(id, 50, { roundId: id }));
      return [
        [atOnce(...bets), 'any order'],
        [p.balance(), [800]],
      ];
    },
  },
  {
    rule: 'atOnce',
    name: 'of a settle and a cancel one comes first, and the other is refused',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [atOnce(p.settle('b1', 250), p.cancel('b1', 100)), 'any order'],
      [p.settle('b1', 9), 'any order'],
      [p.balance(), 'any order'],
    ],
  },
  {
    rule: 'atOnce',
    name: 'a bet and its cancel come out as if the bet had never been',
    steps: (p) => [
      [atOnce(p.bet('b1', 100), p.cancel('b1', 100)), 'any order'],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'atOnce',
    name: 'of two payouts of one bet one is paid',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [atOnce(p.settle('b1', 250), p.settle('b1', 300)), 'any order'],
      [p.balance(), 'any order'],
    ],
  },
  {
    rule: 'atOnce',
    name: 'a reward and a debit both count',
    steps: (p) => [
      [atOnce(p.reward('w1', 500), p.move('m1', 'DEBIT', 300), p.tip('t1', 50)), 'any order'],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'cut',
    name: 'a bet whose answer was lost is taken once',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [cut(bet), [1000, 900]],
        [bet, [1000, 900]],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'cut',
    name: 'a settle whose answer was lost is paid once',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [cut(p.settle('b1', 250)), [900, 1150]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'cut',
    name: 'a single-state settle, a cancel and a void whose answers were lost count once',
    steps: (p) => [
      [cut(p.single('b1', 100, 250)), [1000, 1150]],
      [cut(p.void('b1', 100, 250)), [1150, 1000]],
      [p.bet('b2', 100), [1000, 900]],
      [cut(p.cancel('b2', 100)), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cut',
    name: 'an adjustment and a rollback whose answers were lost count once',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [cut(p.adjust('b1', 150)), [900, 850]],
      [p.settle('b1', 250), [850, 1100]],
      [cut(p.rollback('b1', 0, 250)), [1100, 850]],
      [p.balance(), [850]],
    ],
  },
  {
    rule: 'cut',
    name: 'a tip, a reward and a movement whose answers were lost count once',
    steps: (p) => [
      [cut(p.tip('t1', 50)), [1000, 950]],
      [cut(p.reward('w1', 30)), [950, 980]],
      [cut(p.move('m1', 'CREDIT', 20)), [980, 1000]],
      [p.balance(), [1000]],
    ],
  },
];
