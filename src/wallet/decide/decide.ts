import { must, unreachable } from '../../base/assert.js';
import type { Units } from '../amount.js';
import { applyChange } from '../apply.js';
import type { CallbackCommand, CheckBalanceCommand, Command } from '../command.js';
import type { Answer, Decision, Remark } from '../decision.js';
import type { CallbackApplied, Change, Event } from '../event.js';
import type { Failure } from '../rejection.js';
import type { RememberedMessage, Round } from '../state/round.js';
import type { Wallet } from '../state/wallet.js';
import { workingCopyOf } from '../state/working-copy.js';
import { decideMovement } from './adjust-balance.js';
import { decideAdjustBet } from './adjust-bets.js';
import { refusalOfToken } from './admission.js';
import { decideCancelBet } from './cancel-bets.js';
import { decideCancelTip } from './cancel-tips.js';
import { decideOperator } from './operator.js';
import { decidePlaceBet } from './place-bets.js';
import { decidePlaceTip } from './place-tips.js';
import { findRemembered, homeOf, isFull, isOfDistinctIds, namesReopened, rememberIn } from './remembered.js';
import { decideRollback } from './rollback.js';
import { RoundsOfArray } from './rounds-of-array.js';
import type { Rules } from './rules.js';
import { decideSettleBet } from './settle-bets.js';
import { fail, type Verdict } from './verdict.js';
import { decideVoidSettled } from './void-settled.js';
import { decideWinReward } from './win-rewards.js';

/**
 * Decides a command against its player's wallet. A pure function: it reads no clock and changes nothing. Checks follow
 * the order in docs/decisions.md section 1: player, currency, repeat, blocked, state, round, balance.
 */
export function decide(wallet: Wallet | undefined, command: Command, rules: Rules, nowMs: number): Decision {
  switch (command.type) {
    case 'placeBets':
    case 'settleBets':
    case 'adjustBets':
    case 'voidSettled':
    case 'cancelBets':
    case 'cancelTips':
    case 'placeTips':
    case 'winRewards':
    case 'adjustBalance':
    case 'rollback':
      return decideCallback(wallet, command, rules, nowMs);
    case 'checkBalance':
      return decideBalance(wallet, command, rules, nowMs);
    default:
      return decideOperator(wallet, command, rules, nowMs);
  }
}

const NO_REMARKS: readonly Remark[] = [];
const REPEAT: readonly Remark[] = ['repeat'];

/**
 * Decides a checkBalance. Blocked players and all products are accepted, because a blocked player may still have bets
 * to be closed.
 */
function decideBalance(
  wallet: Wallet | undefined,
  command: CheckBalanceCommand,
  rules: Rules,
  nowMs: number,
): Decision {
  if (wallet === undefined) return failed('user-not-found');
  if (wallet.currency !== command.currency) return failed('currency-mismatch');
  const refusal = refusalOfToken(wallet, command, rules, nowMs);
  if (refusal !== undefined) return failed(refusal);
  return { answer: accepted(wallet.balance, wallet.balance), event: undefined, remarks: NO_REMARKS };
}

function decideCallback(wallet: Wallet | undefined, command: CallbackCommand, rules: Rules, nowMs: number): Decision {
  if (wallet === undefined) return failed('user-not-found');
  if (wallet.currency !== command.currency) return failed('currency-mismatch');
  const isArray = command.txns.length > 1;
  const today = isArray ? decideArray(wallet, command, rules, nowMs) : decideSingle(wallet, command, rules, nowMs);
  const remembered = findRemembered(wallet, command, rules);
  if (remembered !== undefined) return decideAgain(wallet, command, rules, remembered, today.decision);
  return today.home === undefined ? today.decision : remember(wallet, command, rules, nowMs, today);
}

/** A decision that does not take remembered messages into account, and the round that must remember this message. */
interface Outcome {
  readonly decision: Decision;
  readonly home?: Round | undefined;
}

/**
 * Adds a repeat marker for the acknowledged message to its event. Refuses a message without an effect if the round
 * cannot remember any more messages.
 */
function remember(
  wallet: Wallet,
  command: CallbackCommand,
  rules: Rules,
  nowMs: number,
  { decision, home }: Outcome,
): Decision {
  const { answer, event, remarks } = decision;
  if (!rules.remembersMessages || home === undefined || answer.type === 'failed') return decision;
  const changes = event?.type === 'callback-applied' ? event.changes : [];
  // Look up the round in the wallet, because the working copy on which an array is decided contains no repeat markers.
  const round = wallet.round(command.productId, home.id);
  // Messages with an effect need no limit here, because the number of possible effects is limited.
  if (changes.length === 0 && round !== undefined && isFull(round, rules)) return failed('duplicate-transaction');
  const memory = rememberIn(home, command, rules, answer, changes.at(-1)?.after ?? wallet.balance);
  return { answer, event: callbackApplied(wallet, command, rules, nowMs, [...changes, memory]), remarks };
}

