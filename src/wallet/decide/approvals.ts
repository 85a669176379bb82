import { must } from '../../base/assert.js';
import { isSafeBalance, type Units } from '../amount.js';
import type { OperationCommand } from '../command.js';
import type { Decision } from '../decision.js';
import type { Failure } from '../rejection.js';
import { kindOfRequest, type Operation, type Operator } from '../state/operation.js';
import type { Wallet } from '../state/wallet.js';
import { failed, repeatedOperation, unchanged } from './operator-answers.js';
import type { Rules } from './rules.js';

/**
 * Maximum number of pending requests per shard and per operator in a shard, so that one operator cannot use up the
 * shard's limit.
 */
export const PENDING_MAX = 1000;
export const PENDING_OF_OPERATOR_MAX = 100;

/**
 * A movement of money that an operator requests. A positive `amount` gives money to the player, a negative one takes
 * it.
 */
export interface Wish {
  readonly id: string;
  readonly amount: Units;
  /** Empty unless the movement is a correction. */
  readonly reason: string;
  readonly allowNegativeBalance: boolean;
  readonly by?: Operator | undefined;
}

export function needsApproval({ approvalAbove }: Rules, currency: string, amount: Units): boolean {
  const above = Object.hasOwn(approvalAbove, currency) ? approvalAbove[currency] : undefined;
  return above !== undefined && Math.abs(amount) > above;
}

/**
 * Records the movement as a request that waits for a second operator. The caller has already checked that the movement
 * is currently possible.
 */
export function decideRequest(wallet: Wallet, wish: Wish, rules: Rules, nowMs: number): Decision {
  const { all, own } = wallet.tables.pending.count(wish.by?.name, nowMs);
  if (all >= PENDING_MAX || own >= PENDING_OF_OPERATOR_MAX) return failed('approvals-full');
  const { username, version } = wallet;
  const expiresMs = nowMs + rules.approvalMs;
  const event = { type: 'money-requested', username, version: version + 1, timeMs: nowMs, ...wish, expiresMs } as const;
  return { answer: { type: 'failed', failure: 'approval-pending' }, event, remarks: [] };
}

/**
 * The answer if the id already belongs to a request, whether pending or decided. Undefined if the id belongs to an
 * operation of a different type.
 */
export function findRequestAnswer(known: Operation, wish: Wish, nowMs: number): Failure | undefined {
  if (known.type !== 'request' && known.type !== 'refusal' && known.type !== 'expiry') return undefined;
  const isSame = known.amount === wish.amount && (known.reason ?? '') === wish.reason;
  if (!isSame) return 'duplicate-transaction';
  return isOpen(known, nowMs) ? 'approval-pending' : 'approval-closed';
}

type Decide = Extract<OperationCommand, { type: 'approve-request' | 'refuse-request' }>;

/**
 * Decides an approval, which moves the money exactly once. The balance is checked now, not when the request was made.
 */
export function decideApproval(wallet: Wallet, { id, by }: Decide, nowMs: number): Decision {
  const known = wallet.operation(id);
  if (known === undefined) return failed('approval-not-found');
  if (known.type === 'refusal' || known.type === 'expiry') return failed('approval-closed');
  if (known.type !== 'request')
    return known.approver === undefined ? failed('approval-not-found') : repeatedOperation(known);
  if (!isOpen(known, nowMs)) return failed('approval-closed');
  if (by === undefined || known.by?.name === by.name) return failed('approval-own');
  const { amount, reason = '' } = known;
  const { allowNegativeBalance } = must(known.request, 'a request says when it expires');
  const before = wallet.balance;
  const after = before + amount;
  if (amount < 0 && after < 0 && !allowNegativeBalance) return failed('insufficient-balance');
  if (!isSafeBalance(after)) return failed('amount-out-of-range');
  const { username, version } = wallet;
  const stamp = { username, version: version + 1, timeMs: nowMs, id, before, after, by: known.by, approvedBy: by };
  const kind = kindOfRequest(known);
  const answer = { type: 'accepted', before, after, isRepeat: false } as const;
  if (kind === 'correction') return { answer, event: { type: 'corrected', ...stamp, amount, reason }, remarks: [] };
  const type = kind === 'deposit' ? 'deposited' : 'withdrawn';
  return { answer, event: { type, ...stamp, amount: Math.abs(amount) }, remarks: [] };
}

/** Closes a request without moving money. The operator who made the request may also withdraw it. */
export function decideRefusal(wallet: Wallet, { id, by }: Decide, nowMs: number): Decision {
  const known = wallet.operation(id);
  if (known?.type === 'refusal') return unchanged(wallet);
  if (known?.type === 'request' && isOpen(known, nowMs)) return closed(wallet, id, 'refused', nowMs, by);
  const wasRequest = known?.type === 'request' || known?.type === 'expiry' || known?.approver !== undefined;
  return failed(wasRequest ? 'approval-closed' : 'approval-not-found');
}

/** Sent by the shard: the request was not decided in time. */
export function decideExpiry(wallet: Wallet, id: string, nowMs: number): Decision {
  const known = wallet.operation(id);
  if (known?.type !== 'request' || isOpen(known, nowMs)) return unchanged(wallet);
  return closed(wallet, id, 'expired', nowMs);
}

function closed(wallet: Wallet, id: string, outcome: 'refused' | 'expired', nowMs: number, by?: Operator): Decision {
  const { username, version, balance } = wallet;
  return {
    answer: { type: 'accepted', before: balance, after: balance, isRepeat: false },
    event: { type: 'request-closed', username, version: version + 1, timeMs: nowMs, id, outcome, by },
    remarks: [],
  };
}

/** True until the request expires, by log time. */
function isOpen({ request }: Operation, nowMs: number): boolean {
  return request !== undefined && nowMs < request.expiresMs;
}
