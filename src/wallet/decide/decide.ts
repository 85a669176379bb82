import { unreachable } from '../../base/assert.js';
import type { Units } from '../amount.js';
import { applyChange } from '../apply.js';
import type {
  CallbackCommand,
  CancelBetsCommand,
  CancelTxn,
  CheckBalanceCommand,
  Command,
  VoidSettledCommand,
  VoidTxn,
} from '../command.js';
import type { Answer, Decision, Remark } from '../decision.js';
import type { CallbackApplied, Change, Event } from '../event.js';
import type { Failure } from '../rejection.js';
import { excerptOf } from '../state/excerpt.js';
import type { Transaction } from '../state/round.js';
import type { Wallet } from '../state/wallet.js';
import { decideMovement } from './adjust-balance.js';
import { decideAdjustBet } from './adjust-bets.js';
import { refusalOfToken } from './admission.js';
import { decideCancelBet } from './cancel-bets.js';
import { decideCancelTip } from './cancel-tips.js';
import { decideOperator } from './operator.js';
import { decidePlaceBet } from './place-bets.js';
import { decidePlaceTip } from './place-tips.js';
import { decideRollback } from './rollback.js';
import type { Rules } from './rules.js';
import { decideSettleBet } from './settle-bets.js';
import { fail, type Verdict } from './verdict.js';
import { decideVoidSettled } from './void-settled.js';
import { decideWinReward } from './win-rewards.js';

/**
 * Decides a command against the wallet of its player. Pure: reads no clock, changes nothing.
 * The order of checks is that of docs/decisions.md section 1: player, currency, repeat, blocked, state, round, balance.
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
      return decideOperator(wallet, command, nowMs);
  }
}

const NO_REMARKS: readonly Remark[] = [];
const REPEAT: readonly Remark[] = ['repeat'];

/** Told to whoever is blocked too, and of whatever product: a blocked player has bets that close. */
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
  if (command.txns.length > 1) return decideArray(wallet, command, rules, nowMs);

  const verdict = decideElement(wallet, command, 0, rules, nowMs, false);
  switch (verdict.type) {
    case 'change':
      return {
        answer: accepted(wallet.balance, verdict.change.after),
        event: callbackApplied(wallet, command, nowMs, [verdict.change]),
        remarks: verdict.remarks,
      };
    case 'repeat':
      return { answer: repeated(verdict.answer.before, verdict.answer.after), event: undefined, remarks: REPEAT };
    case 'fail': {
      const { failure, residue } = verdict;
      return failed(failure, residue && callbackApplied(wallet, command, nowMs, [residue]));
    }
    default:
      return unreachable(verdict);
  }
}

/**
 * An array is one operation: all of it applies or none of it. Each element is decided against a copy on which the ones
 * before it have been applied. Repeats are skipped; in cancelBets, which gives money back, so are unknown elements; and
 * so is a bet that its round has taken along, because platforms name a round beside its bets, and once per bet.
 */
function decideArray(wallet: Wallet, command: CallbackCommand, rules: Rules, nowMs: number): Decision {
  const draft = excerptOf(wallet, command);
  const changes: Change[] = [];
  const remarks: Remark[] = [];
  const repeats: Repeat[] = [];
  const closed = command.type === 'cancelBets' || command.type === 'voidSettled' ? new ClosedHere(command) : undefined;
  let idle = 0;
  const event = callbackApplied(wallet, command, nowMs, changes);
  for (let index = 0; index < command.txns.length; index++) {
    const verdict = decideElement(draft, command, index, rules, nowMs, closed?.hasBegun(index) ?? false);
    if (verdict.type === 'repeat') {
      idle++;
      if (!repeats.some((repeat) => isSameEffect(repeat, verdict))) repeats.push(verdict);
      closed?.addRepeat(index);
      continue;
    }
    if (verdict.type === 'change') {
      remarks.push(...verdict.remarks);
    } else if (isSkipped(command, verdict.failure) || closed?.tookAlong(draft, index, verdict.failure)) {
      idle++;
    } else {
      // What the failing element leaves behind stays, though all before it is undone.
      const residue = verdict.residue && { ...verdict.residue, after: wallet.balance };
      return failed(verdict.failure, residue && callbackApplied(wallet, command, nowMs, [residue]));
    }
    const made = verdict.type === 'change' ? verdict.change : verdict.residue;
    if (made === undefined) continue;
    // The end of a round binds what comes after this request, not its own other elements.
    applyChange(draft, event, 'endsRound' in made ? { ...made, endsRound: false } : made);
    changes.push(made);
    if (verdict.type === 'change') closed?.add(draft, index);
  }

  const maybeEvent = changes.length === 0 ? undefined : event;
  if (idle < command.txns.length) {
    return { answer: accepted(wallet.balance, draft.balance), event: maybeEvent, remarks };
  }
  if (repeats.length === 0) return failed('transaction-not-found', maybeEvent);
  const newest = Math.max(...repeats.map(({ answer }) => answer.version));
  const ofNewest = repeats.filter(({ answer }) => answer.version === newest);
  const { before } = (ofNewest[0] as Repeat).answer;
  const { after } = (ofNewest[ofNewest.length - 1] as Repeat).answer;
  return { answer: repeated(before, after), event: maybeEvent, remarks: REPEAT };
}