/**
 * Decides a message that was acknowledged before and must have no further effect. The last argument is the decision
 * that the message would get if it were new. If that decision is a refusal caused by later events (20002, 20003,
 * 20004), the message gets the same refusal.
 */
function decideAgain(
  wallet: Wallet,
  command: CallbackCommand,
  rules: Rules,
  { before, after }: RememberedMessage,
  { answer, event }: Decision,
): Decision {
  if (answer.type === 'failed' && STATES_THE_OUTCOME.has(answer.failure)) return failed(answer.failure);
  const isOutdated = event !== undefined && CLOSES.has(command.type) && namesReopened(wallet, command);
  if (isOutdated || rules.duplicates === 'reject') return failed('duplicate-transaction');
  return { answer: repeated(before, after), event: undefined, remarks: REPEAT };
}

const STATES_THE_OUTCOME: ReadonlySet<Failure> = new Set([
  'duplicate-transaction',
  'already-cancelled',
  'already-settled',
]);

/**
 * Endpoints whose effect a rollback undoes. If such a message were acknowledged again after a rollback, the platform
 * would wrongly assume that its effect still stands.
 */
const CLOSES: ReadonlySet<CallbackCommand['type']> = new Set(['settleBets', 'cancelBets', 'cancelTips']);

function decideSingle(wallet: Wallet, command: CallbackCommand, rules: Rules, nowMs: number): Outcome {
  const verdict = decideElement(wallet, command, 0, rules, nowMs, false);
  switch (verdict.type) {
    case 'change': {
      const answer = accepted(wallet.balance, verdict.change.after);
      const event = callbackApplied(wallet, command, rules, nowMs, [verdict.change]);
      return { decision: { answer, event, remarks: verdict.remarks } };
    }
    case 'repeat': {
      const { memory, home } = verdict;
      const answer = repeated(verdict.answer.before, verdict.answer.after);
      const event = memory && callbackApplied(wallet, command, rules, nowMs, [memory]);
      return { decision: { answer, event, remarks: REPEAT }, home };
    }
    case 'fail': {
      const { failure, residue } = verdict;
      return { decision: failed(failure, residue && callbackApplied(wallet, command, rules, nowMs, [residue])) };
    }
    default:
      return unreachable(verdict);
  }
}

/**
 * Decides an array as one operation, which is applied completely or not at all. Each element is decided against a
 * working copy to which the earlier elements have been applied. Repeats are skipped. In cancelBets, which only gives
 * money back, unknown ids are also skipped. A bet that was closed together with its round is skipped, because platforms
 * name a round together with its bets, or once for each bet.
 */
function decideArray(wallet: Wallet, command: CallbackCommand, rules: Rules, nowMs: number): Outcome {
  const working = workingCopyOf(wallet, command);
  const changes: Change[] = [];
  const remarks: Remark[] = [];
  const repeats: Repeat[] = [];
  const rounds = RoundsOfArray.of(command);
  let idle = 0;
  let effectCount = 0;
  let ownCount = 0;
  const event = callbackApplied(wallet, command, rules, nowMs, changes);
  for (let index = 0; index < command.txns.length; index++) {
    const verdict = decideElement(working, command, index, rules, nowMs, rounds?.hasBegun(index) ?? false);
    if (verdict.type === 'repeat') {
      idle++;
      if (verdict.home === undefined && verdict.memory === undefined) ownCount++;
      addOnce(repeats, verdict);
      rounds?.addRepeat(index);
    } else if (verdict.type === 'change') {
      effectCount++;
      remarks.push(...verdict.remarks);
    } else if (isSkipped(command, verdict.failure) || rounds?.closedWithRound(working, index, verdict.failure)) {
      idle++;
    } else {
      // The failing element's side effect (a tombstone) is kept; everything before it is rolled back.
      const residue = verdict.residue && { ...verdict.residue, after: wallet.balance };
      return {
        decision: failed(verdict.failure, residue && callbackApplied(wallet, command, rules, nowMs, [residue])),
      };
    }
    const made = madeBy(verdict);
    if (made === undefined) continue;
    if (verdict.type === 'change') rounds?.add(working, index);
    // The end of a round applies to later requests, not to the remaining elements of this one.
    applyChange(working, event, 'endsRound' in made ? { ...made, endsRound: false } : made);
    changes.push(made);
  }

  const eventOrNone = changes.length === 0 ? undefined : event;
  const isRepeat = idle === command.txns.length;
  if (isRepeat && repeats.length === 0) return { decision: failed('transaction-not-found', eventOrNone) };
  const answer = isRepeat ? answerOfRepeats(repeats) : accepted(wallet.balance, working.balance);
  const isKnownByEffects = Math.max(effectCount, ownCount) === command.txns.length && isOfDistinctIds(command);
  const home = isKnownByEffects ? undefined : must(homeOf(working, command), 'an acknowledged message names a round');
  return { decision: { answer, event: eventOrNone, remarks: isRepeat ? REPEAT : remarks }, home };
}

