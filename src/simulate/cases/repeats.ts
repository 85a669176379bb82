import type { Case, Step } from '../case.js';
import type { Message } from '../message.js';
import { BY_ROUND, but, type Platform, SKIP } from '../platform.js';
import type { RuleName } from '../rules.js';

type Pair = readonly [number, number];

/** A message with an effect, and the messages that must precede it. */
interface Effect {
  readonly of: string;
  readonly before: readonly ((p: Platform) => Step)[];
  readonly message: (p: Platform) => Message;
  readonly balances: Pair;
  /** A change to one field, and the expected refusal code. */
  readonly changes?: readonly (readonly [what: string, change: Readonly<Record<string, unknown>>, code: number])[];
}

const bet = (p: Platform): Step => [p.bet('b1', 100), [1000, 900]];
const settled = (p: Platform): Step => [p.settle('b1', 250), [900, 1150]];

const EFFECTS: readonly Effect[] = [
  {
    of: 'placeBets',
    before: [],
    message: (p) => p.bet('b1', 100),
    balances: [1000, 900],
    changes: [
      ['stake', { betAmount: 60 }, 20002],
      ['round', { roundId: 'r2' }, 20002],
    ],
  },
  {
    of: 'placeBets of a WAITING bet',
    before: [],
    message: (p) => p.bet('b1', 100, { status: 'WAITING' }),
    balances: [1000, 900],
    changes: [['stake', { betAmount: 60 }, 20002]],
  },
  {
    of: 'placeBets that confirms a WAITING bet',
    before: [(p) => [p.bet('b1', 100, { status: 'WAITING' }), [1000, 900]]],
    message: (p) => p.bet('b1', 100),
    balances: [900, 900],
  },
  { of: 'placeBets that skips', before: [], message: (p) => p.bet('b1', 100, SKIP), balances: [1000, 1000] },
  { of: 'settleBets that skips', before: [bet], message: (p) => p.settle('b1', 250, SKIP), balances: [900, 900] },
  {
    of: 'settleBets BY_ROUND that skips',
    before: [bet],
    message: (p) => p.settleRound('s1', 250, SKIP),
    balances: [900, 900],
  },
  {
    of: 'settleBets',
    before: [bet],
    message: (p) => p.settle('b1', 250),
    balances: [900, 1150],
    changes: [['payout', { payoutAmount: 300 }, 20004]],
  },
  {
    of: 'settleBets BY_ROUND',
    before: [bet],
    message: (p) => p.settleRound('s1', 250),
    balances: [900, 1150],
    changes: [['payout', { payoutAmount: 300 }, 20004]],
  },
  {
    of: 'a single-state settleBets',
    before: [],
    message: (p) => p.single('b1', 100, 250),
    balances: [1000, 1150],
    changes: [
      ['payout', { payoutAmount: 300 }, 20004],
      ['stake', { betAmount: 60 }, 20004],
    ],
  },
  {
    of: 'adjustBets',
    before: [bet],
    message: (p) => p.adjust('b1', 150),
    balances: [900, 850],
    changes: [['stake', { betAmount: 200 }, 20002]],
  },
  { of: 'voidSettled', before: [bet, settled], message: (p) => p.void('b1', 100, 250), balances: [1150, 1000] },
  {
    of: 'voidSettled BY_ROUND',
    before: [bet, settled],
    message: (p) => p.void('v1', 100, 250, BY_ROUND),
    balances: [1150, 1000],
  },
  {
    of: 'voidSettled of a reward',
    before: [(p) => [p.reward('w1', 500), [1000, 1500]]],
    message: (p) => p.void('w1', 0, 500),
    balances: [1500, 1000],
  },
  { of: 'cancelBets', before: [bet], message: (p) => p.cancel('b1', 100), balances: [900, 1000] },
  { of: 'cancelBets BY_ROUND', before: [bet], message: (p) => p.cancel('c1', 100, BY_ROUND), balances: [900, 1000] },
  {
    of: 'placeTips',
    before: [],
    message: (p) => p.tip('t1', 50),
    balances: [1000, 950],
    changes: [['amount', { betAmount: 60 }, 20002]],
  },
  {
    of: 'cancelTips',
    before: [(p) => [p.tip('t1', 50), [1000, 950]]],
    message: (p) => p.cancelTip('t1', 50),
    balances: [950, 1000],
  },
  {
    of: 'winRewards',
    before: [],
    message: (p) => p.reward('w1', 500),
    balances: [1000, 1500],
    changes: [['payout', { payoutAmount: 600 }, 20002]],
  },
  {
    of: 'adjustBalance, a debit',
    before: [],
    message: (p) => p.move('m1', 'DEBIT', 300),
    balances: [1000, 700],
    changes: [['amount', { amount: 200 }, 20002]],
  },
  {
    of: 'adjustBalance, a credit',
    before: [],
    message: (p) => p.move('m1', 'CREDIT', 300),
    balances: [1000, 1300],
    changes: [['amount', { amount: 200 }, 20002]],
  },
  { of: 'rollback', before: [bet, settled], message: (p) => p.rollback('b1', 0, 250), balances: [1150, 900] },
];

