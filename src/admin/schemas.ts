import { CURRENCY } from '../base/currency.js';
import { REASON_LENGTH_MAX } from '../wallet/identifier.js';
import { LEDGER_KINDS } from '../wallet/ledger-kind.js';
import { OPEN_SINCE } from '../wallet/query.js';
import { OPERATION_TYPES } from '../wallet/state/operation.js';
import { TRANSACTION_STATES } from '../wallet/state/transaction-record.js';

/** Schemas of the operator API's answers, in OpenAPI notation. A test checks real answers against them. */
export const text = { type: 'string' };
const amount = { type: 'number', description: 'In whole currency, exact to its last decimal.' };
const reason = { type: 'string', minLength: 1, maxLength: REASON_LENGTH_MAX };
export const count = { type: 'integer', minimum: 0 };
const millis = { type: 'integer', minimum: 0, description: 'Milliseconds since 1970.' };
export const cursor = { type: ['string', 'null'], description: '`before` of the next page; null: there is none.' };
const currency = { type: 'string', pattern: CURRENCY.source };

type Properties = Readonly<Record<string, object>>;

/** Object with exactly these properties, of which only the optional ones may be absent. */
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
  openSince: { enum: OPEN_SINCE, description: 'It was closed, and is open once more since this came.' },
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
  oneOf: [exactly({ name: text, address: text }), { type: 'null', description: 'It was before operators had names.' }],
};
const decidedBy = {
  ...exactly({ name: text, address: text }),
  description: 'The other operator, who approved or refused it.',
};

/** Period that the ledger totals cover. */
export const ledgerScope = {
  sinceMillis: {
    oneOf: [millis, { type: 'null', description: 'From the first entry of all.' }],
    description: 'What was before is lacking: the store is older than what counts here.',
  },
  isWhole: { type: 'boolean', description: 'False: there are more currencies or products than are counted.' },
  shardsLeftOut: { ...count, description: 'Shards that did not answer.' },
};

/** Progress and final lines of a search. */
const searchEnds = [
  exactly({ type: { const: 'progress' }, done: { type: 'number', minimum: 0, maximum: 1 } }),
  exactly({
    type: { const: 'end' },
    isCut: { type: 'boolean', description: 'There were more hits.' },
    notes: { ...list(text), description: 'What cannot be known, in sentences.' },
  }),
  exactly({ type: { const: 'failed' }, reason: text, done: { type: 'number', minimum: 0, maximum: 1 } }),
];

