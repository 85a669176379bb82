import { unreachable } from '../base/assert.js';
import type { Lsn } from '../shard/log/lsn.js';
import type { Units } from '../wallet/amount.js';
import type { CallbackApplied, Change, Event, OperatorEvent } from '../wallet/event.js';
import type { OperationType, Operator } from '../wallet/state/operation.js';

/** One thing that happened to one wallet: an event without changes, a change of a callback, or what a snapshot remembers. */
export interface Happening {
  readonly shard: number;
  readonly username: string;
  /** Undefined for what only a snapshot knows (any more). */
  readonly lsn: Lsn | undefined;
  /** The event's place in its entry. */
  readonly index: number | undefined;
  /** The shard's clock, milliseconds; undefined where a snapshot does not tell. */
  readonly timeMs: number | undefined;
  /** The wallet's version that it made. */
  readonly version: number | undefined;
  /** The type of the event or change; of what a snapshot knows the kind of message. */
  readonly type: string;
  readonly requestId: string | undefined;
  readonly productId: string | undefined;
  readonly roundId: string | undefined;
  readonly id: string | undefined;
  /** What the message was about: a stake, a payout, money moved. */
  readonly amount: Units | undefined;
  /** Balances; undefined where nothing moved and nothing says. */
  readonly before: Units | undefined;
  readonly after: Units | undefined;
  /** Of a player who is created. */
  readonly currency: string | undefined;
  /** Of what has both an amount and a stake. */
  readonly stake: Units | undefined;
  /** Other transactions that it settled, cancelled, voided or took something back from. */
  readonly others: readonly string[];
  /** Words about it. */
  readonly remarks: readonly string[];
  /** The operator who did it; undefined of what the platform did, and where nobody wrote it down. */
  readonly by: Operator | undefined;
  /** Why an operator corrected a balance. */
  readonly reason: string | undefined;
}

/** What operators do, as logs and as snapshots name it. */
const OPERATIONS: ReadonlySet<string> = new Set<OperatorEvent['type'] | OperationType>([
  'player-created',
  'player-imported',
  'deposited',
  'withdrawn',
  'corrected',
  'player-blocked',
  'player-unblocked',
  'create',
  'import',
  'deposit',
  'withdrawal',
  'correction',
  'block',
  'unblock',
]);

/** True of what an operator did, whether or not it was written down who that was. */
export function isOperation({ type }: Happening): boolean {
  return OPERATIONS.has(type);
}

/** Where an event is. */
export interface EventPlace {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly index: number;
}

/** Finds the round of a transaction that a change only names by its id. */
export type FindRound = (username: string, productId: string, id: string) => string | undefined;

const NOTHING = {
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

/** A happening of which only this much is known. */
export function happening(known: Partial<Happening> & Pick<Happening, 'shard' | 'username' | 'type'>): Happening {
  return { lsn: undefined, index: undefined, timeMs: undefined, version: undefined, ...NOTHING, ...known };
}

/** One for each change of a callback, one for every other event. */
export function happeningsOf(event: Event, place: EventPlace, findRound: FindRound): Happening[] {
  const { username, version, timeMs } = event;
  const base = { ...place, username, version, timeMs };
  switch (event.type) {
    case 'player-created':
      return [happening({ ...base, type: event.type, currency: event.currency, before: 0, after: 0, by: event.by })];
    case 'player-imported': {
      const { type, currency, id, balance, by } = event;
      return [happening({ ...base, type, currency, id, amount: balance, before: 0, after: balance, by })];
    }
    case 'deposited':
    case 'withdrawn':
    case 'corrected': {
      const { type, id, amount, before, after, by } = event;
      const reason = event.type === 'corrected' ? event.reason : undefined;
      return [happening({ ...base, type, id, amount, before, after, by, reason })];
    }
    case 'player-blocked':
    case 'player-unblocked':
      return [happening({ ...base, type: event.type, by: event.by })];
    case 'rounds-forgotten': {
      const remarks = [`unchanged since ${new Date(event.beforeMs).toISOString()}`];
      return [happening({ ...base, type: event.type, remarks })];
    }
    case 'callback-applied':
      return changesOf(event, base, findRound);
    default:
      return unreachable(event);
  }
}

type Base = EventPlace & Pick<Event, 'username' | 'version' | 'timeMs'>;

function changesOf(event: CallbackApplied, base: Base, findRound: FindRound): Happening[] {
  const { requestId, productId } = event;
  let { before } = event;
  return event.changes.map((change) => {
    const { type, after } = change;
    const id = 'id' in change ? change.id : undefined;
    const roundId = 'roundId' in change ? change.roundId : findRound(base.username, productId, change.id);
    const one = happening({ ...base, type, requestId, productId, id, roundId, before, after, ...detailsOf(change) });
    before = after;
    return one;
  });
}

type Details = Partial<Pick<Happening, 'amount' | 'stake' | 'others' | 'remarks'>>;

function detailsOf(change: Change): Details {
  switch (change.type) {
    case 'bet-placed':
      return { amount: change.stake, remarks: [change.status, ...wordsOf(change)] };
    case 'bet-confirmed':
      return { remarks: [change.status, ...wordsOf(change), ...(change.takes ? ['stake taken'] : [])] };
    case 'bet-settled':
      return { amount: change.payout, remarks: wordsOf(change) };
    case 'single-state-settled':
      return { amount: change.payout, stake: change.stake, remarks: wordsOf(change) };
    case 'round-settled':
      return { amount: change.payout, others: change.bets, remarks: wordsOf(change) };
    case 'bet-adjusted':
      return { amount: change.stake };
    case 'bet-voided':
      return { others: change.takenBack.map(([settlementId]) => settlementId) };
    case 'round-voided':
      return { others: change.bets };
    case 'bet-cancelled':
      return { remarks: [change.state] };
    case 'round-cancelled':
      return { others: change.bets, remarks: [change.state] };
    case 'round-marked':
    case 'cancel-remembered':
      return {};
    case 'tip-credited':
      return { amount: change.amount };
    default:
      return unreachable(change);
  }
}

function wordsOf(flags: {
  skip?: boolean;
  endsRound?: boolean;
  isFeature?: boolean;
  isFeatureBuy?: boolean;
}): string[] {
  return [
    ...(flags.skip ? ['no money moved'] : []),
    ...(flags.endsRound ? ['ends the round'] : []),
    ...(flags.isFeature ? ['feature'] : []),
    ...(flags.isFeatureBuy ? ['feature buy'] : []),
  ];
}
