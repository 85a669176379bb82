import type { Lsn } from '../../shard/log/lsn.js';
import type { Units } from '../../wallet/amount.js';
import type { CallbackApplied, Change, Event, OperatorEvent } from '../../wallet/event.js';
import type { OperationType, Operator } from '../../wallet/state/operation.js';
import type { TransactionKind } from '../../wallet/state/transaction-kind.js';
import { changeKind, type EventAddress, eventKind } from '../event-kinds.js';

/**
 * One thing that happened to one wallet: a plain event, a change of a callback, or an effect that a snapshot remembers.
 */
export interface HistoryItem {
  readonly shard: number;
  readonly username: string;
  /** Undefined when only a snapshot knows the item. */
  readonly lsn: Lsn | undefined;
  /** The event's index in its entry. */
  readonly index: number | undefined;
  /** The shard's clock, milliseconds; undefined when a snapshot does not know it. */
  readonly timeMs: number | undefined;
  /** The version of the wallet after the event. */
  readonly version: number | undefined;
  /** The type of the event or change; from a snapshot, the kind of message. */
  readonly type: string;
  /** Kind of the transaction; known from snapshots only. */
  readonly kind: TransactionKind | undefined;
  readonly requestId: string | undefined;
  readonly productId: string | undefined;
  readonly roundId: string | undefined;
  readonly id: string | undefined;
  /** The amount of the message: a stake, a payout, money moved. */
  readonly amount: Units | undefined;
  /** Balances; undefined when nothing moved and they are unknown. */
  readonly before: Units | undefined;
  readonly after: Units | undefined;
  /** The currency of a new player. */
  readonly currency: string | undefined;
  /** The stake, when there is another amount too. */
  readonly stake: Units | undefined;
  /** Other transactions that this one settled, cancelled, voided or took money back from. */
  readonly others: readonly string[];
  /** Words for people. */
  readonly remarks: readonly string[];
  /** The operator who acted; undefined for the platform, and when not recorded. */
  readonly by: Operator | undefined;
  /** Why an operator corrected a balance. */
  readonly reason: string | undefined;
}

/** Operator event types in the log, by the operation's name in a snapshot. */
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

/** True for an operator's action, even if the operator was not recorded. */
export function isOperation({ type }: HistoryItem): boolean {
  return OPERATIONS.has(type);
}

/** Types of credits in the log, by the kinds of transaction and of message in a snapshot. */
const CREDITS_LOGGED_AS: Readonly<Record<string, Change['type']>> = {
  'credit settle': 'balance-credited',
  'reward settle': 'reward-credited',
  'reward void': 'reward-voided',
};

const CORRECTED_CREDITS: ReadonlySet<string> = new Set([...Object.values(CREDITS_LOGGED_AS), 'corrected']);

/** The log's type for an item that may come from a snapshot: an operation, or a credit without a bet. */
export function typeInLog({ type, kind }: HistoryItem): string {
  return LOGGED_AS[type as OperationType] ?? CREDITS_LOGGED_AS[`${kind} ${type}`] ?? type;
}

/** True for a credit without a bet, and for a void or correction that can take such a credit back. */
export function isCorrectedCredit(item: HistoryItem): boolean {
  return CORRECTED_CREDITS.has(typeInLog(item));
}

/** Finds the round of a transaction that a change names only by id. */
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

/** Creates an item from known fields; all others are undefined or empty. */
export function historyItem(
  known: Partial<HistoryItem> & Pick<HistoryItem, 'shard' | 'username' | 'type'>,
): HistoryItem {
  return { lsn: undefined, index: undefined, timeMs: undefined, version: undefined, ...NOTHING, ...known };
}

/** One item for each change of a callback, one for every other event. */
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
