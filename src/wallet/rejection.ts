/**
 * Every failure that a caller of a callback can meet: decisions.md section 1 as a table.
 *
 * rejected = final: the player's normal day, decided by the domain, HTTP 200.
 * invalid  = the request itself is wrong, decided before any shard sees it.
 * busy     = not now, safe to repeat: overload, a start, a store that does not answer, a fault of ours.
 */
const rejected = {
  'user-not-found': [10001, 200, 'no player has this username'],
  'insufficient-balance': [10002, 200, 'the balance does not cover the debit'],
  'transaction-not-found': [20001, 200, 'nothing is stored under this id or round'],
  'duplicate-transaction': [20002, 200, 'the id is taken by a transaction with other content'],
  'already-cancelled': [20003, 200, 'the transaction was cancelled or voided'],
  'already-settled': [20004, 200, 'the transaction is settled, or its round has ended'],
  'currency-mismatch': [40003, 200, "the currency is not the player's"],
  'player-blocked': [40003, 200, 'the player is blocked'],
  'product-refused': [40003, 200, 'the product is blocked or not listed'],
  'amount-out-of-range': [40003, 200, 'the balance would leave the range that is exact'],
  'limit-reached': [40003, 200, 'a limit on what one player, bet or round may hold is reached'],
} as const;

const invalid = {
  malformed: [40003, 400, 'the body is not a valid request of this endpoint'],
  'invalid-signature': [30002, 401, 'the signature is missing, wrong or stale'],
  'address-not-allowed': [40003, 403, 'callbacks may not come from this address'],
  'unknown-path': [40003, 404, 'there is no such endpoint'],
  'wrong-method': [40003, 405, 'callbacks are POST requests'],
  'body-too-large': [40003, 413, 'the body is larger than allowed'],
} as const;

const busy = {
  'tombstones-full': [50001, 503, 'the player has too many cancels of unknown transactions'],
  overloaded: [50001, 503, 'too many requests are waiting'],
  starting: [50001, 503, "the player's shard is recovering"],
  stopped: [50001, 503, "the player's shard is stopped"],
  'memory-full': [50001, 503, 'memory is nearly full: only what closes a transaction is accepted'],
  'not-durable-in-time': [50001, 503, 'the outcome is unknown: the answer was not durable before the deadline'],
  'shutting-down': [50001, 503, 'the server is shutting down'],
} as const;

export type Rejection = keyof typeof rejected;
export type Invalid = keyof typeof invalid;
export type Busy = keyof typeof busy;
export type Failure = Rejection | Invalid | Busy;

export interface FailureRow {
  readonly statusCode: number;
  readonly httpStatus: number;
  readonly sentence: string;
}

export const FAILURES = Object.fromEntries(
  Object.entries({ ...rejected, ...invalid, ...busy }).map(([name, [statusCode, httpStatus, sentence]]) => [
    name,
    { statusCode, httpStatus, sentence },
  ]),
) as Readonly<Record<Failure, FailureRow>>;
