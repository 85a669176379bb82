import type { Case } from '../case.js';
import type { Message } from '../message.js';
import { but, type Platform, SKIP } from '../platform.js';
import { inDebt } from './in-debt.js';

const WAITING = { status: 'WAITING' };

export const BETS: readonly Case[] = [
  {
    rule: 'balance',
    name: 'it tells what the messages before it have left',
    steps: (p) => [
      [p.balance(), [1000]],
      [p.bet('b1', 100), [1000, 900]],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'balance',
    name: 'the same request again is no repeat: it tells the balance of now',
    steps: (p) => {
      const balance = p.balance();
      return [
        [balance, [1000]],
        [p.bet('b1', 100), [1000, 900]],
        [balance, [900]],
      ];
    },
  },
  {
    rule: 'stake',
    name: 'stakes are taken one after the other',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 250, { roundId: 'r2' }), [900, 650]],
      [p.bet('b3', 1), [650, 649]],
      [p.balance(), [649]],
    ],
  },
  {
    rule: 'stake',
    name: 'a stake of the whole balance is covered, and nothing beyond it',
    steps: (p) => [
      [p.bet('b1', 1001), 10002],
      [p.bet('b2', 1000), [1000, 0]],
      [p.bet('b3', 1), 10002],
      [p.balance(), [0]],
    ],
  },
  {
    rule: 'stake',
    name: 'a bet that was refused can be sent again when there is money',
    steps: (p) => {
      const bet = p.bet('b1', 1200);
      return [
        [bet, 10002],
        [p.bet('b2', 100), [1000, 900]],
        [p.settle('b2', 600), [900, 1500]],
        [bet, [1500, 300]],
        [p.balance(), [300]],
      ];
    },
  },
  {
    rule: 'stake',
    name: 'a feature bet may be free',
    steps: (p) => [
      [p.bet('b1', 0, { isFeature: true }), [1000, 1000]],
      [p.settle('b1', 40), [1000, 1040]],
    ],
  },
  {
    rule: 'stake',
    name: 'a bet of 0 is one also where it is no feature, and its win is paid',
    steps: (p) => [
      [p.bet('b1', 0), [1000, 1000]],
      [p.settle('b1', 40), [1000, 1040]],
      [p.balance(), [1040]],
    ],
  },
  {
    rule: 'stake',
    name: 'buying a feature takes its price',
    steps: (p) => [
      [p.bet('b1', 300, { isFeature: true, isFeatureBuy: true }), [1000, 700]],
      [p.balance(), [700]],
    ],
  },
  {
    rule: 'stake',
    name: 'fields that no table names change nothing',
    steps: (p) => [
      [p.bet('b1', 100, { sessionToken: 'any', txnId: 'b1' }), [1000, 900]],
      [p.settle('b1', 250, { txnId: 'b1' }), [900, 1150]],
      [p.balance(), [1150]],
    ],
  },
  inDebt('stake', 'a free bet is covered by a balance below zero', (p) => p.bet('b3', 0, { isFeature: true })),
  {
    rule: 'waiting',
    name: 'OPEN after WAITING confirms, and takes nothing more',
    steps: (p) => [
      [p.bet('b1', 100, WAITING), [1000, 900]],
      [p.bet('b1', 100), [900, 900]],
      [p.settle('b1', 250), [900, 1150]],
    ],
  },
  {
    rule: 'waiting',
    name: 'a waiting bet is settled without its confirmation',
    steps: (p) => [
      [p.bet('b1', 100, WAITING), [1000, 900]],
      [p.settle('b1', 250), [900, 1150]],
      [p.balance(), [1150]],
    ],
  },
  {
    rule: 'waiting',
    name: 'the confirmation takes the stake that a WAITING with skip left',
    steps: (p) => [
      [p.bet('b1', 100, { ...WAITING, ...SKIP }), [1000, 1000]],
      [p.bet('b1', 100), [1000, 900]],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'waiting',
    name: 'the confirmation of a WAITING with skip may bring another stake, which is taken and given back',
    steps: (p) => {
      const waiting = p.bet('b1', 100, { ...WAITING, ...SKIP });
      const open = p.bet('b1', 95);
      return [
        [waiting, [1000, 1000]],
        [open, [1000, 905]],
        [waiting, [1000, 1000]],
        [open, [1000, 905]],
        [p.bet('b1', 50), 20002],
        [p.cancel('b1', 95), [905, 1000]],
      ];
    },
  },
  {
    rule: 'waiting',
    name: 'a confirmation names the stake of the adjustment also where nothing was taken',
    steps: (p) => [
      [p.bet('b1', 100, { ...WAITING, ...SKIP }), [1000, 1000]],
      [p.adjust('b1', 90), [1000, 1000]],
      [p.bet('b1', 100), 20002],
      [p.bet('b1', 90), [1000, 910]],
    ],
  },
  {
    rule: 'late',
    name: 'a confirmation with another stake that comes after the settle takes its stake',
    steps: (p) => [
      [p.bet('b1', 100, { ...WAITING, ...SKIP }), [1000, 1000]],
      [p.settle('b1', 190), [1000, 1190]],
      [p.bet('b1', 95), [1190, 1095]],
      [p.void('b1', 95, 190), [1095, 1000]],
    ],
  },
  {
    rule: 'waiting',
    name: 'a confirmation has the stake that an adjustment has set',
    steps: (p) => [
      [p.bet('b1', 100, WAITING), [1000, 900]],
      [p.adjust('b1', 150), [900, 850]],
      [p.bet('b1', 150), [850, 850]],
      [p.settle('b1', 250), [850, 1100]],
    ],
  },
  {
    rule: 'waiting',
    name: 'a confirmation with another stake is refused',
    steps: (p) => [
      [p.bet('b1', 100, WAITING), [1000, 900]],
      [p.bet('b1', 60), 20002],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'waiting',
    name: 'a confirmation for another round is refused',
    steps: (p) => [
      [p.bet('b1', 100, WAITING), [1000, 900]],
      [p.bet('b1', 100, { roundId: 'r2' }), 20002],
      [p.cancel('b1', 100), [900, 1000]],
    ],
  },
  {
    rule: 'waiting',
    name: 'a confirmation that takes nothing needs no balance',
    steps: (p) => [
      [p.bet('b1', 600, WAITING), [1000, 400]],
      [p.bet('b1', 600), [400, 400]],
      [p.balance(), [400]],
    ],
  },
  {
    rule: 'waiting',
    name: 'a confirmation that takes the stake must be covered',
    steps: (p) => [
      [p.bet('b1', 1500, { ...WAITING, ...SKIP }), [1000, 1000]],
      [p.bet('b1', 1500), 10002],
      [p.cancel('b1', 1500), [1000, 1000]],
    ],
  },
  {
    rule: 'skip',
    name: 'a bet that skips takes nothing, and needs no balance',
    steps: (p) => [
      [p.bet('b1', 100, SKIP), [1000, 1000]],
      [p.bet('b2', 2000, SKIP), [1000, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'skip',
    name: 'the cancel of a bet that skipped gives nothing back',
    steps: (p) => [
      [p.bet('b1', 100, SKIP), [1000, 1000]],
      [p.cancel('b1', 100), [1000, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'skip',
    name: 'the adjustment of a bet that skipped takes nothing',
    steps: (p) => [
      [p.bet('b1', 100, SKIP), [1000, 1000]],
      [p.adjust('b1', 150), [1000, 1000]],
      [p.cancel('b1', 150), [1000, 1000]],
    ],
  },
  {
    rule: 'skip',
    name: 'the same bet without skip takes the stake, once',
    steps: (p) => {
      const bet = p.bet('b1', 100, SKIP);
      const taking = but(bet, { skipBalanceUpdate: false });
      return [
        [bet, [1000, 1000]],
        [taking, [1000, 900]],
        [taking, [1000, 900]],
        [p.balance(), [900]],
      ];
    },
  },
  {
    rule: 'skip',
    name: 'a settle that skips closes the bet and pays nothing',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 250, SKIP), [900, 900]],
      [p.cancel('b1', 100), 20004],
      [p.balance(), [900]],
    ],
  },
  {
    rule: 'skip',
    name: 'the same settle without skip pays, once',
    steps: paidOnce((p) => p.settle('b1', 250, SKIP)),
  },
  {
    rule: 'skip',
    name: 'a settle of a round that skips pays nothing, and the same one without skip pays once',
    steps: paidOnce((p) => p.settleRound('s1', 250, SKIP)),
  },
  {
    rule: 'skip',
    name: 'a settle of a round that skipped and is paid later leaves bets open that came in between',
    steps: (p) => {
      const skipped = p.settleRound('s1', 250, SKIP);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [skipped, [900, 900]],
        [p.bet('b2', 50), [900, 850]],
        [but(skipped, { skipBalanceUpdate: false }), [850, 1100]],
        [p.cancel('b2', 50), [1100, 1150]],
      ];
    },
  },
  {
    rule: 'skip',
    name: 'a single-state settle that skips moves nothing, and needs no balance',
    steps: (p) => [
      [p.single('b1', 2000, 250, SKIP), [1000, 1000]],
      [p.void('b1', 2000, 250), [1000, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'skip',
    name: 'the same single-state settle without skip takes the stake and pays, once',
    steps: (p) => {
      const skipping = p.single('b1', 100, 250, SKIP);
      const moving = but(skipping, { skipBalanceUpdate: false });
      return [
        [skipping, [1000, 1000]],
        [moving, [1000, 1150]],
        [moving, [1000, 1150]],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'skip',
    name: 'a tip that skips takes nothing, needs no balance, and nothing of it is given back',
    steps: (p) => [
      [p.tip('t1', 2000, SKIP), [1000, 1000]],
      [p.cancelTip('t1', 2000), [1000, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'skip',
    name: 'the same tip without skip is taken, once',
    steps: (p) => {
      const skipping = p.tip('t1', 50, SKIP);
      const taking = but(skipping, { skipBalanceUpdate: false });
      return [
        [skipping, [1000, 1000]],
        [taking, [1000, 950]],
        [taking, [1000, 950]],
        [p.balance(), [950]],
      ];
    },
  },
  {
    rule: 'exact',
    name: 'a tenth and two tenths are three tenths',
    steps: (p) => [
      [p.bet('b1', 0.1), [1000, 999.9]],
      [p.bet('b2', 0.2), [999.9, 999.7]],
      [p.settle('b1', 0.3), [999.7, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'exact',
    name: 'nothing is left of many small amounts',
    steps: (p) => [
      [p.bet('b1', 999.97), [1000, 0.03]],
      [p.bet('b2', 0.01), [0.03, 0.02]],
      [p.bet('b3', 0.01), [0.02, 0.01]],
      [p.bet('b4', 0.01), [0.01, 0]],
      [p.bet('b5', 0.01), 10002],
    ],
  },
];

/** Steps that settle with skip and then twice without skip. */
function paidOnce(skippingOf: (p: Platform) => Message): Case['steps'] {
  return (p) => {
    const skipping = skippingOf(p);
    const paying = but(skipping, { skipBalanceUpdate: false });
    return [
      [p.bet('b1', 100), [1000, 900]],
      [skipping, [900, 900]],
      [paying, [900, 1150]],
      [paying, [900, 1150]],
      [p.balance(), [1150]],
    ];
  };
}
