import {
  array,
  choice,
  integer,
  type ObjectSchema,
  object,
  type Schema,
  string,
  type TypeOf,
} from '../base/json-schema.js';

/*
 * The public events of the feed: CloudEvents 1.0 in JSON. Names, meanings and ids are published and never change; a later
 * version may only add types of events and fields. The stored formats stay private behind `feedEventsOf`.
 */

/** Types of events. Consumers skip types that they do not know. */
export const FEED_EVENT_TYPES = [
  'walletd.bet.placed',
  'walletd.bet.confirmed',
  'walletd.bet.adjusted',
  'walletd.bet.settled',
  'walletd.bet.voided',
  'walletd.bet.cancelled',
  'walletd.bet.rolled-back',
  'walletd.tip.placed',
  'walletd.tip.cancelled',
  'walletd.reward.credited',
  'walletd.reward.voided',
  'walletd.movement.credited',
  'walletd.movement.debited',
  'walletd.money.deposited',
  'walletd.money.withdrawn',
  'walletd.money.corrected',
  'walletd.player.created',
  'walletd.player.blocked',
  'walletd.player.unblocked',
] as const;
export type FeedEventType = (typeof FEED_EVENT_TYPES)[number];

/** States of a transaction after an event. */
const STATUSES = ['OPEN', 'WAITING', 'SETTLED', 'VOID', 'REFUND', 'REJECT', 'TIPS'] as const;
export type FeedStatus = (typeof STATUSES)[number];

const DECIMAL = '^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$';

function orNull<T>(schema: Schema<T>, description: string): Schema<T | null> {
  const { type, enum: values } = schema as { type: string; enum?: unknown[] };
  return { ...schema, type: [type, 'null'], ...(values && { enum: [...values, null] }), description };
}

const text = string();
const amount = string({ pattern: DECIMAL });

const data = object({
  username: text,
  currency: text,
  version: integer({
    minimum: 1,
    description:
      "The player's version after the event. It rises by one with each change of the player; the events of one message " +
      'share it. A list of players has the versions that its balances contain.',
  }),
  productId: orNull(text, "The platform's product; null for an operator's action."),
  roundId: orNull(text, 'The round, where the message names it; null if the message names only the transaction.'),
  transactionId: orNull(
    text,
    'The bet, tip, reward or movement; the id of a settlement, void or cancel of a whole round; the operation of an operator.',
  ),
  requestId: orNull(text, "The platform's request; null for an operator's action."),
  amount: orNull(
    amount,
    'Decimal text: the stake, payout or amount of the transaction. Of a void, a cancel and a rollback, the amount that ' +
      'moved. A correction that takes money is negative. Null if the event is not about money.',
  ),
  stake: orNull(amount, 'The stake of a bet that is settled in one message, or of a reward; otherwise null.'),
  balanceBefore: orNull(amount, 'Decimal text. Null if the event is not about money.'),
  balanceAfter: orNull(amount, 'Decimal text. Null if the event is not about money.'),
  status: orNull(
    choice(STATUSES),
    'The state of the transactions after the event; null if the event does not determine it.',
  ),
  transactionIds: {
    ...array(text),
    description: 'The bets that an event about a whole round changed; otherwise empty.',
  } as Schema<string[]>,
});

const event = object({
  specversion: { const: '1.0' } as Schema<'1.0'>,
  id: string({
    pattern: '^[0-9]+-[0-9]+-[0-9]+-[0-9]+(-[0-9a-f]{8})?$',
    description: 'SHARD-EPOCH-SEQUENCE-INDEX, and -TIMELINE for an event after a restore. It never changes.',
  }),
  source: string({ pattern: '^/walletd/.+$', description: '/walletd/STORE' }),
  type: choice(FEED_EVENT_TYPES),
  subject: { ...text, description: 'The username.' } as Schema<string>,
  time: string({ format: 'date-time', description: "RFC 3339 in UTC, by walletd's clock." }),
  datacontenttype: { const: 'application/json' } as Schema<'application/json'>,
  data,
});

export type FeedEvent = Readonly<TypeOf<typeof event>>;
export type FeedEventData = Readonly<TypeOf<typeof data>>;

/**
 * The schema of an event, as docs/feed-event.schema.json publishes it. Additional fields are allowed for later
 * versions.
 */
export const feedEventSchema: ObjectSchema<FeedEvent> = event;
