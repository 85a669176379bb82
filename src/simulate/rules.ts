/** A rule for operators: a sentence and its place in the specification. */
export interface Rule {
  readonly title: string;
  /** Document and section. `interface` is the platform's own document, and `decisions` is docs/decisions.md. */
  readonly place: string;
}

/** Rules, in report order. */
export const RULES = {
  served: { title: 'every endpoint is served', place: 'interface 4, decisions 8' },
  shape: { title: 'an answer has its fields, and those of its request', place: 'interface 2.9' },
  player: { title: 'only a known player, in his currency, can play', place: 'decisions 1' },
  invalid: { title: 'an invalid request is refused and moves nothing', place: 'decisions 1 and 2' },
  signature: { title: 'a request that is not signed by the platform is refused', place: 'decisions 6' },
  exact: { title: 'money is exact', place: 'decisions 2' },
  balance: { title: 'checkBalance tells the balance of now, and moves nothing', place: 'decisions 8' },
  stake: { title: 'a bet takes its stake when the balance covers it', place: 'interface 4.1' },
  waiting: { title: 'a WAITING bet takes its stake, its confirmation takes no second one', place: 'decisions 4' },
  skip: { title: 'what skips the balance moves nothing, and gives nothing back', place: 'interface 2.2, decisions 4' },
  payout: { title: 'a settle pays the one bet that it names', place: 'interface 2.8 and 4.2' },
  byRound: { title: 'a settle BY_ROUND closes all bets of the round and pays once', place: 'interface 2.8 and 4.2' },
  roundEnd: { title: 'a round that has ended pays no more', place: 'decisions 4' },
  singleState: { title: 'a single-state settle takes stake and pays in one', place: 'interface 1 and 4.2' },
  adjust: { title: 'an adjustment replaces the stake', place: 'interface 4.3' },
  void: { title: 'after a void the balance is what it was before the bet', place: 'interface 4.4' },
  cancel: { title: 'a cancel gives back what was taken', place: 'interface 4.5' },
  late: { title: 'what overtakes comes out right', place: 'decisions 4' },
  tips: { title: 'a tip is taken, and given back by its cancel', place: 'interface 4.6, decisions 8' },
  rewards: { title: 'a reward is paid once, and belongs to no bet', place: 'decisions 8' },
  movements: { title: 'a movement takes or gives its amount once', place: 'decisions 8' },
  rollback: { title: 'after a rollback it is as if the result had never been', place: 'decisions 8' },
  closed: { title: 'what is closed stays closed', place: 'interface 3, decisions 4' },
  repeats: { title: 'a repeat gets the first answer and moves nothing', place: 'decisions 3' },
  oldMessages: { title: 'an old message sent again moves nothing, whatever has happened since', place: 'decisions 3' },
  changed: { title: 'a known id with other content is refused', place: 'decisions 3' },
  names: { title: 'ids belong to their product and kind', place: 'decisions 3' },
  arrays: { title: 'an array applies as a whole or not at all', place: 'decisions 3' },
  atOnce: { title: 'messages at once come out as one after the other', place: 'decisions 7' },
  cut: { title: 'a request whose answer was lost can be sent again', place: 'decisions 7' },
  random: { title: 'random histories are answered as the model answers them', place: 'all of these' },
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

/** Human-readable name of a code. */
export function codeName(code: number): string {
  const name = CODES[code];
  return name === undefined ? `${code}` : `${code} ${name}`;
}
