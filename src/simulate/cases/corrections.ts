import type { Case } from '../case.js';
import { BY_ROUND, but, SKIP } from '../platform.js';
import { inDebt } from './in-debt.js';

const REJECT = { status: 'REJECT' };

/** Cases about adjustments, voids and cancels. */
export const CORRECTIONS: readonly Case[] = [
  {
    rule: 'adjust',
    name: 'a higher stake takes the difference',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 150), [900, 850]],
      [p.balance(), [850]],
    ],
  },
  {
    rule: 'adjust',
    name: 'a lower stake gives the difference back',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 40), [900, 960]],
      [p.adjust('b1', 0), [960, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'adjust',
    name: 'a stake that is not covered is refused, and the old one stays',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 1001), 10002],
      [p.adjust('b1', 1000), [900, 0]],
      [p.balance(), [0]],
    ],
  },
  {
    rule: 'adjust',
    name: 'each request adjusts, also to a stake that was there before',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 150), [900, 850]],
      [p.adjust('b1', 100), [850, 900]],
      [p.adjust('b1', 150), [900, 850]],
      [p.balance(), [850]],
    ],
  },
  {
    rule: 'adjust',
    name: 'the cancel gives the adjusted stake back',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 150), [900, 850]],
      [p.cancel('b1', 150), [850, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'adjust',
    name: 'what was never placed, or is closed, is not adjusted',
    steps: (p) => [
      [p.adjust('b1', 50), 20001],
      [p.bet('b2', 100), [1000, 900]],
      [p.settle('b2', 0), [900, 900]],
      [p.adjust('b2', 50), 20004],
      [p.bet('b3', 100), [900, 800]],
      [p.cancel('b3', 100), [800, 900]],
      [p.adjust('b3', 50), 20003],
      [p.balance(), [900]],
    ],
  },
  inDebt(
    'adjust',
    'a lower stake gives back also where the balance stays below zero',
    (p) => p.adjust('b2', 1400),
    100,
  ),
  {
    rule: 'void',
    name: 'a win is taken back, and the stake comes back',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.void('b1', 100, 250), [1150, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'void',
    name: 'the stake of a lost bet comes back',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 0), [900, 900]],
      [p.void('b1', 100, 0), [900, 1000]],
    ],
  },
  {
    rule: 'void',
    name: 'a round is voided as a whole, once',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settleRound('s1', 500), [700, 1200]],
      [p.void('v1', 300, 500, BY_ROUND), [1200, 1000]],
      [p.void('v2', 300, 500, BY_ROUND), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'void',
    name: 'a round whose bets were settled one by one is voided as a whole',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settle('b1', 150), [700, 850]],
      [p.settle('b2', 0), [850, 850]],
      [p.void('v1', 300, 150, BY_ROUND), [850, 1000]],
    ],
  },
  {
    rule: 'void',
    name: 'a bet that its round has settled takes back what the message names of the payout',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settleRound('s1', 500), [700, 1200]],
      [p.void('b1', 100, 300), [1200, 1000]],
      [p.void('b2', 200, 200), [1000, 1000]],
    ],
  },
  {
    rule: 'void',
    name: 'a bet takes back no more of the payout of its round than is left',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settleRound('s1', 500), [700, 1200]],
      [p.void('b1', 100, 300), [1200, 1000]],
      [p.void('b2', 200, 500), [1000, 1000]],
    ],
  },
  {
    rule: 'void',
    name: 'the void of a round takes back what voids of single bets have left',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 500), [900, 1400]],
      [p.void('b1', 100, 300), [1400, 1200]],
      [p.void('v1', 100, 500, BY_ROUND), [1200, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'void',
    name: 'the void of a round leaves open bets open',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settle('b1', 250), [700, 950]],
      [p.void('v1', 100, 250, BY_ROUND), [950, 800]],
      [p.cancel('b2', 200), [800, 1000]],
    ],
  },
  {
    rule: 'void',
    name: 'a round of which nothing is settled is not voided',
    steps: (p) => [
      [p.void('v1', 100, 0, BY_ROUND), 20001],
      [p.bet('b1', 100), [1000, 900]],
      [p.void('v1', 100, 0, BY_ROUND), 20001],
      [p.cancel('b1', 100), [900, 1000]],
      [p.void('v1', 100, 0, BY_ROUND), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'void',
    name: 'it goes by what was recorded where the platform could not name the stake',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.void('b1', 0, 250), [1150, 1000]],
    ],
  },
  {
    rule: 'void',
    name: 'after an adjustment the adjusted stake comes back',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.adjust('b1', 150), [900, 850]],
      [p.settle('b1', 400), [850, 1250]],
      [p.void('b1', 150, 400), [1250, 1000]],
    ],
  },
  {
    rule: 'void',
    name: 'a payout that has been spent is taken back below zero',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 600), [900, 1500]],
      [p.bet('b2', 1500), [1500, 0]],
      [p.void('b1', 100, 600), [0, -500]],
      [p.bet('b3', 1), 10002],
      [p.balance(), [-500]],
    ],
  },
  {
    rule: 'void',
    name: 'what is open, cancelled or unknown is not voided',
    steps: (p) => [
      [p.void('b0', 100, 0), 20001],
      [p.bet('b1', 100), [1000, 900]],
      [p.void('b1', 100, 0), 20001],
      [p.cancel('b1', 100), [900, 1000]],
      [p.void('b1', 100, 0), 20003],
      [p.bet('b2', 100), [1000, 900]],
      [p.cancel('b2', 100, REJECT), [900, 1000]],
      [p.void('b2', 100, 0), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'an open bet is refunded',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 100), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'a waiting bet is rejected',
    steps: (p) => [
      [p.bet('b1', 100, { status: 'WAITING' }), [1000, 900]],
      [p.cancel('b1', 100, REJECT), [900, 1000]],
      [p.bet('b1', 100), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'a waiting bet can be refunded, and an open one rejected',
    steps: (p) => [
      [p.bet('b1', 100, { status: 'WAITING' }), [1000, 900]],
      [p.cancel('b1', 100), [900, 1000]],
      [p.bet('b2', 100), [1000, 900]],
      [p.cancel('b2', 100, REJECT), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'all open bets of a round are refunded at once',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.bet('b3', 50, { roundId: 'r2' }), [700, 650]],
      [p.cancel('c1', 300, BY_ROUND), [650, 950]],
      [p.balance(), [950]],
    ],
  },
  {
    rule: 'cancel',
    name: 'it gives back what was taken, whatever the message says',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 999), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'nothing is given back for a bet that was never placed',
    steps: (p) => [
      [p.cancel('b1', 100), 20001],
      [p.cancel('c1', 100, { roundId: 'r9', ...BY_ROUND }), 20001],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'cancel',
    name: 'a settled bet is not refunded, by itself or with its round',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.cancel('b1', 100), 20004],
      [p.cancel('c1', 100, BY_ROUND), 20004],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'closed',
    name: 'a cancelled bet is not settled, voided or placed again',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [bet, [1000, 900]],
        [p.cancel('b1', 100), [900, 1000]],
        [p.settle('b1', 250), 20003],
        [p.void('b1', 100, 250), 20003],
        [bet, 20003],
        [p.bet('b1', 100), 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'closed',
    name: 'a cancelled bet is not settled by a single-state message',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 100), [900, 1000]],
      [p.single('b1', 100, 250), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'closed',
    name: 'a voided bet is not settled, cancelled or placed again',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      const settle = p.settle('b1', 250);
      return [
        [bet, [1000, 900]],
        [settle, [900, 1150]],
        [p.void('b1', 100, 250), [1150, 1000]],
        [settle, 20003],
        [p.settle('b1', 300), 20003],
        [p.cancel('b1', 100), 20003],
        [bet, 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'closed',
    name: 'a voided single-state round is not settled again, whether it had skipped or not',
    steps: (p) => {
      const single = p.single('b1', 100, 250);
      const skipped = p.single('b2', 100, 250, SKIP);
      return [
        [single, [1000, 1150]],
        [p.void('b1', 100, 250), [1150, 1000]],
        [single, 20003],
        [skipped, [1000, 1000]],
        [p.void('b2', 100, 250), [1000, 1000]],
        [skipped, 20003],
        [but(skipped, { skipBalanceUpdate: false }), 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'closed',
    name: 'a voided round pays no more',
    steps: (p) => {
      const settle = p.settleRound('s1', 250);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [settle, [900, 1150]],
        [p.void('v1', 100, 250, BY_ROUND), [1150, 1000]],
        [settle, 20003],
        [p.settleRound('s2', 250), 20003],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'closed',
    name: 'a bet that went with its round is not cancelled or voided by itself again',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('c1', 100, BY_ROUND), [900, 1000]],
      [p.cancel('b1', 100), 20003],
      [p.bet('b2', 100, { roundId: 'r2' }), [1000, 900]],
      [p.settle('b2', 250, { roundId: 'r2' }), [900, 1150]],
      [p.void('v1', 100, 250, { roundId: 'r2', ...BY_ROUND }), [1150, 1000]],
      [p.void('b2', 100, 250, { roundId: 'r2' }), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'closed',
    name: 'a settle of a round that skipped is not paid when its bets are voided',
    steps: (p) => {
      const skipped = p.settleRound('s1', 250, SKIP);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [skipped, [900, 900]],
        [p.void('b1', 100, 0), [900, 1000]],
        [but(skipped, { skipBalanceUpdate: false }), 20003],
        [p.balance(), [1000]],
      ];
    },
  },
];