/** The stake of an extra bet that changes the balance, so that the repeated first answer differs from a new answer. */
const MOVED_ON = 7;

function repeat({ of, before, message, balances }: Effect): Case {
  return named('repeats', `${of}: first answer again, at once and after others`, (p) => {
    const earlier = before.map((step) => step(p));
    const repeated = message(p);
    const now = balances[1] - MOVED_ON;
    return [
      ...earlier,
      [repeated, balances],
      [repeated, balances],
      [p.bet('other', MOVED_ON, { roundId: 'r9' }), [balances[1], now]],
      [repeated, balances],
      [p.balance(), [now]],
    ];
  });
}

/** Leaves out adjustBets, because a repeated adjustment is recognized by its request id. */
const ANEW = EFFECTS.filter(({ of }) => of !== 'adjustBets');

function anew({ of, before, message, balances }: Effect): Case {
  return named('repeats', `${of}: first answer again as a new request`, (p) => {
    const earlier = before.map((step) => step(p));
    const first = message(p);
    const now = balances[1] - MOVED_ON;
    return [
      ...earlier,
      [first, balances],
      [p.bet('other', MOVED_ON, { roundId: 'r9' }), [balances[1], now]],
      [p.anew(first), balances],
      [p.balance(), [now]],
    ];
  });
}

function changed({ of, before, message, balances, changes = [] }: Effect): Case[] {
  return changes.map(([what, change, code]) =>
    named('changed', `${of} with another ${what}`, (p) => {
      const earlier = before.map((step) => step(p));
      const first = message(p);
      return [
        ...earlier,
        [first, balances],
        [but(first, change), code],
        [first, balances],
        [p.balance(), [balances[1]]],
      ];
    }),
  );
}

function named(rule: RuleName, name: string, steps: Case['steps']): Case {
  return { rule, name, steps };
}

