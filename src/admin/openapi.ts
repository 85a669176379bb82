import { CURRENCY } from '../base/currency.js';
import { ID_LENGTH_MAX, REASON_LENGTH_MAX } from '../wallet/identifier.js';

/*
 * The operator API in OpenAPI's words, written by hand: its routes check what they get in code. A test compares it
 * with the routes and with real answers.
 */
const text = { type: 'string' };
const id = { type: 'string', minLength: 1, maxLength: ID_LENGTH_MAX };
const amount = { type: 'number', description: 'In whole currency, exact to its last decimal.' };
const reason = { type: 'string', minLength: 1, maxLength: REASON_LENGTH_MAX };
const count = { type: 'integer', minimum: 0 };
const millis = { type: 'integer', minimum: 0, description: 'Milliseconds since 1970.' };
const cursor = { type: ['string', 'null'], description: '`before` of the next page; null: there is none.' };
const currency = { type: 'string', pattern: CURRENCY.source };
const STATES = ['OPEN', 'WAITING', 'SETTLED', 'VOID', 'REFUND', 'REJECT'];

type Properties = Readonly<Record<string, object>>;

/** Every property is there, but for the optional ones; and no other. */
function object(properties: Properties, optional: Properties = {}): object {
  return {
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
    additionalProperties: false,
  };
}

const list = (items: object) => ({ type: 'array', items });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const transaction = {
  kind: { enum: ['bet', 'settlement', 'tip', 'tombstone', 'mark'] },
  id: text,
  productId: text,
  roundId: text,
  state: { enum: STATES },
  held: amount,
  paid: amount,
  createdMillis: millis,
  updatedMillis: millis,
};
const shard = { type: 'integer', minimum: 0 };
const lsn = { type: 'string', pattern: '^\\d+-\\d+$', description: 'epoch-sequence' };

export const operatorSchemas = {
  Problem: object({ type: text, title: text, status: { type: 'integer' }, detail: text, code: text }),
  Player: object({ username: text, currency, balance: amount, status: { enum: ['active', 'blocked'] } }),
  Movement: object({ id: text, username: text, currency, amount, balanceBefore: amount, balanceAfter: amount }),
  Correction: object({
    id: text,
    username: text,
    currency,
    amount,
    balanceBefore: amount,
    balanceAfter: amount,
    reason,
  }),
  Operation: object(
    {
      type: { enum: ['create', 'import', 'deposit', 'withdrawal', 'correction', 'block', 'unblock'] },
      timeMillis: millis,
      by: {
        oneOf: [
          object({ name: text, address: text }),
          { type: 'null', description: 'It was before operators had names.' },
        ],
      },
    },
    { id: text, amount, balanceBefore: amount, balanceAfter: amount, reason },
  ),
  Transaction: object(transaction, { betAmount: amount, payoutAmount: amount }),
  PlayerTransaction: object({ username: text, currency, ...transaction }, { betAmount: amount, payoutAmount: amount }),
  Shard: object(
    {
      shard,
      state: { enum: ['starting', 'serving', 'failing', 'fenced', 'stopped'] },
      players: count,
      waiting: count,
    },
    { lsn, reason: text },
  ),
  Snapshot: {
    oneOf: [
      object({
        type: { const: 'taken' },
        shard,
        id: { type: 'string', pattern: '^[0-9a-f]{16}$' },
        lsn,
        players: count,
        bytes: count,
        tookMs: count,
      }),
      object({ type: { const: 'unchanged' }, shard }),
      object({ type: { const: 'abandoned' }, shard, reason: text }),
    ],
  },
  ImportLine: {
    oneOf: [
      object({ line: count, id: text, username: text, result: { enum: ['created', 'skipped'] } }),
      object({ line: count, result: { const: 'refused' }, reason: text }, { id: text, username: text }),
      object({ created: count, skipped: count, refused: count }),
    ],
  },
};

const json = (description: string, schema: object) => ({ description, content: { 'application/json': { schema } } });
const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ref('Problem') } },
});
const body = (schema: object) => ({ required: true, content: { 'application/json': { schema } } });

const PROBLEMS: Readonly<Record<number, object>> = {
  400: problem('The request is not valid'),
  401: problem('The token is missing or wrong'),
  403: problem('The token has the role read, which may only GET'),
  404: problem('There is no such thing'),
  409: problem('It contradicts what is there'),
  413: problem('The body is too large'),
  415: problem('Content-Type is not one that is read'),
  500: problem('A fault of ours'),
  503: problem('Not now: it may be repeated'),
};

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<number, object>>;
}

/** An operation with its problems: those that every one can have, and `own`. */
function operation(operationId: string, tag: string, { responses, ...rest }: Operation, own: number[] = []): object {
  const all = [401, 500, 503, ...own].filter((status) => !(status in responses));
  const problems = Object.fromEntries(all.map((status) => [status, PROBLEMS[status] as object]));
  return { operationId, tags: [tag], ...rest, responses: { ...responses, ...problems } };
}

const username = { name: 'username', in: 'path', required: true, schema: id };
const query = (name: string, schema: object, description: string) => ({ name, in: 'query', schema, description });
const limit = (most: number, absent: number) =>
  query('limit', { type: 'integer', minimum: 1, maximum: most, default: absent }, 'How many at the most.');
const before = query('before', text, '`next` of the page before.');

const movement = (operationId: string, summary: string) => ({
  post: operation(
    operationId,
    'players',
    {
      summary,
      parameters: [username],
      requestBody: body(object({ id, amount: { ...amount, exclusiveMinimum: 0 } })),
      responses: { 200: json('Done, now or by an earlier request with this id', ref('Movement')) },
    },
    [400, 403, 404, 409, 413, 415],
  ),
});

