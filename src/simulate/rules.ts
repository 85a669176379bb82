/** A rule for operators: a sentence and its place in the specification. */
export interface Rule {
  /** A demand on the operator, which is true whether the operator fulfils it or not. */
  readonly title: string;
  /** Document and section. `interface` is the platform's own document, and `decisions` is docs/decisions.md. */
  readonly place: string;
  /** Question that an operator answers otherwise if it accepts or refuses other messages. */
  readonly question: string;
}

/** Rules, in report order. */
export const RULES = {
  served: {
    title: 'The operator must serve every endpoint',
    place: 'interface 4, decisions 8',
    question: 'Which endpoints does the operator serve?',
  },
  shape: {
    title: 'An answer must have its fields, and repeat those of its request',
    place: 'interface 2.9',
    question: 'Which fields does an answer have?',
  },
  player: {
    title: 'Only known players may play, and only in their own currency',
    place: 'decisions 1',
    question: 'Is a request accepted for an unknown player, or in another currency?',
  },
  invalid: {
    title: 'An invalid request must be refused, and move nothing',
    place: 'decisions 1 and 2',
    question: 'May an invalid request be accepted?',
  },
  signature: {
    title: 'A request without a valid signature must be refused',
    place: 'decisions 6',
    question: 'May a request without a valid signature be accepted?',
  },
  exact: {
    title: 'Sums of money must be exact',
    place: 'decisions 2',
    question: 'Which amounts are accepted?',
  },
  balance: {
    title: 'checkBalance must tell the present balance, and move nothing',
    place: 'decisions 8',
    question: 'When is checkBalance refused?',
  },
  stake: {
    title: 'A bet must take its stake if the balance covers it',
    place: 'interface 4.1',
    question: 'Which bets are accepted?',
  },
  waiting: {
    title: 'A WAITING bet must take its stake, and its confirmation no second one',
    place: 'decisions 4',
    question: 'How is a WAITING bet confirmed?',
  },
  skip: {
    title: 'A message that skips the balance must neither move nor return money',
    place: 'interface 2.2, decisions 4',
    question: 'Which messages may skip the balance?',
  },
  payout: {
    title: 'A settle must pay the one bet that it names',
    place: 'interface 2.8 and 4.2',
    question: 'Which bets may be settled?',
  },
  byRound: {
    title: 'A settle by round must close all its bets, and pay once',
    place: 'interface 2.8 and 4.2',
    question: 'When may a round be settled as a whole?',
  },
  roundEnd: {
    title: 'A round that has ended must pay no more',
    place: 'decisions 4',
    question: 'What may still happen in a round that has ended?',
  },
  singleState: {
    title: 'A single-state settle must take the stake and pay in one step',
    place: 'interface 1 and 4.2',
    question: 'When is a single-state settle accepted?',
  },
  adjust: {
    title: 'An adjustment must replace the stake',
    place: 'interface 4.3',
    question: 'Which bets may be adjusted, and to which stakes?',
  },
  void: {
    title: 'A void must restore the balance from before the bet',
    place: 'interface 4.4',
    question: 'Which bets may be voided?',
  },
  cancel: {
    title: 'A cancel must return what was taken',
    place: 'interface 4.5',
    question: 'Which bets may be refunded, for example after their settle?',
  },
  late: {
    title: 'Messages that arrive out of order must lead to the right balance',
    place: 'decisions 4',
    question: 'What follows when a message arrives before the one to which it refers?',
  },
  tips: {
    title: 'A tip must be taken, and returned by its cancel',
    place: 'interface 4.6, decisions 8',
    question: 'Which tips, and which of their cancels, are accepted?',
  },
  rewards: {
    title: 'A reward must be paid once, without any bet',
    place: 'decisions 8',
    question: 'Which rewards are accepted?',
  },
  movements: {
    title: 'A movement must take or give its amount once',
    place: 'decisions 8',
    question: 'Which movements are accepted?',
  },
  rollback: {
    title: 'A rollback must restore the state from before the result',
    place: 'decisions 8',
    question: 'Which results may be rolled back?',
  },
  closed: {
    title: 'A closed bet must stay closed',
    place: 'interface 3, decisions 4',
    question: 'May a settled, cancelled or voided bet change again, for example be refunded?',
  },
  repeats: {
    title: 'A repeat must get the first answer, and move nothing',
    place: 'decisions 3',
    question: 'How is a repeated message answered?',
  },
  oldMessages: {
    title: 'An old message that is sent again must move nothing',
    place: 'decisions 3',
    question: 'How is an old message answered that is sent again?',
  },
  changed: {
    title: 'A known id with other content must be refused',
    place: 'decisions 3',
    question: 'May a known id come with other content?',
  },
  names: {
    title: 'Ids must be separate for each product and each kind of message',
    place: 'decisions 3',
    question: 'May one id name several things?',
  },
  arrays: {
    title: 'An array must be applied as a whole, or not at all',
    place: 'decisions 3',
    question: 'What is applied of an array with an element that is refused?',
  },
  atOnce: {
    title: 'Concurrent messages must be carried out as if one after another',
    place: 'decisions 7',
    question: 'Which of several concurrent messages are accepted?',
  },
  cut: {
    title: 'A request whose answer was lost must be safe to send again',
    place: 'decisions 7',
    question: 'How is a request answered whose first answer was lost?',
  },
  random: {
    title: 'Random histories must be answered as the model answers them',
    place: 'all of these',
    question: 'Which messages are accepted?',
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleName = keyof typeof RULES;

export const RULE_NAMES = Object.keys(RULES) as RuleName[];

const CODES: Readonly<Record<number, string>> = {
  0: 'success',
  10001: 'user not found',
  10002: 'insufficient balance',
  20001: 'transaction not found',
  20002: 'duplicate transaction',
  20003: 'already cancelled',
  20004: 'already settled',
  30001: 'invalid token',
  30002: 'invalid signature',
  40003: 'forbidden request',
  50001: 'internal error',
};

/** The human-readable name of a code. */
export function codeName(code: number): string {
  const name = CODES[code];
  return name === undefined ? `${code}` : `${code} ${name}`;
}