export const REPEATS: readonly Case[] = [
  ...EFFECTS.map(repeat),
  ...ANEW.map(anew),
  {
    rule: 'repeats',
    name: 'placeBets after its settle',
    steps: (p) => {
      const first = p.bet('b1', 100);
      return [
        [first, [1000, 900]],
        [p.settle('b1', 250), [900, 1150]],
        [first, [1000, 900]],
        [p.balance(), [1150]],
      ];
    },
  },
  {
    rule: 'repeats',
    name: 'placeBets after its adjustment',
    steps: (p) => {
      const first = p.bet('b1', 100);
      return [
        [first, [1000, 900]],
        [p.adjust('b1', 150), [900, 850]],
        [first, [1000, 900]],
        [p.anew(first), [1000, 900]],
        [p.balance(), [850]],
      ];
    },
  },
  {
    rule: 'repeats',
    name: 'adjustBets after the settle, and after the void',
    steps: (p) => {
      const adjustment = p.adjust('b1', 150);
      return [
        [p.bet('b1', 100), [1000, 900]],
        [adjustment, [900, 850]],
        [p.settle('b1', 250), [850, 1100]],
        [adjustment, [900, 850]],
        [p.void('b1', 150, 250), [1100, 1000]],
        [adjustment, [900, 850]],
        [p.balance(), [1000]],
      ];
    },
  },
  {
    rule: 'repeats',
    name: 'cancelBets with the other status, and cancelTips of the same bet',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.cancel('b1', 100), [900, 1000]],
      [p.bet('b2', 50), [1000, 950]],
      [p.cancel('b1', 100, { status: 'REJECT' }), [900, 1000]],
      [p.cancelTip('b1', 100), [900, 1000]],
      [p.balance(), [950]],
    ],
  },
  ...EFFECTS.flatMap(changed),
  {
    rule: 'names',
    name: 'the same id of another product is another bet',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [ofOtherProduct(p.bet('b1', 60)), [900, 840]],
      [p.cancel('b1', 100), [840, 940]],
      [p.balance(), [940]],
    ],
  },
  {
    rule: 'names',
    name: 'ids that differ in upper and lower case alone are two',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('B1', 100), [900, 800]],
      [p.settle('B1', 250), [800, 1050]],
      [p.cancel('b1', 100), [1050, 1150]],
    ],
  },
  {
    rule: 'names',
    name: 'a round of another product is another round',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [ofOtherProduct(p.bet('b2', 60)), [900, 840]],
      [p.settleRound('s1', 250), [840, 1090]],
      [ofOtherProduct(p.cancel('b2', 60)), [1090, 1150]],
    ],
  },
  {
    rule: 'names',
    name: 'a round is cancelled, and ends, for its own product',
    steps: (p) => {
      const late = ofOtherProduct(p.bet('b1', 100));
      return [
        [p.cancel('c1', 100, BY_ROUND), 20001],
        [late, [1000, 900]],
        [p.settle('b1', 150), 20001],
        [ofOtherProduct(p.settle('b1', 150, { isEndRound: true })), [900, 1050]],
        [p.bet('b2', 100), [1050, 950]],
        [p.settleRound('s1', 30), [950, 980]],
        [p.settleRound('s2', 20), [980, 1000]],
      ];
    },
  },
  {
    rule: 'names',
    name: 'settles of two rounds may bear one id',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 100, { roundId: 'r2' }), [900, 800]],
      [p.settleRound('s1', 150), [800, 950]],
      [p.settleRound('s1', 150, { roundId: 'r2' }), [950, 1100]],
      [p.balance(), [1100]],
    ],
  },
  {
    rule: 'names',
    name: 'cancels of two rounds may bear one id, and the void of one of them, too',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.bet('b2', 50, { roundId: 'r2' }), [900, 850]],
      [p.cancel('x1', 100, BY_ROUND), [850, 950]],
      [p.cancel('x1', 50, { roundId: 'r2', ...BY_ROUND }), [950, 1000]],
      [p.bet('b3', 100), [1000, 900]],
      [p.settle('b3', 250), [900, 1150]],
      [p.void('x1', 100, 250, BY_ROUND), [1150, 1000]],
      [p.balance(), [1000]],
    ],
  },
  {
    rule: 'names',
    name: 'rewards of two products may bear one id',
    steps: (p) => [
      [p.reward('w1', 500), [1000, 1500]],
      [ofOtherProduct(p.void('w1', 0, 500)), 20001],
      [ofOtherProduct(p.reward('w1', 500)), [1500, 2000]],
      [p.balance(), [2000]],
    ],
  },
  {
    rule: 'names',
    name: 'movements of two products may bear one refId',
    steps: (p) => [
      [p.move('m1', 'DEBIT', 300), [1000, 700]],
      [ofOtherProduct(p.move('m1', 'DEBIT', 300)), [700, 400]],
      [p.balance(), [400]],
    ],
  },
  {
    rule: 'names',
    name: 'a movement, a reward and a bet may bear one id',
    steps: (p) => [
      [p.bet('x1', 100), [1000, 900]],
      [p.reward('x1', 30), [900, 930]],
      [p.move('x1', 'DEBIT', 10), [930, 920]],
      [p.settle('x1', 5), [920, 925]],
    ],
  },
];

function ofOtherProduct(message: Message): Message {
  return { ...message, envelope: { productId: 'SIMULATION-2' } };
}