const blocking = (operationId: string, summary: string) => ({
  post: operation(
    operationId,
    'players',
    { summary, parameters: [username], responses: { 200: json('The player', ref('Player')) } },
    [400, 403, 404, 413, 415],
  ),
});

const health = (operationId: string, summary: string, responses: Readonly<Record<number, object>>) => ({
  get: { operationId, tags: ['health'], summary, security: [], responses },
});

const readiness = (status: string) => object({ status: { const: status }, shards: list(ref('Shard')) });

export const operatorPaths: Readonly<Record<string, object>> = {
  '/v1/players/{username}': {
    put: operation(
      'createPlayer',
      'players',
      {
        summary: 'Creates a player',
        parameters: [username],
        requestBody: body(object({ currency })),
        responses: {
          200: json('The player was there already', ref('Player')),
          201: json('Created', ref('Player')),
        },
      },
      [400, 403, 404, 409, 413, 415],
    ),
    get: operation(
      'readPlayer',
      'players',
      { summary: 'Reads a player', parameters: [username], responses: { 200: json('The player', ref('Player')) } },
      [400, 404],
    ),
  },
  '/v1/players/{username}/deposits': movement('deposit', 'Gives money to a player'),
  '/v1/players/{username}/withdrawals': movement('withdraw', 'Takes money from a player'),
  '/v1/players/{username}/corrections': {
    post: operation(
      'correct',
      'players',
      {
        summary: 'Corrects a balance by an amount of either sign, for a reason',
        parameters: [username],
        requestBody: body(
          object({ id, amount, reason }, { allowNegativeBalance: { type: 'boolean', default: false } }),
        ),
        responses: { 200: json('Done, now or by an earlier request with this id', ref('Correction')) },
      },
      [400, 403, 404, 409, 413, 415],
    ),
  },
  '/v1/players/{username}/operations': {
    get: operation(
      'listOperations',
      'players',
      {
        summary: 'What operators did to a player: who, when, from where and why; newest first',
        parameters: [username, limit(1000, 50), before],
        responses: { 200: json('A page', object({ operations: list(ref('Operation')), next: cursor })) },
      },
      [400, 404],
    ),
  },
  '/v1/players/{username}/block': blocking('blockPlayer', 'Refuses bets of a player'),
  '/v1/players/{username}/unblock': blocking('unblockPlayer', 'Takes bets of a player again'),
  '/v1/players/{username}/transactions': {
    get: operation(
      'listTransactions',
      'transactions',
      {
        summary: "A player's transactions, newest first",
        parameters: [username, limit(1000, 50), before],
        responses: { 200: json('A page', object({ transactions: list(ref('Transaction')), next: cursor })) },
      },
      [400, 404],
    ),
  },
  '/v1/transactions': {
    get: operation(
      'findTransactions',
      'transactions',
      {
        summary: 'Bets that hang, over all players',
        parameters: [
          query('state', { enum: STATES, default: 'OPEN' }, 'The state that they are in.'),
          query('olderThanMs', { type: 'integer', minimum: 0, default: 0 }, 'Created at least so long ago.'),
          limit(1000, 50),
          before,
        ],
        responses: { 200: json('A page', object({ transactions: list(ref('PlayerTransaction')), next: cursor })) },
      },
      [400],
    ),
  },
  '/v1/players:import': {
    post: operation(
      'importPlayers',
      'players',
      {
        summary: 'Creates players with their opening balances, a line of JSON each',
        requestBody: {
          required: true,
          content: {
            'application/x-ndjson': { schema: object({ id, username: id, currency, balance: amount }) },
          },
        },
        responses: {
          200: {
            description: 'A line for each line, then one with the sums',
            content: { 'application/x-ndjson': { schema: ref('ImportLine') } },
          },
        },
      },
      [400, 403, 413, 415],
    ),
  },
  '/v1/shards/{shard}/players': {
    get: operation(
      'listShardPlayers',
      'players',
      {
        summary: 'All players of a shard with version and balance, in the order of their creation',
        parameters: [
          { name: 'shard', in: 'path', required: true, schema: shard },
          query('after', { type: 'integer', minimum: 0, default: 0 }, '`next` of the page before.'),
          limit(500, 500),
        ],
        responses: {
          200: json(
            'A page',
            object({
              storeId: text,
              players: list(object({ username: text, currency, version: count, balance: amount })),
              next: { type: ['integer', 'null'] },
            }),
          ),
        },
      },
      [400, 404],
    ),
  },
  '/v1/snapshots': {
    post: operation(
      'takeSnapshots',
      'operations',
      {
        summary: 'Takes a snapshot of each shard that has changed',
        responses: { 200: json('They are there', object({ snapshots: list(ref('Snapshot')) })) },
      },
      [400, 403, 413, 415],
    ),
  },
  '/metrics': {
    get: operation('scrape', 'operations', {
      summary: 'Metrics in the text format of Prometheus, version 0.0.4',
      responses: { 200: { description: 'Metrics', content: { 'text/plain': { schema: text } } } },
    }),
  },
  '/openapi.json': {
    get: operation('describe', 'operations', {
      summary: 'This document',
      responses: { 200: json('An OpenAPI document', { type: 'object', required: ['openapi'] }) },
    }),
  },
  '/livez': health('isLive', 'Whether the process runs', { 200: json('It does', object({ status: { const: 'ok' } })) }),
  '/readyz': health('isReady', 'Whether the start is over', {
    200: json('Every shard has recovered once', readiness('ready')),
    503: json('Not yet', readiness('starting')),
  }),
};
