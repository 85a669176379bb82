import type { Lsn } from '../ports/lsn.js';
import type { Units } from '../wallet/amount.js';
import type {
  BalanceCorrected,
  CallbackApplied,
  Change,
  Event,
  MoneyMoved,
  PlayerBlocked,
  SessionEnded,
} from '../wallet/event.js';
import type { Operator } from '../wallet/state/operation.js';
import type { RoundName } from '../wallet/state/round.js';
import { nameOfSerialized } from '../wallet/state/serialized-round.js';

/*
 * Tables that define how `inspect` and `export` print an event, with one row for each kind of event and one for each
 * kind of change in a callback. The code does not compile if a kind has no row. Inspect prints one human-readable item
 * per change. Export prints one line per event, with every field of its changes.
 */

/** The address of an event: its shard, its entry in the log, and its index within the entry. */
export interface EventAddress {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly index: number;
}

/**
 * Fields of an inspection item, except for address, player, version, time, type, related ids and the balances of the
 * callback.
 */
interface Details {
  readonly id?: string;
  readonly currency?: string;
  readonly amount?: Units;
  readonly before?: Units;
  readonly after?: Units;
  readonly stake?: Units;
  readonly others?: readonly string[];
  readonly remarks?: readonly string[];
  readonly by?: Operator | undefined;
  readonly reason?: string | undefined;
}

/** The latest time that `Date` can represent, in ms. */
const DATE_MAX_MS = 8_640_000_000_000_000;

/** Formats an amount as decimal text, with the decimals of the player's currency. */
export type Decimal = (units: Units) => string;

/** Every event except a callback, whose changes have their own kinds. */
export type PlainEvent = Exclude<Event, CallbackApplied>;

interface EventKind<E> {
  readonly item: (event: E) => Details;
  /** Fields of the event's export line, in the order in which they are printed. */
  readonly line: (event: E, decimal: Decimal) => object;
}

interface ChangeKind<C> {
  /**
   * True if the change names the round of its transaction. Settlements, and cancels and voids of rounds, have ids of
   * their own.
   */
  readonly namesRound: boolean;
  /** Names of the fields that hold amounts, which the export prints as decimals. `after` is always an amount. */
  readonly amounts: readonly (keyof C)[];
  readonly item: (change: C) => Pick<Details, 'amount' | 'stake' | 'others' | 'remarks'>;
  /** Replaces fields that the export does not print unchanged. */
  readonly line?: (change: C, decimal: Decimal) => object;
}

const movement: EventKind<MoneyMoved | BalanceCorrected> = {
  item: (event) => {
    const { id, amount, before, after, by } = event;
    return { id, amount, before, after, by, reason: reasonOf(event), remarks: approvalOf(event) };
  },
  line: (event, decimal) => {
    const { id, amount, before, after, by, approvedBy } = event;
    const amounts = { amount: decimal(amount), before: decimal(before), after: decimal(after) };
    return { id, ...amounts, reason: reasonOf(event), by, approvedBy };
  },
};

const operatorOnly: EventKind<PlayerBlocked | SessionEnded> = {
  item: ({ by }) => ({ by }),
  line: ({ by }) => ({ by }),
};

