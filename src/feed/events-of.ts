import { findTimeline, type Timeline } from '../ports/timeline.js';
import type { Entry } from '../ports/wal.js';
import { formatUnits, type Units } from '../wallet/amount.js';
import type { CallbackApplied, Change, Event } from '../wallet/event.js';
import type { FeedEvent, FeedEventData, FeedEventType, FeedStatus } from './event.js';

/** Facts that an entry does not contain. */
export interface FeedSource {
  readonly storeId: string;
  /** The restores that the store comes from, oldest first. */
  readonly timelines?: readonly Timeline[] | undefined;
  readonly currencyOf: (username: string) => string;
  /** Number of decimals of a currency. */
  readonly scaleOf: (currency: string) => number;
}

/** An event with its place among the items of its entry: an item is one change of a callback, or any other event. */
export interface PlacedEvent {
  readonly index: number;
  readonly event: FeedEvent;
}

/** Fields of an event that depend on its type. Amounts are in units. */
interface Facts {
  readonly type: FeedEventType;
  readonly transactionId?: string;
  readonly roundId?: string;
  readonly amount?: Units;
  readonly stake?: Units;
  readonly before?: Units;
  readonly after?: Units;
  readonly status?: FeedStatus;
  readonly transactionIds?: readonly string[];
}

type FactsOf<C> = (change: C, moved: Units) => Omit<Facts, 'before' | 'after'> | undefined;

/**
 * One row per kind of change. Changes that move no money and are remembered only to answer later messages make no event.
 * `moved` is the absolute difference of the balance.
 */
const CHANGE_FACTS: { readonly [C in Change as C['type']]: FactsOf<C> } = {
  'bet-placed': ({ id, roundId, stake, status }) => {
    return { type: 'walletd.bet.placed', transactionId: id, roundId, amount: stake, status };
  },
  'bet-confirmed': ({ id, status }, moved) => {
    return { type: 'walletd.bet.confirmed', transactionId: id, amount: moved, status };
  },
  'bet-confirmed-anew': ({ id, stake }) => {
    return { type: 'walletd.bet.confirmed', transactionId: id, amount: stake, status: 'OPEN' };
  },
  'bet-settled': ({ id, payout }) => {
    return { type: 'walletd.bet.settled', transactionId: id, amount: payout, status: 'SETTLED' };
  },
  'single-state-settled': ({ id, roundId, payout, stake }) => {
    return { type: 'walletd.bet.settled', transactionId: id, roundId, amount: payout, stake, status: 'SETTLED' };
  },
  'single-state-resettled': ({ id, payout, stake }) => {
    return { type: 'walletd.bet.settled', transactionId: id, amount: payout, stake, status: 'SETTLED' };
  },
  'round-settled': ({ id, roundId, payout, bets }) => {
    const round = { transactionId: id, roundId, transactionIds: bets };
    return { type: 'walletd.bet.settled', ...round, amount: payout, status: 'SETTLED' };
  },
  'bet-adjusted': ({ id, stake }) => ({ type: 'walletd.bet.adjusted', transactionId: id, amount: stake }),
  'bet-voided': ({ id }, moved) => {
    return { type: 'walletd.bet.voided', transactionId: id, amount: moved, status: 'VOID' };
  },
  'round-voided': ({ id, roundId, bets }, moved) => {
    const round = { transactionId: id, roundId, transactionIds: bets };
    return { type: 'walletd.bet.voided', ...round, amount: moved, status: 'VOID' };
  },
  'bet-cancelled': ({ id, state }, moved) => {
    return { type: 'walletd.bet.cancelled', transactionId: id, amount: moved, status: state };
  },
  'round-cancelled': ({ id, roundId, bets, state }, moved) => {
    const round = { transactionId: id, roundId, transactionIds: bets };
    return { type: 'walletd.bet.cancelled', ...round, amount: moved, status: state };
  },
  'round-marked': () => undefined,
  'cancel-remembered': () => undefined,
  'tip-credited': ({ id, roundId, amount }) => {
    return { type: 'walletd.tip.cancelled', transactionId: id, roundId, amount, status: 'REFUND' };
  },
  'bet-rolled-back': ({ id }, moved) => ({ type: 'walletd.bet.rolled-back', transactionId: id, amount: moved }),
  'round-rolled-back': ({ id, roundId, bets }, moved) => {
    return { type: 'walletd.bet.rolled-back', transactionId: id, roundId, amount: moved, transactionIds: bets };
  },
  'rollback-repeated': () => undefined,
  'tip-placed': ({ id, roundId, amount }) => {
    return { type: 'walletd.tip.placed', transactionId: id, roundId, amount, status: 'TIPS' };
  },
  'tip-cancelled': ({ id }, moved) => {
    return { type: 'walletd.tip.cancelled', transactionId: id, amount: moved, status: 'REFUND' };
  },
  'reward-credited': ({ id, roundId, payout, stake }) => {
    return { type: 'walletd.reward.credited', transactionId: id, roundId, amount: payout, stake, status: 'SETTLED' };
  },
  'reward-voided': ({ id }, moved) => {
    return { type: 'walletd.reward.voided', transactionId: id, amount: moved, status: 'VOID' };
  },
  'balance-debited': ({ id, amount }) => ({ type: 'walletd.movement.debited', transactionId: id, amount }),
  'balance-credited': ({ id, amount }) => ({ type: 'walletd.movement.credited', transactionId: id, amount }),
  'message-remembered': () => undefined,
};

