import type { StatedResult } from '../judge.js';
import type { Element, Endpoint } from '../message.js';
import { unitsOf } from '../model/callback-of.js';
import type { Deviation, Sent } from '../play.js';
import { codeName } from '../rules.js';
import type { Heading } from './heading.js';
import { OwnLedger, type Reason } from './own-ledger.js';

/** The heading and the cause of a wrong answer. */
export interface Diagnosis {
  readonly heading: Heading;
  /** The same text for all wrong answers with this cause. */
  readonly cause: string;
  /** The cause as a sentence, without a period. */
  readonly says: string;
  /** Units by which the balance is too high, so that the operator loses them. Negative if the player loses. */
  readonly excess?: number;
}

const INSUFFICIENT = 10002;
const DUPLICATE = 20002;
/** Codes of messages about a closed bet. An operator may give all of them the code of a duplicate. */
const CLOSED = [20003, 20004];

/** How an accepted message moves an amount other than the right one. */
type Kind = 'of the request' | 'payout' | 'nothing' | 'unasked' | 'opposite' | 'too much' | 'too little';

const AMOUNT_SAYS: Readonly<Record<Kind, (endpoint: string) => string>> = {
  'of the request': (endpoint) =>
    endpoint === 'settleBets'
      ? 'settleBets pays the payout minus the betAmount of its request'
      : `${endpoint} moves the amounts of its request, and not those that were taken and paid`,
  payout: (endpoint) => `${endpoint} adds the payout of its request to the balance, and moves nothing else`,
  nothing: (endpoint) => `${endpoint} is accepted and moves nothing`,
  unasked: (endpoint) => `${endpoint} moves money where it must move none`,
  opposite: (endpoint) => `${endpoint} moves money the wrong way`,
  'too much': (endpoint) => `${endpoint} moves more money than it must`,
  'too little': (endpoint) => `${endpoint} moves less money than it must`,
};

/**
 * For an operator that trusts the request: whether it adds (1), subtracts (-1) or ignores (0) each amount of the
 * request.
 */
const SIGNS_OF_REQUEST: Partial<Record<Endpoint, { readonly bet: number; readonly payout: number }>> = {
  settleBets: { bet: -1, payout: 1 },
  voidSettled: { bet: 1, payout: -1 },
  cancelBets: { bet: 1, payout: 0 },
  cancelTips: { bet: 1, payout: 0 },
};

/** Sentences about a move that the operator's own answers do not justify. */
const UNJUSTIFIED: Readonly<Record<Reason, (endpoint: string) => string>> = {
  negative: (endpoint) => `${endpoint} with a negative amount is accepted, and moves money the wrong way`,
  unknown: (endpoint) => `${endpoint} moves money for a bet or a tip that was never accepted`,
  settled: (endpoint) => `${endpoint} returns the stake of a bet that was settled before`,
  moved: (endpoint) => `${endpoint} moves money once more for what an earlier request had moved`,
  amount: (endpoint) => `${endpoint} moves another amount than the requests that the operator has accepted say`,
};

/** Finds the cause of a wrong answer, which is the last of a history. */
export function diagnose(deviation: Deviation, decimals: number): Diagnosis {
  const { history, unreadable } = deviation;
  const last = history.at(-1);
  if (unreadable !== undefined) return shape(unreadable);
  if (last === undefined) throw new Error('a deviation without a history');
  return (
    findNoBalance(deviation, last) ??
    findInexact(last, decimals) ??
    findMoney(deviation, last, decimals) ??
    otherwise(deviation, last)
  );
}

/** A fault in the fields of an answer. */
export function shape(says: string): Diagnosis {
  return { heading: 'interface', cause: `shape: ${says}`, says };
}

/** Finds an accepted message after which the balance is not a number. */
function findNoBalance({ balances }: Deviation, { endpoint, stated, reply }: Sent): Diagnosis | undefined {
  const field = endpoint === 'checkBalance' ? 'balance' : 'balanceAfter';
  const isNone = stated?.code === 0 && stated.after === undefined && balances.now === undefined;
  if (!isNone || !(field in (reply?.fields ?? {}))) return undefined;
  return {
    heading: 'money',
    cause: `no number: ${endpoint}`,
    says: `${endpoint} is accepted, and the balance is no number afterwards`,
  };
}

/** Finds a balance that cannot be an amount of money. */
function findInexact({ endpoint, stated, reply }: Sent, decimals: number): Diagnosis | undefined {
  if (stated?.code !== 0 || !(Number.isNaN(stated.before) || Number.isNaN(stated.after))) return undefined;
  const fields = endpoint === 'checkBalance' ? ['balance'] : ['balanceBefore', 'balanceAfter'];
  const values = fields.map((field) => Number(reply?.fields[field]));
  const isNoise = values.every((value) => Math.abs(value - Number(value.toFixed(decimals))) < 10 ** -(decimals + 2));
  const says = isNoise
    ? 'balances are sums of floating-point numbers, and no longer exact'
    : `balances have more than ${decimals} decimals`;
  return { heading: 'money', cause: isNoise ? 'floats' : 'decimals', says };
}

