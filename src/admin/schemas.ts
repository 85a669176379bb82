import { CURRENCY } from '../base/currency.js';
import { asPublished } from '../base/json-schema.js';
import { FEED_EVENT_TYPES, feedEventSchema } from '../feed/event.js';
import { REPLICA_STATES } from '../replica/replica.js';
import { REASON_LENGTH_MAX } from '../wallet/identifier.js';
import { LEDGER_KINDS } from '../wallet/ledger-kind.js';
import { OPEN_SINCE } from '../wallet/query.js';
import { OPERATION_TYPES } from '../wallet/state/operation.js';
import { TRANSACTION_STATES } from '../wallet/state/transaction-record.js';

/** Schemas of the operator API's answers, in OpenAPI notation. A test checks real answers against them. */
export const text = { type: 'string' };
const amount = { type: 'number', description: 'In whole currency units, exact to the last decimal.' };
const reason = { type: 'string', minLength: 1, maxLength: REASON_LENGTH_MAX };
export const count = { type: 'integer', minimum: 0 };
const millis = { type: 'integer', minimum: 0, description: 'Milliseconds since 1970.' };
export const cursor = {
  type: ['string', 'null'],
  description: '`before` of the next page; null: this is the last page.',
};
const currency = { type: 'string', pattern: CURRENCY.source };

type Properties = Readonly<Record<string, object>>;

/** An object with exactly these properties, of which only the optional ones may be absent. */
export function exactly(properties: Properties, optional: Properties = {}): object {
  return {
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
    additionalProperties: false,
  };
}

export const list = (items: object) => ({ type: 'array', items });
export const ref = (name: keyof typeof operatorSchemas) => ({ $ref: `#/components/schemas/${name}` });
export const problemSchema = { $ref: '#/components/schemas/Problem' };

const transaction = {
  kind: { enum: ['bet', 'settlement', 'tip', 'reward', 'debit', 'credit'] },
  id: text,
  productId: text,
  roundId: text,
  state: { enum: TRANSACTION_STATES },
  held: amount,
  paid: amount,
  createdMillis: millis,
  updatedMillis: millis,
};
const optionalOfTransaction = {
  betAmount: amount,
  payoutAmount: amount,
  openSince: { enum: OPEN_SINCE, description: 'The event that reopened the transaction after it was closed.' },
};
const shard = { type: 'integer', minimum: 0 };
const verifyBegun = { startedMillis: millis, by: exactly({ name: text, address: text }), deep: { type: 'boolean' } };
const bookLines = Object.fromEntries(
  ['opening', ...LEDGER_KINDS, 'balances', 'difference'].map((line) => [line, amount]),
);
const lsn = { type: 'string', pattern: '^\\d+-\\d+$', description: 'epoch-sequence' };
const player = { username: text, currency, balance: amount, status: { enum: ['active', 'blocked'] } };
const movement = { id: text, username: text, currency, amount, balanceBefore: amount, balanceAfter: amount };
const repeated = {
  repeated: { const: true, description: 'An earlier request with this id moved the money; this one moved nothing.' },
};
const operationType = {
  enum: OPERATION_TYPES,
};
const operator = {
  oneOf: [
    exactly({ name: text, address: text }),
    { type: 'null', description: 'The operation is older than named operators.' },
  ],
};
const decidedBy = {
  ...exactly({ name: text, address: text }),
  description: 'The other operator, who approved or refused the request.',
};

/** The period that the ledger totals cover. */
export const ledgerScope = {
  sinceMillis: {
    oneOf: [millis, { type: 'null', description: 'The totals start with the first log entry.' }],
    description:
      'Start of the totals. Movements before this time are not included, because the store is older than the totals.',
  },
  isWhole: { type: 'boolean', description: 'False: there are more currencies or products than walletd counts.' },
  shardsLeftOut: { ...count, description: 'Shards that did not answer.' },
};

const feed = {
  name: text,
  filter: exactly({}, { types: list({ enum: FEED_EVENT_TYPES }), products: list(text), currencies: list(currency) }),
  from: text,
  position: { ...text, description: 'Everything up to this position is acknowledged. Opaque.' },
  createdMillis: millis,
  acknowledgedMillis: { oneOf: [millis, { type: 'null', description: 'Nothing was acknowledged yet.' }] },
};