const MONEY_TYPES = {
  deposited: 'walletd.money.deposited',
  withdrawn: 'walletd.money.withdrawn',
  corrected: 'walletd.money.corrected',
} as const;

/**
 * The public events of a log entry, in order. Ids count every item of the entry, including those that make no event, so
 * that an id stays the same if a later version makes more of them public.
 */
export function feedEventsOf(entry: Entry, source: FeedSource): PlacedEvent[] {
  const placed: PlacedEvent[] = [];
  const timeline = findTimeline(source.timelines ?? [], entry.shard, entry.lsn);
  const ending = timeline === undefined ? '' : `-${timeline}`;
  let index = 0;
  for (const event of entry.events) {
    const { currencyOf, scaleOf, storeId } = source;
    const origin = event.type === 'callback-applied' ? event : undefined;
    for (const facts of factsOf(event)) {
      if (facts !== undefined) {
        const currency = 'currency' in event ? event.currency : currencyOf(event.username);
        placed.push({
          index,
          event: {
            specversion: '1.0',
            id: `${entry.shard}-${entry.lsn.epoch}-${entry.lsn.sequence}-${index}${ending}`,
            source: `/walletd/${storeId}`,
            type: facts.type,
            subject: event.username,
            time: new Date(event.timeMs).toISOString(),
            datacontenttype: 'application/json',
            data: dataOf(facts, event, currency, scaleOf(currency), origin),
          },
        });
      }
      index++;
    }
  }
  return placed;
}

/** Number of items of an entry: one more than the largest index that an event of the entry can have. */
export function itemCount({ events }: Pick<Entry, 'events'>): number {
  let count = 0;
  for (const event of events) count += event.type === 'callback-applied' ? event.changes.length : 1;
  return count;
}

function dataOf(
  { transactionId, roundId, amount, stake, before, after, status, transactionIds = [] }: Facts,
  { username, version }: Event,
  currency: string,
  scale: number,
  origin: CallbackApplied | undefined,
): FeedEventData {
  const decimal = (units: Units | undefined) => (units === undefined ? null : formatUnits(units, scale));
  return {
    username,
    currency,
    version,
    productId: origin?.productId ?? null,
    roundId: roundId ?? null,
    transactionId: transactionId ?? null,
    requestId: origin?.requestId ?? null,
    amount: decimal(amount),
    stake: decimal(stake),
    balanceBefore: decimal(before),
    balanceAfter: decimal(after),
    status: status ?? null,
    transactionIds: [...transactionIds],
  };
}

/** The facts of each item of an event; undefined for an item that makes no public event. */
function factsOf(event: Event): readonly (Facts | undefined)[] {
  switch (event.type) {
    case 'callback-applied':
      return changesOf(event);
    case 'player-created':
      return [{ type: 'walletd.player.created', amount: 0, before: 0, after: 0 }];
    case 'player-imported': {
      const { id, balance } = event;
      return [{ type: 'walletd.player.created', transactionId: id, amount: balance, before: 0, after: balance }];
    }
    case 'deposited':
    case 'withdrawn':
    case 'corrected': {
      const { id, amount, before, after } = event;
      return [{ type: MONEY_TYPES[event.type], transactionId: id, amount, before, after }];
    }
    case 'player-blocked':
      return [{ type: 'walletd.player.blocked' }];
    case 'player-unblocked':
      return [{ type: 'walletd.player.unblocked' }];
    default:
      return [undefined];
  }
}

function changesOf({ before: first, changes }: CallbackApplied): (Facts | undefined)[] {
  let before = first;
  return changes.map((change) => {
    const { after } = change;
    const known = (CHANGE_FACTS[change.type] as FactsOf<Change>)(change, Math.abs(after - before));
    const facts = known && { ...known, before, after };
    before = after;
    return facts;
  });
}
