import type { Case } from '../case.js';
import { BY_ROUND } from '../platform.js';

/** Amounts that other messages of a bet carry. */
const STAKE = { betAmount: 100 };
const PAYOUT = { payoutAmount: 250 };

/** Amounts that a message repeats from other messages, and amounts that doubles round. */
export const AMOUNTS: readonly Case[] = [
  {
    rule: 'payout',
    name: 'a settle that names the stake, too, pays its payout',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250, { betAmount: 100 }), [900, 1150]],
      [p.bet('b2', 100), [1150, 1050]],
      [p.settle('b2', 0, { betAmount: 100 }), [1050, 1050]],
      [p.balance(), [1050]],
    ],
  },
  {
    rule: 'byRound',
    name: 'a settle BY_ROUND that names the stakes, too, pays its payout',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settleRound('s1', 500, { betAmount: 300 }), [700, 1200]],
      [p.balance(), [1200]],
    ],
  },
  {
    rule: 'void',
    name: 'a void after a settle that named the stake gives back the stake and takes the payout',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250, { betAmount: 100 }), [900, 1150]],
      [p.void('b1', 100, 250), [1150, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a rollback after a settle that named the stake takes the payout alone',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250, { betAmount: 100 }), [900, 1150]],
      [p.rollback('b1', 100, 250), [1150, 900]],
      [p.settle('b1', 300, { betAmount: 100 }), [900, 1200]],
    ],
  },
  {
    rule: 'closed',
    name: 'a cancelled bet is not settled, whatever amounts the message names',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 100), [900, 1000]],
      [p.settle('b1', 250, { betAmount: 100 }), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'adjust',
    name: 'a settle that names the first stake of an adjusted bet pays its payout',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 150), [900, 850]],
      [p.settle('b1', 250, { betAmount: 100 }), [850, 1100]],
      [p.void('b1', 150, 250), [1100, 1000]],
    ],
  },
  {
    rule: 'stake',
    name: 'a bet that names a payout, too, takes its stake',
    steps: (p) => [
      [p.bet('b1', 100, PAYOUT), [1000, 900]],
      [p.bet('b2', 901, PAYOUT), 10002],
      [p.settle('b1', 30), [900, 930]],
      [p.balance(), [930]],
    ],
  },
  {
    rule: 'waiting',
    name: 'a WAITING bet and its confirmation that name a payout, too, take the stake once',
    steps: (p) => [
      [p.bet('b1', 100, { status: 'WAITING', ...PAYOUT }), [1000, 900]],
      [p.bet('b1', 100, PAYOUT), [900, 900]],
      [p.settle('b1', 30), [900, 930]],
    ],
  },
  {
    rule: 'adjust',
    name: 'an adjustment that names a payout, too, replaces the stake',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 150, PAYOUT), [900, 850]],
      [p.cancel('b1', 150), [850, 1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'a cancel that names a payout, too, gives back the stake',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 100, PAYOUT), [900, 1000]],
      [p.bet('b2', 100), [1000, 900]],
      [p.cancel('b2', 100, { status: 'REJECT', ...PAYOUT }), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'a cancel that names no stake gives back what was taken',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 0), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'the cancel of a round that names no stakes, or a payout, too, gives back the stakes',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.cancel('c1', 0, { ...BY_ROUND, ...PAYOUT }), [700, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'void',
    name: 'a void that names no payout takes back what was paid',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.void('b1', 100, 0), [1150, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'void',
    name: 'the void of a lost bet that names a payout gives back the stake',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 0), [900, 900]],
      [p.void('b1', 100, 250), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a rollback that names no amounts takes back what was paid',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.rollback('b1', 0, 0), [1150, 900]],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'rollback',
    name: 'the rollback of a refund that names a payout, too, takes the stake',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 100), [900, 1000]],
      [p.rollback('b1', 100, 250), [1000, 900]],
      [p.settle('b1', 30), [900, 930]],
    ],
  },
  {
    rule: 'tips',
    name: 'a tip that names a payout, too, is taken, and given back by a cancel that names none',
    steps: (p) => [
      [p.tip('t1', 50, PAYOUT), [1000, 950]],
      [p.cancelTip('t1', 0), [950, 1000]],
      [p.tip('t2', 50), [1000, 950]],
      [p.cancelTip('t2', 50, PAYOUT), [950, 1000]],
    ],
  },
  {
    rule: 'rewards',
    name: 'a void that names a stake takes back the reward alone',
    steps: (p) => [
      [p.reward('w1', 500, STAKE), [1000, 1500]],
      [p.void('w1', 100, 500), [1500, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'movements',
    name: 'a movement that names a stake and a payout, too, moves its amount',
    steps: (p) => [
      [p.move('m1', 'DEBIT', 300, { ...STAKE, ...PAYOUT }), [1000, 700]],
      [p.move('m2', 'CREDIT', 40, { ...STAKE, ...PAYOUT }), [700, 740]],
      [p.balance(), [740]],
    ],
  },
  {
    rule: 'exact',
    name: 'amounts whose hundredfold a double rounds down keep their last digit',
    steps: (p) => [
      [p.bet('b1', 0.29), [1000, 999.71]],
      [p.bet('b2', 0.57), [999.71, 999.14]],
      [p.bet('b3', 1.15), [999.14, 997.99]],
      [p.bet('b4', 4.35), [997.99, 993.64]],
      [p.settle('b1', 8.2), [993.64, 1001.84]],
      [p.settle('b2', 1.13), [1001.84, 1002.97]],
      [p.balance(), [1002.97]],
    ],
  },
  {
    rule: 'exact',
    name: 'a large balance keeps its last digit',
    steps: (p) => [
      [p.reward('w1', 9999999.99), [1000, 10000999.99]],
      [p.bet('b1', 0.01), [10000999.99, 10000999.98]],
      [p.balance(), [10000999.98]],
    ],
  },
  {
    rule: 'names',
    name: 'rounds that differ in upper and lower case alone are two',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200, { roundId: 'R1' }), [900, 700]],
      [p.settleRound('s1', 50), [700, 750]],
      [p.cancel('b2', 200, { roundId: 'R1' }), [750, 950]],
    ],
  },
  {
    rule: 'names',
    name: 'tips, rewards and movements that differ in upper and lower case alone are two',
    steps: (p) => [
      [p.tip('t1', 50), [1000, 950]],
      [p.tip('T1', 50), [950, 900]],
      [p.reward('w1', 30), [900, 930]],
      [p.reward('W1', 30), [930, 960]],
      [p.move('m1', 'DEBIT', 20), [960, 940]],
      [p.move('M1', 'DEBIT', 20), [940, 920]],
    ],
  },
  {
    rule: 'names',
    name: 'ids that differ in a space at their end alone are two',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b1 ', 100), [900, 800]],
      [p.settle('b1 ', 250), [800, 1050]],
      [p.cancel('b1', 100), [1050, 1150]],
    ],
  },
];