/** The progress and final lines of a search. */
const searchEnds = [
  exactly({ type: { const: 'progress' }, done: { type: 'number', minimum: 0, maximum: 1 } }),
  exactly({
    type: { const: 'end' },
    isCut: { type: 'boolean', description: 'True: there were more hits.' },
    notes: { ...list(text), description: 'Sentences that describe what the search could not find out.' },
  }),
  exactly({ type: { const: 'failed' }, reason: text, done: { type: 'number', minimum: 0, maximum: 1 } }),
];

export const operatorSchemas = {
  Problem: exactly({ type: text, title: text, status: { type: 'integer' }, detail: text, code: text }),
  Feed: exactly(feed),
  FeedWithLag: exactly({
    ...feed,
    lag: {
      ...exactly({
        entries: { ...count, description: 'Log entries after the acknowledged position, in all shards.' },
        bytes: { ...count, description: 'About the size of these entries.' },
        millis: { ...count, description: 'Age of the oldest of these entries.' },
      }),
      description: 'What the consumer has not acknowledged.',
    },
  }),
  Timeline: exactly({
    id: { ...text, description: 'Ends the ids of the events of this timeline.' },
    createdMillis: { ...millis, description: 'The time of the restore.' },
    after: { ...list(lsn), description: 'By shard: the newest restored entry. Former events after it are void.' },
  }),
  FeedEvent: asPublished(feedEventSchema),
  FeedPage: exactly(
    {
      events: list({ $ref: '#/components/schemas/FeedEvent' }),
      next: {
        ...text,
        description: 'The position after these events: `after` of the next page, and `position` of ack.',
      },
    },
    {
      lost: {
        ...list(
          exactly({
            shard,
            from: lsn,
            to: lsn,
            reason: {
              enum: ['trimmed', 'accepted-loss'],
              description:
                '`trimmed`: no longer in the log. `accepted-loss`: an operator continued without acknowledged entries.',
            },
          }),
        ),
        description:
          'Present only if entries are missing before these events: in each shard those after `from` up to `to`.',
      },
    },
  ),
  Player: exactly({
    ...player,
    openBets: { ...count, description: 'Bets that are OPEN or WAITING.' },
    openStakes: {
      ...amount,
      description: 'The sum of the stakes of these bets, in whole currency units, exact to the last decimal.',
    },
    session: {
      oneOf: [
        exactly({
          endMillis: {
            oneOf: [millis, { type: 'null', description: 'The session does not expire.' }],
          },
        }),
        { type: 'null', description: 'No session has been set.' },
      ],
      description: 'The session that was set last. It may have expired.',
    },
  }),
  FoundPlayer: exactly(player),
  ShardPlayer: exactly({ username: text, currency, version: count, balance: amount }),
  Movement: exactly(movement, repeated),
  PlayerOperation: exactly(
    { username: text, currency, type: operationType, timeMillis: millis, by: operator },
    { id: text, amount, balanceBefore: amount, balanceAfter: amount, reason, decidedBy },
  ),
  Correction: exactly({ ...movement, reason }, repeated),
  Operation: exactly(
    {
      type: operationType,
      timeMillis: millis,
      by: operator,
    },
    { id: text, amount, balanceBefore: amount, balanceAfter: amount, reason, decidedBy },
  ),
  WaitingMovement: exactly(
    {
      id: text,
      username: text,
      currency,
      amount,
      approval: exactly({ id: { ...text, description: 'For `/v1/approvals/{id}`.' }, expiresMillis: millis }),
    },
    { reason },
  ),
  Approval: exactly(
    {
      id: { ...text, description: 'For `/v1/approvals/{id}`.' },
      username: text,
      currency,
      type: { enum: ['deposit', 'withdrawal', 'correction'] },
      operationId: text,
      amount: { ...amount, description: 'Positive amounts are credited, negative amounts are debited.' },
      allowNegativeBalance: { type: 'boolean' },
      requestedMillis: millis,
      expiresMillis: millis,
      by: operator,
    },
    { reason },
  ),
  DecidedApproval: exactly(
    { id: text, username: text, currency, operation: { $ref: '#/components/schemas/Operation' } },
    { repeated: { const: true, description: 'The request had already been decided in the same way.' } },
  ),
  Transaction: exactly(transaction, optionalOfTransaction),
  Round: exactly({
    productId: text,
    roundId: text,
    transactions: list({ $ref: '#/components/schemas/Transaction' }),
    messages: {
      ...list({ $ref: '#/components/schemas/Message' }),
      description: 'Oldest first. Messages about the whole round appear on each page with transactions of the round.',
    },
    isCut: {
      type: 'boolean',
      description: 'True: a transaction has more messages than fit on a page, and only the newest are listed.',
    },
  }),
  Message: exactly(
    {
      type: { enum: ['place', 'settle', 'adjust', 'void', 'cancel', 'rollback'] },
      kind: { enum: [...transaction.kind.enum, 'round'], description: 'The kind of the transaction, or `round`.' },
      version: {
        ...count,
        description: "The player's version after the message. All messages of a request share one version.",
      },
      balanceBefore: amount,
      balanceAfter: amount,
      isWaiting: { type: 'boolean', description: 'True: the bet was placed as WAITING.' },
      movesNothing: { type: 'boolean', description: 'True: the message had skipBalanceUpdate and moved no money.' },
    },
    {
      id: { type: 'string', description: 'Id of the transaction, or of the message about the round.' },
      requestId: {
        type: 'string',
        description: 'Present for adjustments and rollbacks. For other messages, only the log has the request id.',
      },
      timeMillis: millis,
      amount,
    },
  ),
  LogLine: {
    oneOf: [
      exactly(
        { type: { const: 'event' }, version: count, what: list(text), timeMillis: millis, shard, lsn },
        { requestId: text },
      ),
      ...searchEnds,
    ],
  },
  PlayerTransaction: exactly({ username: text, currency, ...transaction }, optionalOfTransaction),
  FindLine: {
    oneOf: [
      exactly(
        {
          type: { const: 'hit' },
          in: { enum: ['memory', 'archive', 'log'] },
          username: text,
          kind: { enum: ['transaction', 'round', 'request', 'operation'] },
          what: {
            type: 'string',
            description: 'The kind of the transaction, or the type of the message or operation.',
          },
        },
        {
          productId: text,
          roundId: text,
          id: { type: 'string', description: 'Id of the transaction or operation.' },
          state: { type: 'string', description: 'State of the transaction; for a round, `open` or `closed`.' },
          timeMillis: millis,
          shard,
          lsn,
        },
      ),
      ...searchEnds,
    ],
  },
  Shard: exactly(
    {
      shard,
      state: { enum: ['starting', 'serving', 'failing', 'fenced', 'stopped', 'away', 'following', 'handing'] },
      players: count,
      waiting: count,
    },
    { lsn, reason: text, replica: { $ref: '#/components/schemas/Replica' } },
  ),
  Replica: exactly({
    shard,
    state: {
      enum: REPLICA_STATES,
      description: 'Relation of the answering node to the shard; see docs/cluster.md.',
    },
    sinceMillis: millis,
    waitsFor: { type: ['string', 'null'], description: 'Event that ends the state; null: there is none to wait for.' },
    next: { type: ['string', 'null'], description: 'Next action of the node; null: the node only waits.' },
    nextMillis: { type: ['integer', 'null'], description: 'Time of the next action at the latest.' },
    problem: { type: ['string', 'null'], description: 'Newest problem of the shard on this node.' },
    sentence: { type: 'string', description: 'All of this for people.' },
  }),
  Cluster: exactly({
    name: { type: 'string', description: 'The node that sent this answer.' },
    seesTable: {
      type: 'boolean',
      description:
        'False: the membership registry has not answered for 5 s, and this answer shows its last known state.',
    },
    nodes: list({ $ref: '#/components/schemas/ClusterNode' }),
    shards: list({ $ref: '#/components/schemas/ClusterShard' }),
    plan: {
      oneOf: [
        exactly({ why: text, by: text, format: count }),
        { type: 'null', description: 'There is no shard assignment yet.' },
      ],
    },
  }),
  ClusterNode: exactly({
    name: text,
    tag: {
      type: 'string',
      pattern: '^[0-9a-f]{8}$',
      description: 'Identifies the process. The nonces of its fences begin with this tag.',
    },
    host: text,
    port: count,
    zone: text,
    version: text,
    state: { enum: ['up', 'draining', 'leaving', 'gone'] },
    isThis: { type: 'boolean' },
    isLinked: { type: 'boolean' },
    isFull: { type: 'boolean', description: 'True: the node has, or recently had, no memory for another shard.' },
    shards: { ...count, description: 'Number of shards that the node serves.' },
  }),
  ClusterShard: exactly({
    shard,
    owner: {
      type: ['string', 'null'],
      description: 'The node that serves the shard; null: no node is known to serve it.',
    },
    planned: { type: ['string', 'null'], description: 'The node that should serve the shard; null: no node can.' },
    followers: list(text),
    lsn: { type: ['string', 'null'], description: 'The newest entry that a node may have acknowledged.' },
  }),
  ClusterMove: exactly({
    shard,
    from: { type: ['string', 'null'], description: 'The former owner; null: no former owner was seen.' },
    to: text,
    epoch: count,
    timeMillis: millis,
    tookMs: { type: ['integer', 'null'], minimum: 0, description: 'Time from the shard assignment to the takeover.' },
    why: { type: ['string', 'null'], description: 'Reason of the shard assignment; null: no assignment was seen.' },
    by: { type: ['string', 'null'], description: 'The node or operator that made the shard assignment.' },
  }),
  KeptSnapshot: exactly(
    {
      shard,
      id: text,
      state: {
        enum: ['whole', 'damaged', 'unfinished'],
        description: "State of the snapshot's manifest. The chunks are not read.",
      },
    },
    {
      reason: text,
      start: { ...lsn, description: 'Replay begins with the entry after this position.' },
      end: { ...lsn, description: 'The snapshot contains nothing after this position.' },
      timeMillis: millis,
      players: count,
      bytes: count,
      chunks: count,
    },
  ),
  Snapshot: {
    oneOf: [
      exactly({
        type: { const: 'taken' },
        shard,
        id: { type: 'string', pattern: '^[0-9a-f]{16}$' },
        lsn,
        players: count,
        bytes: count,
        tookMs: count,
      }),
      exactly({ type: { const: 'unchanged' }, shard }),
      exactly({ type: { const: 'abandoned' }, shard, reason: text }),
    ],
  },
  MoneyOfDay: exactly({
    day: { type: 'string', format: 'date', description: 'UTC.' },
    currency,
    kind: { enum: LEDGER_KINDS },
    credited: { ...amount, description: 'Money that players received.' },
    debited: { ...amount, description: 'Money that was taken from players.' },
    net: { ...amount, description: '`credited` minus `debited`.' },
  }),
  Product: exactly({
    productId: text,
    lastSeenMillis: millis,
    changes: {
      type: 'object',
      properties: Object.fromEntries(LEDGER_KINDS.map((kind) => [kind, count])),
      additionalProperties: false,
      description: 'Number of changes by ledger kind: bets, settlements and so on.',
    },
  }),
  Verification: exactly({
    running: {
      oneOf: [
        exactly({
          ...verifyBegun,
          done: count,
          total: { ...count, description: 'Number of log entries; 0: not known yet.' },
        }),
        { type: 'null', description: 'No verification is running.' },
      ],
    },
    last: {
      oneOf: [
        exactly({
          ...verifyBegun,
          endedMillis: millis,
          failure: {
            type: ['string', 'null'],
            description: 'Human-readable reason why the verification failed to run.',
          },
          report: {
            oneOf: [
              { $ref: '#/components/schemas/VerifyReport' },
              { type: 'null', description: 'The verification failed to run.' },
            ],
          },
        }),
        { type: 'null', description: 'No verification has ended since this node started.' },
      ],
    },
  }),
  VerifyReport: exactly({
    entries: count,
    events: count,
    players: count,
    snapshots: count,
    compared: {
      ...count,
      description: 'Number of players whose balance in the log was compared with the balance being served.',
    },
    movedOn: {
      ...count,
      description: 'Number of players who could not be compared because they had changed in the meantime.',
    },
    accepted: list({ type: 'string', description: 'Description of an accepted loss.' }),
    books: {
      ...list(exactly({ currency, players: count, ...bookLines })),
      description: "Signs are from the players' point of view: stakes are negative. At most 200 currencies.",
    },
    currencies: count,
    found: { ...count, description: 'Number of differences found.' },
    findings: {
      ...list(exactly({ type: text, message: text })),
      description: 'The first differences of each type, each described in a sentence.',
    },
  }),
  Setting: exactly({
    setting: text,
    value: { description: 'Value as JSON; null: unset. `(hidden)` replaces a secret.' },
    from: { type: 'string', description: 'Source of the value: `default`, an environment variable or a file.' },
    meaning: text,
  }),
  ImportLine: {
    oneOf: [
      exactly({ line: count, id: text, username: text, result: { enum: ['created', 'skipped'] } }),
      exactly({ line: count, result: { const: 'refused' }, reason: text }, { id: text, username: text }),
      exactly(
        { created: count, skipped: count, refused: count },
        {
          lines: { ...count, description: 'Present if the import was cut off: number of lines that were processed.' },
          cut: { type: 'string', description: 'Reason why the import was cut off.' },
        },
      ),
    ],
  },
};
