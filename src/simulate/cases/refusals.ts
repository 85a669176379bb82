import type { Case, Step } from '../case.js';
import type { Message, Signature } from '../message.js';
import { but, invalid, type Platform, without } from '../platform.js';

/** Case of a message that must be refused for any player in any state. */
function refused(rule: 'invalid' | 'player' | 'signature', name: string, make: (p: Platform) => Message): Case {
  return {
    rule,
    name,
    steps: (p): readonly Step[] => {
      const message = make(p);
      return [
        [message, message.refusal ?? 40003],
        [p.balance(), [1000]],
      ];
    },
  };
}

const wrong = (name: string, make: (p: Platform) => Message) => refused('invalid', name, (p) => invalid(make(p)));

const unsigned = (name: string, signature: Signature) =>
  refused('signature', name, (p) => ({ ...p.bet('b1', 100), signature, refusal: 30002 }));

export const REFUSALS: readonly Case[] = [
  refused('player', 'nobody can bet who is not known', (p) => stranger(p.bet('b1', 100))),
  refused('player', 'nobody can be paid who is not known', (p) => stranger(p.reward('w1', 100))),
  refused('player', 'the balance of nobody is told', (p) => stranger(p.balance())),
  refused('player', 'the balance in another currency is not told', (p) => foreign(p.balance())),
  refused('player', 'a bet in another currency is refused', (p) => foreign(p.bet('b1', 100))),
  refused('player', 'a reward in another currency is refused', (p) => foreign(p.reward('w1', 100))),

  wrong('a negative stake', (p) => p.bet('b1', -100)),
  wrong('a stake that is text', (p) => p.bet('b1', 0, { betAmount: '100' })),
  wrong('a stake that is missing', (p) => without(p.bet('b1', 100), 'betAmount')),
  wrong('a stake with more decimals than there are', (p) => p.bet('b1', 0.123456)),
  wrong('a stake beyond all bounds', (p) => p.bet('b1', 1e15)),
  wrong('a bet without an id', (p) => without(p.bet('b1', 100), 'id')),
  wrong('a bet with an empty id', (p) => p.bet('', 100)),
  wrong('a bet without a round', (p) => without(p.bet('b1', 100), 'roundId')),
  wrong('a bet without a status', (p) => without(p.bet('b1', 100), 'status')),
  wrong('a bet in a status that no bet has', (p) => p.bet('b1', 100, { status: 'SETTLED' })),
  wrong('no elements', (p) => ({ ...p.bet('b1', 100), txns: [] })),
  wrong('a negative tip', (p) => p.tip('t1', -50)),
  wrong('a negative payout of a single-state settle', (p) => p.single('b1', 0, -100)),
  wrong('a negative stake of a single-state settle', (p) => p.single('b1', -100, 0)),
  wrong('a negative reward', (p) => p.reward('w1', -500)),
  wrong('a negative debit', (p) => p.move('m1', 'DEBIT', -300)),
  wrong('a negative credit', (p) => p.move('m1', 'CREDIT', -300)),
  wrong('a movement that neither takes nor gives', (p) => but(p.move('m1', 'DEBIT', 300), { status: 'TRANSFER' })),
  {
    rule: 'invalid',
    name: 'a negative payout, or one that is text, leaves the bet as it is',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [invalid(p.settle('b1', -250)), 40003],
      [invalid(p.settle('b1', 0, { payoutAmount: '250' })), 40003],
      [invalid(but(p.adjust('b1', 0), { betAmount: -100 })), 40003],
      [invalid(p.cancel('b1', 100, { status: 'OPEN' })), 40003],
      [p.settle('b1', 250), [900, 1150]],
    ],
  },
  {
    rule: 'player',
    name: 'a settle in another currency pays nothing',
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [foreign(p.settle('b1', 250)), 40003],
      [p.balance(), [900]],
    ],
  },

  unsigned('a bet without a signature', 'missing'),
  unsigned('a bet that was changed on its way', 'wrong'),
  unsigned('a bet that was signed yesterday', 'old'),
];

function stranger(message: Message): Message {
  return { ...message, envelope: { username: 'simulation-nobody' }, refusal: 10001 };
}

/** Changes the currency to one that no operator has, because its code is reserved for tests. */
function foreign(message: Message): Message {
  return { ...message, envelope: { currency: 'XTS' }, refusal: 40003 };
}