/** Finds a balance that does not follow the operator's own answers. */
function findMoney(deviation: Deviation, last: Sent, decimals: number): Diagnosis | undefined {
  const { balances, history, expected, player } = deviation;
  const { endpoint, stated } = last;
  const { username, currency } = requestOf(last);
  const now = balances.now ?? stated?.after;
  const before = balances.before.find((units) => units === stated?.before) ?? balances.before[0];
  if (now === undefined || before === undefined || username !== player.username) return undefined;
  if (balances.after.includes(now) || balances.inOrder?.includes(now)) return undefined;
  const right = balances.after[0] ?? balances.inOrder?.[0] ?? before;
  const money = (cause: string, says: string): Diagnosis => ({
    heading: 'money',
    cause: `${cause}: ${endpoint}`,
    says,
    excess: now - right,
  });
  if (last.how === 'at-once') return findConcurrentMoney(deviation, now, now - right, money);
  if (endpoint === 'checkBalance') return findDrift(deviation, now - right);
  const moved = now - before;
  if (stated?.code !== 0) {
    return moved === 0 ? undefined : money('refused', `${endpoint} is refused, and moves money nevertheless`);
  }
  const isAccepted = expected.some(({ code }) => code === 0);
  const hasDrifted = stated.before !== undefined && !balances.before.includes(stated.before);
  if (isAccepted && hasDrifted && now - stated.before === right - before) return findDrift(deviation, now - right);
  if (moved !== 0 && right === before && isRepeated(last, history)) {
    return money('again', `${endpoint} moves its money again when it is repeated`);
  }
  if (isAccepted) {
    const kind = kindOfRequest(last, moved, right - before, decimals) ?? kindOf(moved, right - before);
    return money(`amount, ${kind}`, AMOUNT_SAYS[kind](endpoint));
  }
  if (moved === 0) return undefined;
  if (last.signature !== undefined) {
    return money('unsigned', `${endpoint} moves money without a valid signature of the platform`);
  }
  if (currency !== player.currency) {
    return money('currency', `${endpoint} in another currency moves money in the player's currency`);
  }
  const isUncovered = expected.every(({ code }) => code === INSUFFICIENT) && now < 0;
  if (isUncovered) return uncovered(`${endpoint} takes more than the balance`);
  const { move, reason } = new OwnLedger(
    history.slice(0, -1).filter((one) => requestOf(one).username === username),
    decimals,
  ).justify(last);
  return move === moved ? undefined : money(reason, UNJUSTIFIED[reason](endpoint));
}

/** Diagnoses a balance that an earlier message has changed without showing it in its answer. */
function findDrift({ history, player }: Deviation, excess: number): Diagnosis {
  const at = history.slice(0, -1).findLastIndex(({ endpoint }) => endpoint !== 'checkBalance');
  const former = history[at];
  const drift = (cause: string, says: string): Diagnosis => ({ heading: 'money', cause, says, excess });
  if (former === undefined) return drift('opening', 'the balance is not the one that the player began with');
  const { endpoint, stated } = former;
  if (requestOf(former).username !== player.username) {
    const says = `${endpoint} for one player of a round moves the balance of another one`;
    return drift(`other player: ${endpoint}`, says);
  }
  if (stated === undefined) return drift('lost', 'after a lost answer, the balance is one that no outcome explains');
  if (stated.code !== 0) return drift(`refused: ${endpoint}`, `${endpoint} is refused, and moves money nevertheless`);
  if (isRepeated(former, history.slice(0, at + 1))) {
    return drift(`again: ${endpoint}`, `${endpoint} moves its money again when it is repeated`);
  }
  return drift('kept', 'the balance is not the one that the answer before stated');
}

/** Finds a fault of concurrent messages. `now` is the balance after them. */
function findConcurrentMoney(
  { history, balances }: Deviation,
  now: number,
  excess: number,
  money: (cause: string, says: string) => Diagnosis,
): Diagnosis | undefined {
  const sent = history.slice(history.findLastIndex(({ how }) => how !== 'at-once') + 1);
  const accepted = sent.filter(({ stated }) => stated?.code === 0);
  const moving = accepted.filter(({ stated }) => stated?.before !== stated?.after);
  const isBeyond = ({ stated }: Sent) => Math.sign(moveOf(stated)) === Math.sign(excess);
  const isTwice = moving.some((one, n) => isBeyond(one) && moving.findIndex(({ body }) => body === one.body) !== n);
  const endpoints = [...new Set(sent.map(({ endpoint }) => endpoint))].join(' and ');
  if (isTwice) return money('again at once', `${endpoints} sent several times at once moves its money more than once`);
  const sum = moving.reduce((total, { stated }) => total + moveOf(stated), 0);
  if (Number.isNaN(sum)) return money('wrong at once', `${endpoints} at once lead to the balance of no order`);
  const isSum = balances.before.some((before) => before + sum === now);
  if (!isSum) return money('lost at once', `${endpoints} at once: the balance is not the sum of the accepted messages`);
  return now < 0 ? uncovered(`${endpoints} at once take more than the balance`) : undefined;
}

