import type { Lsn } from '../../ports/lsn.js';
import type { Units } from '../../wallet/amount.js';
import type { CallbackApplied, Change, Event, OperatorEvent } from '../../wallet/event.js';
import type { OperationType, Operator } from '../../wallet/state/operation.js';
import type { TransactionKind } from '../../wallet/state/transaction-kind.js';
import { changeKind, type EventAddress, eventKind } from '../event-kinds.js';

/**
 * One item in the history of a wallet: a plain event, one change of a callback, or an effect that a snapshot remembers.
 */
export interface HistoryItem {
  readonly shard: number;
  readonly username: string;
  /** Undefined if the item is known only from a snapshot. */
  readonly lsn: Lsn | undefined;
  /** The index of the event within its entry. */
  readonly index: number | undefined;
  /** The time in ms by the shard's clock; undefined if a snapshot does not contain it. */
  readonly timeMs: number | undefined;
  /** The version of the wallet after the event. */
  readonly version: number | undefined;
  /** Type of the event or change; for an item from a snapshot, the kind of message. */
  readonly type: string;
  /** The kind of the transaction, which is known only from snapshots. */
  readonly kind: TransactionKind | undefined;
  readonly requestId: string | undefined;
  readonly productId: string | undefined;
  readonly roundId: string | undefined;
  readonly id: string | undefined;
  /** The amount of the message: a stake, a payout or a movement. */
  readonly amount: Units | undefined;
  /** Balances before and after the item; undefined if they are unknown because no money moved. */
  readonly before: Units | undefined;
  readonly after: Units | undefined;
  /** The player's currency, if the item is the creation of the player. */
  readonly currency: string | undefined;
  /** The stake, if the item has one in addition to `amount`. */
  readonly stake: Units | undefined;
  /** Other transactions that the item settled, cancelled or voided, or from which it took money back. */
  readonly others: readonly string[];
  /** Human-readable notes. */
  readonly remarks: readonly string[];
  /** The operator who caused the item; undefined for the platform, or if the operator was not recorded. */
  readonly by: Operator | undefined;
  /** The reason that an operator gave for a correction. */
  readonly reason: string | undefined;
}

/** Types of operator events in the log, by the name of the operation in a snapshot. */
const LOGGED_AS: Readonly<Record<OperationType, OperatorEvent['type']>> = {
  create: 'player-created',
  import: 'player-imported',
  deposit: 'deposited',
  withdrawal: 'withdrawn',
  correction: 'corrected',
  block: 'player-blocked',
  unblock: 'player-unblocked',
  request: 'money-requested',
  refusal: 'request-closed',
  expiry: 'request-closed',
};

const OPERATIONS: ReadonlySet<string> = new Set([...Object.keys(LOGGED_AS), ...Object.values(LOGGED_AS)]);

/** True for an operator action, even if the operator was not recorded. */
export function isOperation({ type }: HistoryItem): boolean {
  return OPERATIONS.has(type);
}

/** Types of credits in the log, by transaction kind and message kind in a snapshot. */
const CREDITS_LOGGED_AS: Readonly<Record<string, Change['type']>> = {
  'credit settle': 'balance-credited',
  'reward settle': 'reward-credited',
  'reward void': 'reward-voided',
};

const CORRECTED_CREDITS: ReadonlySet<string> = new Set([...Object.values(CREDITS_LOGGED_AS), 'corrected']);

/**
 * Returns the log's type for an item that may come from a snapshot. The two differ for operations and for credits
 * without a bet.
 */
export function typeInLog({ type, kind }: HistoryItem): string {
  return LOGGED_AS[type as OperationType] ?? CREDITS_LOGGED_AS[`${kind} ${type}`] ?? type;
}

/** True for a credit without a bet, and for a void or correction that can reverse such a credit. */
export function isCorrectedCredit(item: HistoryItem): boolean {
  return CORRECTED_CREDITS.has(typeInLog(item));
}

/** Finds the round of a transaction if a change names the transaction only by its id. */
export type FindRound = (username: string, productId: string, id: string) => string | undefined;

const NOTHING = {
  kind: undefined,
  requestId: undefined,
  productId: undefined,
  roundId: undefined,
  id: undefined,
  amount: undefined,
  before: undefined,
  after: undefined,
  currency: undefined,
  stake: undefined,
  others: [],
  remarks: [],
  by: undefined,
  reason: undefined,
};

/** Creates an item from the known fields. All other fields are undefined or empty. */
export function historyItem(
  known: Partial<HistoryItem> & Pick<HistoryItem, 'shard' | 'username' | 'type'>,
): HistoryItem {
  return { lsn: undefined, index: undefined, timeMs: undefined, version: undefined, ...NOTHING, ...known };
}

/** Converts an event to items: one for each change of a callback, or one for any other event. */
export function itemsOf(event: Event, address: EventAddress, findRound: FindRound): HistoryItem[] {
  const { username, version, timeMs, type } = event;
  const base = { ...address, username, version, timeMs };
  if (type === 'callback-applied') return changesOf(event, base, findRound);
  return [historyItem({ ...base, type, ...eventKind(event).item(event) })];
}

type Base = EventAddress & Pick<Event, 'username' | 'version' | 'timeMs'>;

function changesOf(event: CallbackApplied, base: Base, findRound: FindRound): HistoryItem[] {
  const { requestId, productId } = event;
  let { before } = event;
  return event.changes.map((change) => {
    const { type, after } = change;
    const id = 'id' in change ? change.id : undefined;
    const roundId = 'roundId' in change ? change.roundId : findRound(base.username, productId, change.id);
    const details = changeKind(change).item(change);
    const one = historyItem({ ...base, type, requestId, productId, id, roundId, before, after, ...details });
    before = after;
    return one;
  });
}
