import type { Failure, HandRejection } from '../wallet/rejection.js';

/** Failures of an invalid request. They are detected before the request reaches a shard. */
export type Invalid =
  | 'malformed'
  | 'invalid-signature'
  | 'address-not-allowed'
  | 'unknown-path'
  | 'wrong-method'
  | 'body-too-large';

export type CallbackFailure = Failure | Invalid;

export interface FailureRow {
  readonly statusCode: number;
  readonly httpStatus: number;
  readonly sentence: string;
}

const row = (statusCode: number, httpStatus: number, sentence: string): FailureRow => ({
  statusCode,
  httpStatus,
  sentence,
});

/** Failures of money movements by hand, which cannot occur in a callback. */
const HAND_FAILURES: Readonly<Record<HandRejection, FailureRow>> = {
  'approval-pending': row(40003, 200, 'the money waits until another operator approves'),
  'approval-closed': row(40003, 200, 'the request has been approved or refused, or has expired'),
  'approval-own': row(40003, 200, 'another operator has to approve the request'),
  'approval-not-found': row(40003, 200, 'no request for money has this id'),
  'approval-needed': row(
    40003,
    200,
    'an opening balance of that size needs an approval: import the player with 0, and deposit (money.byHand.approveAbove)',
  ),
  'approvals-full': row(
    40003,
    200,
    'too many requests wait for an approval: 1000 in a shard, 100 of one operator; wait until some are decided',
  ),
};

/** All failures that can occur in a callback: the table of docs/decisions.md section 1. */
export const CALLBACK_FAILURES: Readonly<Record<Exclude<CallbackFailure, HandRejection>, FailureRow>> = {
  'user-not-found': row(10001, 200, 'no player has this username'),
  'insufficient-balance': row(10002, 200, 'the balance does not cover the debit'),
  'transaction-not-found': row(20001, 200, 'no transaction or round has this id'),
  'duplicate-transaction': row(20002, 200, 'the id is taken by a transaction with other content'),
  'already-cancelled': row(20003, 200, 'the transaction was cancelled or voided'),
  'already-settled': row(20004, 200, 'the transaction is settled, or its round has ended'),
  'currency-mismatch': row(40003, 200, "the currency is not the player's"),
  'player-blocked': row(40003, 200, 'the player is blocked'),
  'product-refused': row(40003, 200, 'the product is blocked or not listed'),
  'invalid-token': row(30001, 200, "the token is not that of the player's session, or the session has ended"),
  'amount-out-of-range': row(
    40003,
    200,
    'the balance, or an amount needed for the decision, would leave the exact range',
  ),
  'limit-reached': row(40003, 200, 'a limit of the player, the bet, the round or a single credit is exceeded'),

  malformed: row(40003, 400, 'the body is not a valid request of this endpoint'),
  'invalid-signature': row(30002, 401, 'the signature is missing, wrong or stale'),
  'address-not-allowed': row(40003, 403, 'callbacks may not come from this address'),
  'unknown-path': row(40003, 404, 'there is no such endpoint'),
  'wrong-method': row(40003, 405, 'callbacks are POST requests'),
  'body-too-large': row(40003, 413, 'the body is larger than allowed'),

  'tombstones-full': row(50001, 503, 'the player has too many cancels of unknown transactions'),
  overloaded: row(50001, 503, 'too many requests are waiting'),
  starting: row(50001, 503, "the player's shard is recovering"),
  stopped: row(50001, 503, "the player's shard is stopped"),
  'memory-full': row(50001, 503, 'memory is nearly full: only messages that close a transaction are accepted'),
  'not-durable-in-time': row(50001, 503, 'the outcome is unknown: the answer was not durable before the deadline'),
  'archive-damaged': row(50001, 503, 'the archived round is damaged'),
  'shutting-down': row(50001, 503, 'the server is shutting down'),
  upgrading: row(50001, 503, 'a node of the cluster runs a release that does not support this request'),
  moved: row(50001, 503, "the player's shard is moving to another node"),
  unsure: row(50001, 503, "the outcome is unknown: the player's shard has moved to another node"),
};

export const FAILURES: Readonly<Record<CallbackFailure, FailureRow>> = { ...CALLBACK_FAILURES, ...HAND_FAILURES };

/**
 * Status codes for closed transactions: 20003 and 20004 or, for platforms that do not know these codes, the code for
 * duplicates.
 */
export type ClosedCodes = 'own' | 'duplicate';

/** Status codes that walletd sends to the platform. */
export type StatusCodes = Readonly<Record<CallbackFailure, number>>;

export function statusCodesOf(closed: ClosedCodes): StatusCodes {
  const own = Object.fromEntries(Object.entries(FAILURES).map(([name, { statusCode }]) => [name, statusCode]));
  const duplicate = FAILURES['duplicate-transaction'].statusCode;
  const others = closed === 'own' ? {} : { 'already-cancelled': duplicate, 'already-settled': duplicate };
  return { ...(own as StatusCodes), ...others };
}
