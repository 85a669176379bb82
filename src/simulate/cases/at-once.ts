import { atOnce, type Case } from '../case.js';
import type { Message } from '../message.js';
import { type Platform, SKIP } from '../platform.js';

/** Case of a message that two connections deliver at the same time, and that must count once. */
function countsOnce(name: string, before: (p: Platform) => readonly Message[], make: (p: Platform) => Message): Case {
  return {
    rule: 'atOnce',
    name: `${name} twice counts once`,
    steps: (p) => {
      const earlier = before(p).map((message) => [message, 'any order'] as const);
      const message = make(p);
      return [...earlier, [atOnce(message, message), 'any order'], [p.balance(), 'any order']];
    },
  };
}

const nothing = () => [];
const bet = (p: Platform) => [p.bet('b1', 100)];
const settled = (p: Platform) => [p.bet('b1', 100), p.settle('b1', 250)];

/** Each message, delivered by two connections at the same time. */
export const AT_ONCE: readonly Case[] = [
  {
    rule: 'atOnce',
    name: 'checkBalance twice tells the balance both times',
    steps: (p) => {
      const balance = p.balance();
      return [
        [p.bet('b1', 100), [1000, 900]],
        [atOnce(balance, balance), 'any order'],
        [p.balance(), [900]],
      ];
    },
  },
  countsOnce(
    'a confirmation',
    (p) => [p.bet('b1', 100, { status: 'WAITING', ...SKIP })],
    (p) => p.bet('b1', 100),
  ),
  countsOnce('a settle of a round', bet, (p) => p.settleRound('s1', 250)),
  countsOnce('a single-state settle', nothing, (p) => p.single('b1', 100, 250)),
  countsOnce('an adjustment', bet, (p) => p.adjust('b1', 150)),
  countsOnce('a void', settled, (p) => p.void('b1', 100, 250)),
  countsOnce('a cancel', bet, (p) => p.cancel('b1', 100)),
  countsOnce('a tip', nothing, (p) => p.tip('t1', 50)),
  countsOnce(
    'the cancel of a tip',
    (p) => [p.tip('t1', 50)],
    (p) => p.cancelTip('t1', 50),
  ),
  countsOnce('a reward', nothing, (p) => p.reward('w1', 500)),
  countsOnce('a credit', nothing, (p) => p.move('m1', 'CREDIT', 500)),
  countsOnce('a debit', nothing, (p) => p.move('m1', 'DEBIT', 300)),
  countsOnce('a rollback', settled, (p) => p.rollback('b1', 0, 250)),
];