export const operatorSchemas = {
  Problem: exactly({ type: text, title: text, status: { type: 'integer' }, detail: text, code: text }),
  Player: exactly({
    ...player,
    openBets: { ...count, description: 'Bets that are OPEN or WAITING.' },
    openStakes: { ...amount, description: 'The sum of their stakes, in whole currency, exact to its last decimal.' },
    session: {
      oneOf: [
        exactly({
          endMillis: {
            oneOf: [millis, { type: 'null', description: 'It does not end by itself.' }],
          },
        }),
        { type: 'null', description: 'There is none.' },
      ],
      description: 'What was set last, though its end may have come.',
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
      amount: { ...amount, description: 'Above 0 gives, below 0 takes.' },
      allowNegativeBalance: { type: 'boolean' },
      requestedMillis: millis,
      expiresMillis: millis,
      by: operator,
    },
    { reason },
  ),
  DecidedApproval: exactly(
    { id: text, username: text, currency, operation: { $ref: '#/components/schemas/Operation' } },
    { repeated: { const: true, description: 'It had been decided the same way before.' } },
  ),
  Transaction: exactly(transaction, optionalOfTransaction),
  Round: exactly({
    productId: text,
    roundId: text,
    transactions: list({ $ref: '#/components/schemas/Transaction' }),
    messages: {
      ...list({ $ref: '#/components/schemas/Message' }),
      description: 'Oldest first. What was about all of a round is told on each page that has transactions of it.',
    },
    isCut: {
      type: 'boolean',
      description: 'A transaction has more messages than a page has room for: these are the newest.',
    },
  }),
  Message: exactly(
    {
      type: { enum: ['place', 'settle', 'adjust', 'void', 'cancel', 'rollback'] },
      kind: { enum: [...transaction.kind.enum, 'round'], description: 'Of what it was about.' },
      version: { ...count, description: 'The version of the player that it made: one for all messages of a request.' },
      balanceBefore: amount,
      balanceAfter: amount,
      isWaiting: { type: 'boolean', description: 'A bet that was placed with WAITING.' },
      movesNothing: { type: 'boolean', description: 'It was told to move no money.' },
    },
    {
      id: { type: 'string', description: 'Of the transaction, or of the message about the round.' },
      requestId: { type: 'string', description: 'Of adjustments and rollbacks; of others it is in the log alone.' },
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
          what: { type: 'string', description: 'The kind of the transaction, or the type of message or operation.' },
        },
        {
          productId: text,
          roundId: text,
          id: { type: 'string', description: 'Of the transaction or operation.' },
          state: { type: 'string', description: 'Of the transaction; `open` or `closed` of a round.' },
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
    { lsn, reason: text },
  ),
  Cluster: exactly({
    name: { type: 'string', description: 'The node that answers.' },
    seesTable: {
      type: 'boolean',
      description: 'False: the table has not answered for 5 s, and this is how things were.',
    },
    nodes: list({ $ref: '#/components/schemas/ClusterNode' }),
    shards: list({ $ref: '#/components/schemas/ClusterShard' }),
    plan: {
      oneOf: [exactly({ why: text, by: text, format: count }), { type: 'null', description: 'There is none yet.' }],
    },
  }),
  ClusterNode: exactly({
    name: text,
    tag: { type: 'string', pattern: '^[0-9a-f]{8}$', description: 'The process; begins each nonce of its fences.' },
    host: text,
    port: count,
    zone: text,
    version: text,
    state: { enum: ['up', 'draining', 'leaving', 'gone'] },
    isThis: { type: 'boolean' },
    isLinked: { type: 'boolean' },
    isFull: { type: 'boolean', description: 'It has no memory for another shard, or had none a while ago.' },
    shards: { ...count, description: 'How many it serves.' },
  }),
  ClusterShard: exactly({
    shard,
    owner: { type: ['string', 'null'], description: 'Who serves it; null: nobody is known to.' },
    planned: { type: ['string', 'null'], description: 'Who is to serve it; null: nobody can.' },
    followers: list(text),
    lsn: { type: ['string', 'null'], description: 'The newest entry that any node may have told of.' },
  }),
  ClusterMove: exactly({
    shard,
    from: { type: ['string', 'null'], description: 'Null: nobody was seen to have it.' },
    to: text,
    epoch: count,
    timeMillis: millis,
    tookMs: { type: ['integer', 'null'], minimum: 0, description: 'Since the plan wanted it there.' },
    why: { type: ['string', 'null'], description: 'What made that plan; null: none was seen.' },
    by: { type: ['string', 'null'], description: 'Who made it: a node, or an operator.' },
  }),
  KeptSnapshot: exactly(
    {
      shard,
      id: text,
      state: { enum: ['whole', 'damaged', 'unfinished'], description: 'Of its manifest: chunks are not read.' },
    },
    {
      reason: text,
      start: { ...lsn, description: 'Replay begins with the entry after it.' },
      end: { ...lsn, description: 'It holds nothing of the log after it.' },
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
    credited: { ...amount, description: 'What players got.' },
    debited: { ...amount, description: 'What was taken from them.' },
    net: { ...amount, description: 'The one less the other.' },
  }),
  Product: exactly({
    productId: text,
    lastSeenMillis: millis,
    changes: {
      type: 'object',
      properties: Object.fromEntries(LEDGER_KINDS.map((kind) => [kind, count])),
      additionalProperties: false,
      description: 'How many bets, settlements and so on had an effect, by their kind in the books.',
    },
  }),
  Verification: exactly({
    running: {
      oneOf: [
        exactly({ ...verifyBegun, done: count, total: { ...count, description: 'Of log entries; 0: not known yet.' } }),
        { type: 'null', description: 'Nothing runs.' },
      ],
    },
    last: {
      oneOf: [
        exactly({
          ...verifyBegun,
          endedMillis: millis,
          failure: { type: ['string', 'null'], description: 'Why it could not be done, for people.' },
          report: {
            oneOf: [
              { $ref: '#/components/schemas/VerifyReport' },
              { type: 'null', description: 'It could not be done.' },
            ],
          },
        }),
        { type: 'null', description: 'None has been done since this node started.' },
      ],
    },
  }),
  VerifyReport: exactly({
    entries: count,
    events: count,
    players: count,
    snapshots: count,
    compared: { ...count, description: 'Players whose balance in the log was compared with the one that is served.' },
    movedOn: { ...count, description: 'Players who had played on meanwhile.' },
    accepted: list({ type: 'string', description: 'A loss that was accepted.' }),
    books: {
      ...list(exactly({ currency, players: count, ...bookLines })),
      description: 'From the side of players: stakes are below 0. The first 200 currencies.',
    },
    currencies: count,
    found: { ...count, description: 'How many things are wrong.' },
    findings: {
      ...list(exactly({ type: text, message: text })),
      description: 'The first ones of each type, in a sentence.',
    },
  }),
  Setting: exactly({
    setting: text,
    value: { description: 'As JSON has it; null: unset. `(hidden)` stands for a secret.' },
    from: { type: 'string', description: '`default`, or the environment variable or file that it comes from.' },
    meaning: text,
  }),
  ImportLine: {
    oneOf: [
      exactly({ line: count, id: text, username: text, result: { enum: ['created', 'skipped'] } }),
      exactly({ line: count, result: { const: 'refused' }, reason: text }, { id: text, username: text }),
      exactly(
        { created: count, skipped: count, refused: count },
        {
          lines: { ...count, description: 'Where not all came: so many lines of what was sent have been carried out.' },
          cut: { type: 'string', description: 'Why no more lines were carried out.' },
        },
      ),
    ],
  },
};