/** The move according to an answer; NaN if the answer has no balances. */
function moveOf(stated: StatedResult | undefined): number {
  return (stated?.after ?? Number.NaN) - (stated?.before ?? Number.NaN);
}

/** No sum is known, because the operator loses only if the player does not pay. */
function uncovered(says: string): Diagnosis {
  return { heading: 'money', cause: says, says };
}

/** Diagnoses a wrong answer whose balance is right, or is explained by the operator's own decision. */
function otherwise({ expected, balances, history }: Deviation, last: Sent): Diagnosis {
  const { endpoint, stated } = last;
  const right = expected[0];
  const isAccepted = stated?.code === 0;
  const isRightlyAccepted = right?.code === 0;
  const decision = (says: string): Diagnosis => ({ heading: 'decision', cause: says, says });
  if (last.how === 'at-once') return concurrent(balances);
  if (stated?.code === DUPLICATE && CLOSED.includes(right?.code ?? 0)) {
    return decision(
      `a message about a closed bet is refused with ${codeName(DUPLICATE)}, where walletd says how it closed`,
    );
  }
  if (!isAccepted && !isRightlyAccepted && right !== undefined) {
    const codes = `${codeName(stated?.code ?? Number.NaN)} instead of ${codeName(right.code)}`;
    return { heading: 'interface', cause: `code: ${codes}`, says: `a refusal has the code ${codes}` };
  }
  if (isAccepted && isRightlyAccepted) return statedOtherwise(last, right, balances.after);
  const code = codeName((isAccepted ? right : stated)?.code ?? Number.NaN);
  if (isAccepted) return decision(`${endpoint} is accepted, where walletd refuses it with ${code}`);
  const isMove = balances.after.some((units) => !balances.before.includes(units));
  if (isMove || !isRepeated(last, history))
    return decision(`${endpoint} is refused with ${code}, where walletd accepts it`);
  return decision(`a repeated message is refused with ${code}, where walletd gives the first answer again`);
}

function statedOtherwise(last: Sent, right: StatedResult, after: readonly number[]): Diagnosis {
  const { endpoint, stated } = last;
  const isRepeat = right.after !== undefined && right.before !== right.after && stated?.before === stated?.after;
  if (isRepeat && after.includes(stated?.after ?? Number.NaN)) {
    const says = 'a repeated message is answered with the balance of now, and moves nothing';
    return { heading: 'decision', cause: says, says };
  }
  const field = stated?.after === right.after ? 'balanceBefore' : 'a balance';
  const says = `${endpoint} tells ${field} that the player did not have; the balance itself is right`;
  return { heading: 'interface', cause: `stated: ${endpoint} ${field}`, says };
}

/** The balance after concurrent messages is right, or unknown. */
function concurrent({ after, now }: Deviation['balances']): Diagnosis {
  if (now === undefined || after.includes(now)) {
    const says = `the answers to concurrent messages tell balances of no order; ${now === undefined ? 'the balance afterwards is not known' : 'the balance afterwards is right'}`;
    return { heading: 'interface', cause: 'order', says };
  }
  const says = 'concurrent messages are accepted and refused as in no order, and the balance follows the answers';
  return { heading: 'decision', cause: 'no order', says };
}

/** Finds a move by the amounts of the request, which an operator must not trust. */
function kindOfRequest(last: Sent, moved: number, right: number, decimals: number): Kind | undefined {
  const sign = SIGNS_OF_REQUEST[last.endpoint];
  if (sign === undefined || right === 0) return undefined;
  const { txns } = requestOf(last) as { readonly txns: readonly Element[] };
  const sum = (field: string) => txns.reduce((total, txn) => total + Number(txn[field] ?? 0), 0);
  const [bet, payout] = [sum('betAmount'), sum('payoutAmount')];
  if (moved === unitsOf(sign.bet * bet + sign.payout * payout, decimals)) return 'of the request';
  return last.endpoint === 'voidSettled' && moved === unitsOf(payout, decimals) ? 'payout' : undefined;
}

function kindOf(moved: number, right: number): Kind {
  if (moved === 0) return 'nothing';
  if (right === 0) return 'unasked';
  if (Math.sign(moved) !== Math.sign(right)) return 'opposite';
  return Math.abs(moved) > Math.abs(right) ? 'too much' : 'too little';
}

/** True if an earlier request of the history had the same content, and was accepted or got no answer. */
function isRepeated(last: Sent, history: readonly Sent[]): boolean {
  const content = contentOf(last);
  return history.slice(0, -1).some((one) => (one.stated?.code ?? 0) === 0 && contentOf(one) === content);
}

function contentOf(sent: Sent): string {
  const { productId, txns } = requestOf(sent);
  return JSON.stringify([sent.endpoint, productId, txns]);
}

function requestOf({ body }: Sent): Readonly<Record<string, unknown>> {
  return JSON.parse(body) as Record<string, unknown>;
}