function answerOfRepeats(repeats: readonly Repeat[]): Accepted {
  const newest = Math.max(...repeats.map(({ answer }) => answer.version));
  const ofNewest = repeats.filter(({ answer }) => answer.version === newest);
  const { before } = (ofNewest[0] as Repeat).answer;
  const { after } = (ofNewest[ofNewest.length - 1] as Repeat).answer;
  return repeated(before, after);
}

type Repeat = Extract<Verdict, { type: 'repeat' }>;

/**
 * Adds a repeat unless an earlier element of the array repeats the same effect. In that case, the list keeps the
 * element that matches the original message exactly. If both or neither of them do, it keeps the earlier one.
 */
function addOnce(repeats: Repeat[], repeat: Repeat): void {
  const at = repeats.findIndex((one) => isSameEffect(one, repeat));
  if (at !== -1) {
    if (!repeats[at]?.answer.isOfAnother || repeat.answer.isOfAnother) return;
    repeats.splice(at, 1);
  }
  repeats.push(repeat);
}

function isSameEffect(a: Repeat, b: Repeat): boolean {
  const isSameAnswer = a.answer.version === b.answer.version && a.answer.before === b.answer.before;
  return a.of === b.of && isSameAnswer && a.answer.after === b.answer.after;
}

function madeBy(verdict: Verdict): Change | undefined {
  switch (verdict.type) {
    case 'change':
      return verdict.change;
    case 'repeat':
      return verdict.memory;
    case 'fail':
      return verdict.residue;
    default:
      return unreachable(verdict);
  }
}

function isSkipped(command: CallbackCommand, failure: Failure): boolean {
  return command.type === 'cancelBets' && failure === 'transaction-not-found';
}

/** `hasBegun` is true if an earlier element of the same array has closed or reopened a bet in this element's round. */
function decideElement(
  wallet: Wallet,
  command: CallbackCommand,
  index: number,
  rules: Rules,
  nowMs: number,
  hasBegun: boolean,
): Verdict {
  const verdict = decideByEndpoint(wallet, command, index, rules, nowMs, hasBegun);
  return verdict.type === 'repeat' && rules.duplicates === 'reject' ? fail('duplicate-transaction') : verdict;
}

function decideByEndpoint(
  wallet: Wallet,
  command: CallbackCommand,
  index: number,
  rules: Rules,
  nowMs: number,
  hasBegun: boolean,
): Verdict {
  switch (command.type) {
    case 'placeBets':
      return decidePlaceBet(wallet, command, at(command.txns, index), rules, nowMs);
    case 'settleBets':
      return decideSettleBet(wallet, command, at(command.txns, index), rules);
    case 'adjustBets':
      return decideAdjustBet(wallet, command, at(command.txns, index), rules);
    case 'voidSettled':
      return decideVoidSettled(wallet, command, at(command.txns, index), rules, hasBegun);
    case 'cancelBets':
      return decideCancelBet(wallet, command, at(command.txns, index), rules, hasBegun);
    case 'cancelTips':
      return decideCancelTip(wallet, command, at(command.txns, index), rules, nowMs);
    case 'placeTips':
      return decidePlaceTip(wallet, command, at(command.txns, index), rules, nowMs);
    case 'winRewards':
      return decideWinReward(wallet, command, at(command.txns, index));
    case 'adjustBalance':
      return decideMovement(wallet, command, at(command.txns, index), rules);
    case 'rollback':
      return decideRollback(wallet, command, at(command.txns, index), rules, hasBegun);
    default:
      return unreachable(command);
  }
}

function at<T>(items: readonly T[], index: number): T {
  return items[index] as T;
}

function callbackApplied(
  wallet: Wallet,
  command: CallbackCommand,
  rules: Rules,
  nowMs: number,
  changes: readonly Change[],
): CallbackApplied {
  return {
    type: 'callback-applied',
    username: wallet.username,
    version: wallet.version + 1,
    timeMs: nowMs,
    endpoint: command.type,
    requestId: command.id,
    productId: command.productId,
    timestampMillis: command.timestampMillis,
    before: wallet.balance,
    remembers: rules.remembersMessages,
    changes,
  };
}

type Accepted = Extract<Answer, { type: 'accepted' }>;

function accepted(before: Units, after: Units): Accepted {
  return { type: 'accepted', before, after, isRepeat: false };
}

function repeated(before: Units, after: Units): Accepted {
  return { type: 'accepted', before, after, isRepeat: true };
}

function failed(failure: Failure, event?: Event): Decision {
  return {
    answer: { type: 'failed', failure },
    event,
    remarks: event === undefined ? NO_REMARKS : ['tombstone'],
  };
}
