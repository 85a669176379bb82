import type { Units } from '../amount.js';
import {
  movedBy,
  type OperationFacts,
  type OperationType,
  type Operator,
  type RequestTerms,
} from '../state/operation.js';
import type { Wallet } from '../state/wallet.js';

export interface OperationView {
  readonly type: OperationType;
  /** Present only if the operation moves money, like the next three fields. */
  readonly id: string | undefined;
  readonly amount: Units | undefined;
  readonly before: Units | undefined;
  readonly after: Units | undefined;
  readonly timeMs: number;
  readonly by: Operator | undefined;
  readonly reason: string | undefined;
  /** The second operator, who approved or refused the request; absent if there is none. */
  readonly approver?: Operator;
  /** Terms of a request that waits for a second operator. */
  readonly request?: RequestTerms;
}

/**
 * A position in one wallet's list: the time of the last item shown, and the number of items shown that have this time.
 */
export interface OperationCursor {
  readonly timeMs: number;
  readonly shown: number;
}

export interface OperationPage {
  readonly currency: string;
  readonly items: readonly OperationView[];
  readonly next: OperationCursor | undefined;
}

/** Operator actions on the player, newest first, limited to those that the wallet still remembers. */
export function listOperations(wallet: Wallet, limit: number, after: OperationCursor | undefined): OperationPage {
  const { currency } = wallet;
  const items: OperationView[] = [];
  let next: OperationCursor | undefined;
  let place: OperationCursor = { timeMs: Number.POSITIVE_INFINITY, shown: 0 };
  for (const operation of wallet.allOperations()) {
    const { timeMs } = operation;
    place = { timeMs, shown: timeMs === place.timeMs ? place.shown + 1 : 1 };
    if (after !== undefined && !isBeyond(place, after)) continue;
    if (items.length === limit) return { currency, items, next };
    items.push(viewOf(operation));
    next = place;
  }
  return { currency, items, next: undefined };
}

function isBeyond(place: OperationCursor, after: OperationCursor): boolean {
  return place.timeMs < after.timeMs || (place.timeMs === after.timeMs && place.shown > after.shown);
}

export function viewOf(operation: OperationFacts): OperationView {
  const { type, id, amount, after, timeMs, by, reason, approver, request } = operation;
  if (id === '') {
    const nothing = { id: undefined, amount: undefined, before: undefined, after: undefined };
    return { type, ...nothing, timeMs, by, reason };
  }
  const view = { type, id, amount, before: after - movedBy(operation), after, timeMs, by, reason };
  return { ...view, ...(approver && { approver }), ...(request && { request }) };
}
