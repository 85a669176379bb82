import type { Case } from '../case.js';
import { BY_ROUND, but, SKIP } from '../platform.js';

export const ROLLBACKS: readonly Case[] = [
  {
    rule: 'rollback',
    name: 'the payout is taken back, and the bet can be settled anew',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.rollback('b1', 0, 250), [1150, 900]],
      [p.settle('b1', 0), [900, 900]],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'rollback',
    name: 'the second result may be the same as the first',
    steps: (p) => {
      const again = () => p.settle('b1', 250);
      const first = again();
      const second = again();
      return [
        [p.bet('b1', 100), [1000, 900]],
        [first, [900, 1150]],
        [p.rollback('b1', 0, 250), [1150, 900]],
        [second, [900, 1150]],
        [second, [900, 1150]],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'a refunded bet is taken again, and goes on',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [bet, [1000, 900]],
        [p.cancel('b1', 100), [900, 1000]],
        [bet, 20003],
        [p.rollback('b1', 100, 0), [1000, 900]],
        [bet, [1000, 900]],
        [p.settle('b1', 250), [900, 1150]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'a refunded bet that skipped goes on without its stake',
    steps: (p) => [
      [p.bet('b1', 100, SKIP), [1000, 1000]],
      [p.cancel('b1', 100), [1000, 1000]],
      [p.rollback('b1', 100, 0), [1000, 1000]],
      [p.settle('b1', 250), [1000, 1250]],
      [p.void('b1', 100, 250), [1250, 1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a rollback of a refund that skips leaves the stake to be taken',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return [
        [bet, [1000, 900]],
        [p.cancel('b1', 100), [900, 1000]],
        [p.rollback('b1', 100, 0, SKIP), [1000, 1000]],
        [p.anew(bet), [1000, 900]],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'the second result may skip, and be paid later',
    steps: (p) => {
      const skipped = p.settle('b1', 300, SKIP);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.settle('b1', 250), [900, 1150]],
        [p.rollback('b1', 0, 250), [1150, 900]],
        [skipped, [900, 900]],
        [but(skipped, { skipBalanceUpdate: false }), [900, 1200]],
        [p.void('b1', 100, 300), [1200, 1000]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'of a second result that skipped a void takes nothing back',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.rollback('b1', 0, 250), [1150, 900]],
      [p.settle('b1', 250, SKIP), [900, 900]],
      [p.void('b1', 100, 0), [900, 1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'the late retry of a settle that was undone pays nothing',
    steps: (p) => {
      const settle = p.settle('b1', 250);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [settle, [900, 1150]],
        [p.rollback('b1', 0, 250), [1150, 900]],
        [settle, 20002],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'the late retry of a cancel that was undone gives nothing back',
    steps: (p) => {
      const cancel = p.cancel('b1', 100);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [cancel, [900, 1000]],
        [p.rollback('b1', 100, 0), [1000, 900]],
        [cancel, 20002],
        [p.settle('b1', 250), [900, 1150]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'the late retry of a single-state settle that was undone moves nothing',
    steps: (p) => {
      const single = p.single('b1', 100, 250);
      return [
        [single, [1000, 1150]],
        [p.rollback('b1', 0, 250), [1150, 900]],
        [single, 20002],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'the late retries of a settle and a cancel of the whole round that were undone move nothing',
    steps: (p) => {
      const settle = p.settleRound('s1', 250);
      const cancel = p.cancel('c1', 100, BY_ROUND);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [settle, [900, 1150]],
        [p.rollback('x1', 0, 250, BY_ROUND), [1150, 900]],
        [settle, 20002],
        [cancel, [900, 1000]],
        [p.rollback('x2', 100, 0, BY_ROUND), [1000, 900]],
        [cancel, 20002],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'its own late retry does not undo the second result',
    steps: (p) => {
      const rollback = p.rollback('b1', 0, 250);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.settle('b1', 250), [900, 1150]],
        [rollback, [1150, 900]],
        [p.settle('b1', 250), [900, 1150]],
        [rollback, [1150, 900]],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'the late retry of one that found the bet open does not undo the second result',
    steps: (p) => {
      const rollback = p.rollback('b1', 0, 250);
      const repeat = p.anew(rollback);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.settle('b1', 250), [900, 1150]],
        [rollback, [1150, 900]],
        [repeat, [1150, 900]],
        [p.settle('b1', 300), [900, 1200]],
        [repeat, [1150, 900]],
        [rollback, [1150, 900]],
        [p.balance(), [1200]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'nor does that of one that found the whole round open',
    steps: (p) => {
      const rollback = p.rollback('x1', 0, 500, BY_ROUND);
      const repeat = p.anew(rollback);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.settleRound('s1', 500), [900, 1400]],
        [rollback, [1400, 900]],
        [repeat, [1400, 900]],
        [p.settleRound('s2', 300), [900, 1200]],
        [repeat, [1400, 900]],
        [rollback, [1400, 900]],
        [p.balance(), [1200]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'another rollback undoes the second result',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.rollback('b1', 0, 250), [1150, 900]],
      [p.settle('b1', 300), [900, 1200]],
      [p.rollback('b1', 0, 300), [1200, 900]],
      [p.cancel('b1', 100), [900, 1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a payout that has been spent is taken back below zero',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.bet('b2', 1150), [1150, 0]],
      [p.rollback('b1', 0, 250), [0, -250]],
      [p.bet('b3', 1), 10002],
      [p.settle('b1', 400), [-250, 150]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a round is opened as a whole, and its end is forgotten',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 100), [900, 800]],
      [p.settleRound('s1', 500, { isEndRound: true }), [800, 1300]],
      [p.rollback('x1', 0, 500, BY_ROUND), [1300, 800]],
      [p.settleRound('s1', 300), [800, 1100]],
      [p.settleRound('s2', 20), [1100, 1120]],
      [p.balance(), [1120]],
    ],
  },
  {
    rule: 'rollback',
    name: 'the end of a round is forgotten with the result of one bet',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250, { isEndRound: true }), [900, 1150]],
      [p.rollback('b1', 0, 250), [1150, 900]],
      [p.settle('b1', 150), [900, 1050]],
      [p.settleRound('s1', 20), [1050, 1070]],
      [p.balance(), [1070]],
    ],
  },
  {
    rule: 'rollback',
    name: 'the id of a settle of the round is free again when its last bet is opened',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 250), [900, 1150]],
      [p.rollback('b1', 0, 250), [1150, 900]],
      [p.settleRound('s1', 300), [900, 1200]],
      [p.balance(), [1200]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a round that was lost is opened, too',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 0), [900, 900]],
      [p.rollback('x1', 0, 0, BY_ROUND), [900, 900]],
      [p.settleRound('s1', 250), [900, 1150]],
    ],
  },
  {
    rule: 'rollback',
    name: 'the rollback of a round takes back what the void of its bet has left',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settleRound('s1', 500), [900, 1400]],
      [p.void('b1', 100, 300), [1400, 1200]],
      [p.rollback('x1', 0, 200, BY_ROUND), [1200, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a bet that its round had settled is then settled by itself, and its repeat is known',
    steps: (p) => {
      const settle = p.settle('b1', 300);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.settleRound('s1', 250), [900, 1150]],
        [p.rollback('b1', 0, 250), [1150, 900]],
        [settle, [900, 1200]],
        [settle, [900, 1200]],
        [p.void('b1', 100, 300), [1200, 1000]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'while a bet is open since, its former settle of the round answers its own retry alone',
    steps: (p) => {
      const settle = p.settleRound('s1', 500);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.bet('b2', 200), [900, 700]],
        [settle, [700, 1200]],
        [p.rollback('b1', 0, 200), [1200, 1000]],
        [p.anew(settle), 20004],
        [settle, [700, 1200]],
        [p.settle('b1', 40), [1000, 1040]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'the rollback of a round leaves refunds and voids alone where a bet is settled',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.bet('b3', 50), [700, 650]],
      [p.cancel('b1', 100), [650, 750]],
      [p.settle('b2', 0), [750, 750]],
      [p.void('b2', 200, 0), [750, 950]],
      [p.settle('b3', 250), [950, 1200]],
      [p.rollback('x1', 0, 250, BY_ROUND), [1200, 950]],
      [p.settle('b1', 10), 20003],
      [p.settle('b2', 10), 20003],
      [p.settle('b3', 10), [950, 960]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a round whose bets were settled one by one gives back all their payouts',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settle('b1', 150), [700, 850]],
      [p.settle('b2', 50), [850, 900]],
      [p.rollback('x1', 0, 200, BY_ROUND), [900, 700]],
      [p.cancel('c1', 300, BY_ROUND), [700, 1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'of a payout of the round a bet gives back what the message names, and the last one the rest',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.settleRound('s1', 500), [700, 1200]],
      [p.rollback('b1', 0, 200), [1200, 1000]],
      [p.rollback('b2', 0, 100), [1000, 700]],
      [p.cancel('c1', 300, BY_ROUND), [700, 1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'bets of a cancelled round are taken again',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.cancel('c1', 300, BY_ROUND), [700, 1000]],
      [p.rollback('x1', 300, 0, BY_ROUND), [1000, 700]],
      [p.settleRound('s1', 400), [700, 1100]],
    ],
  },
  {
    rule: 'rollback',
    name: 'rejected bets of a cancelled round are not taken again',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 200), [900, 700]],
      [p.cancel('b1', 100, { status: 'REJECT' }), [700, 800]],
      [p.cancel('b2', 200), [800, 1000]],
      [p.rollback('x1', 200, 0, BY_ROUND), [1000, 800]],
      [p.settle('b1', 250), 20003],
      [p.balance(), [800]],
    ],
  },
  {
    rule: 'rollback',
    name: 'with the cancel of a round goes what it did to late bets',
    steps: (p) => {
      const late = p.bet('b2', 50);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.cancel('c1', 100, BY_ROUND), [900, 1000]],
        [late, 20003],
        [p.rollback('x1', 100, 0, BY_ROUND), [1000, 900]],
        [late, [900, 850]],
        [p.balance(), [850]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'late bets stay cancelled where one bet is opened, or a result is undone',
    steps: (p) => {
      const late = p.bet('b2', 50);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [p.cancel('c1', 100, BY_ROUND), [900, 1000]],
        [p.rollback('b1', 100, 0), [1000, 900]],
        [late, 20003],
        [p.settle('b1', 250), [900, 1150]],
        [p.rollback('x1', 0, 250, BY_ROUND), [1150, 900]],
        [late, 20003],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'a bet that is open again can be cancelled with its round again',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('c1', 100, BY_ROUND), [900, 1000]],
      [p.rollback('b1', 100, 0), [1000, 900]],
      [p.cancel('c1', 100, BY_ROUND), [900, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'what is void, rejected, open or unknown has no result to take back',
    steps: (p) => [
      [p.rollback('b0', 0, 0), 20001],
      [p.rollback('x0', 0, 0, BY_ROUND), 20001],
      [p.bet('b1', 100), [1000, 900]],
      [p.rollback('b1', 0, 0), 20001],
      [p.rollback('x1', 0, 0, BY_ROUND), 20001],
      [p.settle('b1', 250), [900, 1150]],
      [p.void('b1', 100, 250), [1150, 1000]],
      [p.rollback('b1', 0, 250), 20003],
      [p.bet('b2', 100), [1000, 900]],
      [p.cancel('b2', 100, { status: 'REJECT' }), [900, 1000]],
      [p.rollback('b2', 100, 0), 20003],
      [p.cancel('b3', 100), 20001],
      [p.rollback('b3', 100, 0), 20003],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a single-state round runs again without taking its stake twice',
    steps: (p) => [
      [p.single('b1', 100, 30), [1000, 930]],
      [p.rollback('b1', 0, 30), [930, 900]],
      [p.single('b1', 100, 250), [900, 1150]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a single-state round asks the balance only for what is more than its former stake',
    steps: (p) => {
      const single = p.single('b1', 900, 0);
      return [
        [p.single('b1', 800, 0), [1000, 200]],
        [p.rollback('b1', 0, 0), [200, 200]],
        [p.single('b1', 1001, 5000), 10002],
        [single, [200, 100]],
        [single, [200, 100]],
        [p.balance(), [100]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'with skip a single-state round has the stake that is held',
    steps: (p) => [
      [p.single('b1', 100, 250), [1000, 1150]],
      [p.rollback('b1', 0, 250), [1150, 900]],
      [p.single('b1', 60, 250, SKIP), 20002],
      [p.single('b1', 100, 250, SKIP), [900, 900]],
      [p.void('b1', 100, 0), [900, 1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a single-state round can be settled BY_TRANSACTION then, and the repeat is known',
    steps: (p) => {
      const settle = p.settle('b1', 40);
      return [
        [p.single('b1', 100, 250), [1000, 1150]],
        [p.rollback('b1', 0, 250), [1150, 900]],
        [settle, [900, 940]],
        [settle, [900, 940]],
        [p.balance(), [940]],
      ];
    },
  },
  {
    rule: 'rollback',
    name: 'a rollback that skips opens the bet and moves nothing',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.rollback('b1', 0, 250, SKIP), [1150, 1150]],
      [p.settle('b1', 100), [1150, 1250]],
    ],
  },
  {
    rule: 'rollback',
    name: 'a tip that was given back is taken again',
    steps: (p) => [
      [p.tip('t1', 50), [1000, 950]],
      [p.cancelTip('t1', 50), [950, 1000]],
      [p.rollback('t1', 50, 0), [1000, 950]],
      [p.settle('t1', 10), 20001],
      [p.cancelTip('t1', 50), [950, 1000]],
    ],
  },
  {
    rule: 'rollback',
    name: 'an open tip is not taken again, and the rollback of one leaves the end of its round',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 0, { isEndRound: true }), [900, 900]],
      [p.tip('t1', 50), [900, 850]],
      [p.rollback('t1', 50, 0), 20001],
      [p.cancelTip('t1', 50), [850, 900]],
      [p.rollback('t1', 50, 0), [900, 850]],
      [p.settleRound('s1', 20), 20004],
      [p.balance(), [850]],
    ],
  },
];
