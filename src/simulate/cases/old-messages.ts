import type { Case } from '../case.js';
import { BY_ROUND, SKIP } from '../platform.js';

/*
 * Cases in which an acknowledged message is sent again much later, for example from a queue after an outage. Later
 * events may make it look new, but it is a repeat.
 */
export const OLD_MESSAGES: readonly Case[] = [
  {
    rule: 'oldMessages',
    name: 'a cancel array does not reach a bet placed after it in a round unknown then',
    steps: (p) => {
      const cancel = p.array(p.cancel('c1', 0, { roundId: 'r3', ...BY_ROUND }), p.cancel('b9', 100));
      const late = p.bet('b1', 100, { roundId: 'r3' });
      return [
        [p.bet('b9', 100), [1000, 900]],
        [cancel, [900, 1000]],
        [late, [1000, 900]],
        [cancel, [900, 1000]],
        [p.balance(), [900]],
        [p.settle('b1', 250, { roundId: 'r3' }), [900, 1150]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a cancel array does not reach a bet that it did not find',
    steps: (p) => {
      const cancel = p.array(
        p.cancel('b9', 100),
        p.cancel('c1', 0, { roundId: 'r3', ...BY_ROUND }),
        p.cancel('b9', 100),
      );
      return [
        [p.bet('b9', 100), [1000, 900]],
        [cancel, [900, 1000]],
        [p.bet('b1', 100, { roundId: 'r3' }), [1000, 900]],
        [p.bet('b2', 100, { roundId: 'r3' }), [900, 800]],
        [cancel, [900, 1000]],
        [p.balance(), [800]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a placeBets takes no second stake after a rollback that skipped',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [bet, [1000, 900]],
        [p.cancel('c1', 0, BY_ROUND), [900, 1000]],
        [p.rollback('k1', 100, 0, { ...BY_ROUND, ...SKIP }), [1000, 1000]],
        [bet, [1000, 900]],
        [p.balance(), [1000]],
        [p.anew(bet), [1000, 900]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a repeated placeBets of another request takes no second stake either',
    steps: (p) => {
      const bet = p.bet('b1', 100, { status: 'WAITING' });
      const retry = p.anew(bet);
      return [
        [bet, [1000, 900]],
        [retry, [1000, 900]],
        [p.cancel('b1', 100), [900, 1000]],
        [p.rollback('b1', 100, 0, SKIP), [1000, 1000]],
        [retry, [1000, 900]],
        [bet, [1000, 900]],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a placeTips takes no second tip after a rollback that skipped',
    steps: (p) => {
      const tip = p.tip('t1', 10);
      return [
        [tip, [1000, 990]],
        [p.cancelTip('t1', 10), [990, 1000]],
        [p.rollback('t1', 10, 0, SKIP), [1000, 1000]],
        [tip, [1000, 990]],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a settle behind its own repeat of another request pays nothing after the rollback',
    steps: (p) => {
      const settle = p.settle('b1', 250);
      const retry = p.anew(settle);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [settle, [900, 1150]],
        [retry, [900, 1150]],
        [p.rollback('b1', 0, 250), [1150, 900]],
        [settle, 20002],
        [retry, 20002],
        [p.balance(), [900]],
        [p.anew(settle), [900, 1150]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a cancel by either endpoint gives nothing back after the rollback',
    steps: (p) => {
      const cancel = p.cancel('b1', 100);
      const ofTip = p.cancelTip('b1', 100);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [cancel, [900, 1000]],
        [ofTip, [900, 1000]],
        [p.array(p.rollback('b1', 100, 0), p.rollback('b1', 100, 0)), [1000, 900]],
        [ofTip, 20002],
        [cancel, 20002],
        [p.balance(), [900]],
        [p.anew(cancel), [900, 1000]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a cancel BY_ROUND of another request gives nothing back after the rollback',
    steps: (p) => {
      const cancel = p.cancel('c1', 0, BY_ROUND);
      const retry = p.anew(cancel);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [cancel, [900, 1000]],
        [retry, [900, 1000]],
        [p.rollback('k1', 100, 0, BY_ROUND), [1000, 900]],
        [retry, 20002],
        [cancel, 20002],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'the void of a reward leaves a later bet of its id alone',
    steps: (p) => {
      const first = p.void('w1', 0, 50);
      const retry = p.anew(first);
      return [
        [p.reward('w1', 50), [1000, 1050]],
        [first, [1050, 1000]],
        [retry, [1050, 1000]],
        [p.bet('w1', 100), [1000, 900]],
        [p.settle('w1', 150), [900, 1050]],
        [first, [1050, 1000]],
        [retry, [1050, 1000]],
        [p.balance(), [1050]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'an array that names one bet with and without skip gets its first answer',
    steps: (p) => {
      const bets = p.array(p.bet('b1', 100, { status: 'WAITING', ...SKIP }), p.bet('b1', 100));
      return [
        [bets, [1000, 900]],
        [p.bet('b2', 50), [900, 850]],
        [bets, [1000, 900]],
        [p.balance(), [850]],
      ];
    },
  },
  {
    rule: 'oldMessages',
    name: 'a settle array with a bet that was settled before pays nothing after the rollback',
    steps: (p) => {
      const settles = p.array(p.settle('b1', 250), p.settle('b2', 70));
      return [
        [p.array(p.bet('b1', 100), p.bet('b2', 100)), [1000, 800]],
        [p.settle('b1', 250), [800, 1050]],
        [settles, [1050, 1120]],
        [p.rollback('b1', 0, 250), [1120, 870]],
        [settles, 20002],
        [p.balance(), [870]],
      ];
    },
  },
];