type Repeat = Extract<Verdict, { type: 'repeat' }>;

/** An array that names one thing twice had one effect on it. */
function isSameEffect(a: Repeat, b: Repeat): boolean {
  const isSameAnswer = a.answer.version === b.answer.version && a.answer.before === b.answer.before;
  return a.of === b.of && isSameAnswer && a.answer.after === b.answer.after;
}

/** The rounds that an array of cancels or voids has been at: as a whole, or in one of their bets. */
class ClosedHere {
  /** Something of them was closed here, and not before: an element that names one of them means the same. */
  private readonly begun = new Set<string>();
  /** Closed as a whole, here or when this array came first. */
  private readonly wholly = new Set<string>();

  constructor(private readonly command: CancelBetsCommand | VoidSettledCommand) {}

  hasBegun(index: number): boolean {
    return this.begun.has(this.txn(index).roundId);
  }

  add(draft: Wallet, index: number): void {
    const { id, roundId, byRound } = this.txn(index);
    if (byRound) this.wholly.add(roundId);
    // Tips and rewards are closed here, too, and are of no round.
    const bet = byRound ? undefined : this.bet(draft, id);
    if (byRound || bet?.kind === 'bet') this.begun.add(bet === undefined ? roundId : bet.round.id);
  }

  addRepeat(index: number): void {
    const { roundId, byRound } = this.txn(index);
    if (byRound) this.wholly.add(roundId);
  }

  /** True for a bet that was not closed by itself but with its round, as this array asked for. */
  tookAlong(draft: Wallet, index: number, failure: Failure): boolean {
    if (failure !== 'already-cancelled') return false;
    const { id, byRound } = this.txn(index);
    const bet = byRound ? undefined : this.bet(draft, id);
    if (bet?.kind !== 'bet' || !this.wholly.has(bet.round.id)) return false;
    return (bet.state === 'VOID') === (this.command.type === 'voidSettled');
  }

  private txn(index: number): CancelTxn | VoidTxn {
    return at<CancelTxn | VoidTxn>(this.command.txns, index);
  }

  private bet(draft: Wallet, id: string): Transaction | undefined {
    return draft.bet(this.command.productId, id);
  }
}

function isSkipped(command: CallbackCommand, failure: Failure): boolean {
  return command.type === 'cancelBets' && failure === 'transaction-not-found';
}

/** `hasBegun`: an earlier element of the same array has closed something of this one's round. */
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
      return decideRollback(wallet, command, at(command.txns, index), rules);
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
    changes,
  };
}

function accepted(before: Units, after: Units): Answer {
  return { type: 'accepted', before, after, isRepeat: false };
}

function repeated(before: Units, after: Units): Answer {
  return { type: 'accepted', before, after, isRepeat: true };
}

function failed(failure: Failure, event?: Event): Decision {
  return {
    answer: { type: 'failed', failure },
    event,
    remarks: event === undefined ? NO_REMARKS : ['tombstone'],
  };
}
