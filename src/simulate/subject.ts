import { type Case, messagesOf, type Step } from './case.js';
import type { Endpoint, Message } from './message.js';
import { Platform } from './platform.js';
import type { RuleName } from './rules.js';

/** Endpoints of the rules that are about the messages of an endpoint. */
const ENDPOINTS_OF: Partial<Record<RuleName, readonly Endpoint[]>> = {
  balance: ['checkBalance'],
  stake: ['placeBets'],
  payout: ['settleBets'],
  adjust: ['adjustBets'],
  void: ['voidSettled'],
  cancel: ['cancelBets'],
  tips: ['placeTips', 'cancelTips'],
  rewards: ['winRewards'],
  movements: ['adjustBalance'],
  rollback: ['rollback'],
};

/**
 * The index of the first step that shows the rule of a case. The steps before it are its set-up: a case that fails
 * there says nothing about its rule.
 */
export function subjectAt({ rule, steps }: Pick<Case, 'rule' | 'steps'>): number {
  const planned = steps(new Platform());
  const isSubject = subjectOf(rule, planned);
  const at = isSubject === undefined ? 0 : planned.findIndex(isSubject);
  return at < 0 ? planned.findLastIndex((step) => !messagesOf(step).every(isBalance)) : at;
}

/** True if a message to this endpoint can show the rule. */
export function isAbout(rule: RuleName, endpoint: Endpoint): boolean {
  return ENDPOINTS_OF[rule]?.includes(endpoint) ?? true;
}

/** Returns undefined for rules that every message of their cases shows. */
function subjectOf(rule: RuleName, planned: readonly Step[]): ((step: Step) => boolean) | undefined {
  const endpoints = ENDPOINTS_OF[rule];
  if (endpoints !== undefined) return has(({ endpoint }) => endpoints.includes(endpoint));
  switch (rule) {
    case 'exact':
    case 'late':
    case 'names':
      return undefined;
    case 'atOnce':
    case 'cut':
      return ([what]) => 'how' in what;
    case 'signature':
      return has(({ signature }) => signature !== undefined);
    case 'waiting':
      return has(hasElement('status', 'WAITING'));
    case 'skip':
      return has(hasElement('skipBalanceUpdate', true));
    case 'byRound':
      return has(hasElement('transactionType', 'BY_ROUND'));
    case 'singleState':
      return has(hasElement('isSingleState', true));
    case 'arrays':
      return has(({ txns }) => txns.length > 1);
    case 'repeats':
    case 'oldMessages':
    case 'changed':
      return repeats(planned);
    default:
      // The first refusal, if there is one, and else the last message.
      return ([, expected]) => typeof expected === 'number';
  }
}

function has(isOne: (message: Message) => boolean): (step: Step) => boolean {
  return (step) => messagesOf(step).some(isOne);
}

function hasElement(field: string, value: unknown): (message: Message) => boolean {
  return ({ txns }) => txns.some((txn) => txn[field] === value);
}

/** Steps with an id that an earlier step has sent to the same endpoint. */
function repeats(planned: readonly Step[]): (step: Step) => boolean {
  const keysOf = (step: Step) =>
    messagesOf(step).flatMap(({ endpoint, txns }) => txns.map((txn) => `${endpoint} ${txn.id ?? txn.refId}`));
  return (step) => {
    const earlier = new Set(planned.slice(0, planned.indexOf(step)).flatMap(keysOf));
    return keysOf(step).some((key) => earlier.has(key));
  };
}

function isBalance({ endpoint }: Message): boolean {
  return endpoint === 'checkBalance';
}