const EVENT_KINDS: { readonly [E in PlainEvent as E['type']]: EventKind<E> } = {
  'player-created': {
    item: ({ currency, by }) => ({ currency, before: 0, after: 0, by }),
    line: ({ by }) => ({ by }),
  },
  'player-imported': {
    item: ({ currency, id, balance, by }) => ({ currency, id, amount: balance, before: 0, after: balance, by }),
    line: ({ id, balance, by }, decimal) => ({ id, balance: decimal(balance), by }),
  },
  deposited: movement,
  withdrawn: movement,
  corrected: movement,
  'money-requested': {
    item: ({ id, amount, expiresMs, reason, by }) => ({
      id,
      amount,
      remarks: [`waits for an approval until ${timeOf(expiresMs)}`],
      by,
      reason: reason === '' ? undefined : reason,
    }),
    line: ({ id, amount, expiresMs, allowNegativeBalance, reason, by }, decimal) => ({
      id,
      amount: decimal(amount),
      expiresTime: timeOf(expiresMs),
      allowNegativeBalance,
      reason: reason === '' ? undefined : reason,
      by,
    }),
  },
  'request-closed': {
    item: ({ id, outcome, by }) => ({ id, remarks: [outcome], by }),
    line: ({ id, outcome, by }) => ({ id, outcome, by }),
  },
  'player-blocked': operatorOnly,
  'player-unblocked': operatorOnly,
  // Leave out the digest of the token, because it would help only an attacker who guesses tokens.
  'session-set': {
    item: ({ endMs, by }) => ({ remarks: endMs === null ? [] : [`until ${timeOf(endMs)}`], by }),
    line: ({ endMs, by }) => ({ endTime: endMs === null ? null : timeOf(endMs), by }),
  },
  'session-ended': operatorOnly,
  'rounds-forgotten': {
    item: ({ beforeMs }) => ({ remarks: [`unchanged since ${new Date(beforeMs).toISOString()}`] }),
    line: ({ beforeMs }) => ({ beforeTime: new Date(beforeMs).toISOString() }),
  },
  'rounds-archived': {
    item: ({ rounds }) => ({ others: rounds.map(({ roundId }) => roundId) }),
    line: ({ rounds }) => ({ rounds }),
  },
  'rounds-restored': {
    item: ({ images }) => ({ others: images.map((image) => nameOfSerialized(image).roundId) }),
    line: ({ images }) => ({ rounds: images.map(roundNameOf) }),
  },
};

const CHANGE_KINDS: { readonly [C in Change as C['type']]: ChangeKind<C> } = {
  'bet-placed': {
    namesRound: true,
    amounts: ['stake'],
    item: (change) => ({ amount: change.stake, remarks: [change.status, ...wordsOf(change)] }),
  },
  'bet-confirmed': {
    namesRound: false,
    amounts: [],
    item: (change) => ({ remarks: [change.status, ...wordsOf(change), ...(change.takes ? ['stake taken'] : [])] }),
  },
  'bet-confirmed-anew': {
    namesRound: false,
    amounts: ['stake'],
    item: (change) => ({ amount: change.stake, remarks: ['OPEN', 'other stake', ...wordsOf(change)] }),
  },
  'bet-settled': {
    namesRound: false,
    amounts: ['payout'],
    item: (change) => ({ amount: change.payout, remarks: wordsOf(change) }),
  },
  'single-state-settled': {
    namesRound: true,
    amounts: ['stake', 'payout'],
    item: (change) => ({ amount: change.payout, stake: change.stake, remarks: wordsOf(change) }),
  },
  'single-state-resettled': {
    namesRound: false,
    amounts: ['stake', 'held', 'payout'],
    item: (change) => ({ amount: change.payout, stake: change.stake, remarks: ['once more', ...wordsOf(change)] }),
  },
  'round-settled': {
    namesRound: false,
    amounts: ['payout'],
    item: (change) => ({ amount: change.payout, others: change.bets, remarks: wordsOf(change) }),
  },
  'bet-adjusted': { namesRound: false, amounts: ['stake'], item: ({ stake }) => ({ amount: stake }) },
  'bet-voided': {
    namesRound: false,
    amounts: [],
    item: ({ takenBack }) => ({ others: takenBack.map(([id]) => id) }),
    line: ({ takenBack }, decimal) => ({
      takenBack: takenBack.map(([id, amount]) => ({ id, amount: decimal(amount) })),
    }),
  },
  'round-voided': { namesRound: false, amounts: [], item: ({ bets }) => ({ others: bets }) },
  'bet-cancelled': { namesRound: false, amounts: [], item: ({ state }) => ({ remarks: [state] }) },
  'round-cancelled': {
    namesRound: false,
    amounts: [],
    item: ({ bets, state }) => ({ others: bets, remarks: [state] }),
    line: platformTime,
  },
  'round-marked': { namesRound: false, amounts: [], item: () => ({}), line: platformTime },
  'cancel-remembered': { namesRound: true, amounts: [], item: () => ({}) },
  'tip-credited': { namesRound: true, amounts: ['amount'], item: ({ amount }) => ({ amount }) },
  'bet-rolled-back': {
    namesRound: false,
    amounts: [],
    item: (change) => ({ others: change.takenBack.map(([id]) => id), remarks: wordsOf(change) }),
    line: ({ takenBack }, decimal) => ({
      takenBack: takenBack.map(([id, amount]) => ({ id, amount: decimal(amount) })),
    }),
  },
  'round-rolled-back': {
    namesRound: false,
    amounts: [],
    item: (change) => ({ others: change.bets, remarks: wordsOf(change) }),
  },
  'rollback-repeated': {
    namesRound: false,
    amounts: [],
    item: ({ byRound }) => ({ remarks: byRound ? ['repeat', 'of the round'] : ['repeat'] }),
  },
  'tip-placed': {
    namesRound: true,
    amounts: ['amount'],
    item: (change) => ({ amount: change.amount, remarks: wordsOf(change) }),
  },
  'tip-cancelled': { namesRound: false, amounts: [], item: () => ({}) },
  // `namesRound` is false, because a reward may share its id with a bet of a different round.
  'reward-credited': {
    namesRound: false,
    amounts: ['payout', 'stake'],
    item: ({ payout, stake }) => ({ amount: payout, ...(stake > 0 && { stake }) }),
  },
  'reward-voided': { namesRound: false, amounts: [], item: () => ({}) },
  'balance-debited': { namesRound: false, amounts: ['amount'], item: ({ amount }) => ({ amount }) },
  'balance-credited': { namesRound: false, amounts: ['amount'], item: ({ amount }) => ({ amount }) },
  'message-remembered': {
    namesRound: false,
    amounts: ['answerBefore', 'answerAfter'],
    item: () => ({}),
    line: () => ({ hash: undefined }),
  },
};

export function eventKind(event: PlainEvent): EventKind<PlainEvent> {
  return EVENT_KINDS[event.type] as EventKind<PlainEvent>;
}

export function changeKind(change: Change): ChangeKind<Change> {
  return CHANGE_KINDS[change.type] as unknown as ChangeKind<Change>;
}

/** True if changes of this type name the round of their transaction. */
export function namesRound(type: string): boolean {
  return type in CHANGE_KINDS && CHANGE_KINDS[type as Change['type']].namesRound;
}

function roundNameOf(image: Buffer): RoundName {
  const { productId, roundId } = nameOfSerialized(image);
  return { productId, roundId };
}

/** Formats a time that an operator chose. The time may be later than any that `Date` can represent. */
function timeOf(timeMs: number): string {
  return timeMs > DATE_MAX_MS ? `${timeMs} ms` : new Date(timeMs).toISOString();
}

function reasonOf(event: MoneyMoved | BalanceCorrected): string | undefined {
  return event.type === 'corrected' ? event.reason : undefined;
}

function approvalOf({ approvedBy }: MoneyMoved | BalanceCorrected): string[] {
  return approvedBy === undefined ? [] : [`approved by ${approvedBy.name}`];
}

/** Times from the platform are printed as they were sent, under names that end in `Millis`. */
function platformTime({ markMs }: { readonly markMs: number }): object {
  return { markMs: undefined, markMillis: markMs };
}

function wordsOf(flags: {
  readonly skip?: boolean;
  readonly endsRound?: boolean;
  readonly isFeature?: boolean;
  readonly isFeatureBuy?: boolean;
}): string[] {
  return [
    ...(flags.skip ? ['no money moved'] : []),
    ...(flags.endsRound ? ['ends the round'] : []),
    ...(flags.isFeature ? ['feature'] : []),
    ...(flags.isFeatureBuy ? ['feature buy'] : []),
  ];
}
