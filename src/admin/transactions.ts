import type { FastifyRequest } from 'fastify';
import { object } from '../base/json-schema.js';
import type { ScaleTable } from '../wallet/amount.js';
import type { OpenSince, ScanCursor, TransactionCursor, TransactionView } from '../wallet/query.js';
import { TRANSACTION_STATES, type TransactionState } from '../wallet/state/transaction-record.js';
import type { AdminDeps } from './admin-deps.js';
import { atOnce } from './at-once.js';
import { cursorOf, encodeCursor, isCount, isObject } from './cursor.js';
import { before, id, oneOf, openSince, page, wholeNumber } from './fields.js';
import { money } from './money.js';
import { answer } from './openapi.js';
import { noSuchPlayer, Problem, problemOf } from './problem.js';
import { type Route, route } from './route.js';
import { cursor as cursorSchema, exactly, list, ref } from './schemas.js';

/** Limits concurrent scans, because each one visits all players. */
const SCANS_MAX = 4;

/**
 * Routes that list transactions, of one player or of all players, page by page. A scan ends when its client
 * disconnects.
 */
export function transactionRoutes(
  { service, settings, clock }: AdminDeps,
  isWanted: (request: FastifyRequest['raw']) => boolean,
): Route[] {
  const inTurn = atOnce(SCANS_MAX, 'scans');

  const ofPlayer = route('GET', '/v1/players/{username}/transactions', {
    operationId: 'listTransactions',
    tag: 'transactions',
    summary: "A player's transactions, newest first",
    params: object({ username: id }),
    query: object({}, { ...page, before }),
    responses: { 200: answer('A page', exactly({ transactions: list(ref('Transaction')), next: cursorSchema })) },
    problems: [400, 404],
    handle: async ({ params: { username }, query: { limit = 0, before } }) => {
      const after = cursorOf(before, isPlayerCursor);
      const result = await service.ask({ type: 'list-transactions', username, limit, after });
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'transactions' || result.page === undefined) throw noSuchPlayer(username);
      const { items, next } = result.page;
      return {
        transactions: items.map((item) => transactionBody(settings.scales, item)),
        next: next === undefined ? null : encodeCursor(next),
      };
    },
  });

  const stuck = route('GET', '/v1/transactions', {
    operationId: 'findTransactions',
    tag: 'transactions',
    summary: 'Hanging bets of all players',
    query: object(
      {},
      {
        state: oneOf(TRANSACTION_STATES, 'OPEN', 'State of the bets.'),
        olderThanMs: wholeNumber(
          0,
          Number.MAX_SAFE_INTEGER,
          0,
          'Minimum age in milliseconds, counted from the creation of the bet, or from the last change if a rollback reopened it.',
        ),
        openSince,
        productId: id,
        ...page,
        before,
      },
    ),
    responses: { 200: answer('A page', exactly({ transactions: list(ref('PlayerTransaction')), next: cursorSchema })) },
    problems: [400],
    handle: async ({ query: { state = 'OPEN', olderThanMs = 0, openSince, productId, limit = 0, before }, raw }) => {
      const createdBeforeMs = clock.now() - olderThanMs;
      const cursor = cursorOf(before, isShardCursor) ?? { shard: 0 };
      return await inTurn(() =>
        scan({ state, createdBeforeMs, openSince, productId, limit }, cursor, () => isWanted(raw)),
      );
    },
  });

  return [ofPlayer, stuck];

  async function scan(what: Scan, { shard: first, after }: ShardCursor, isWanted: () => boolean): Promise<object> {
    const transactions: object[] = [];
    let place = after;
    for (let shard = first; shard < service.shardCount; shard++) {
      do {
        if (!isWanted()) throw new Problem(503, 'the server is shutting down', 'shutting-down');
        const limit = what.limit - transactions.length;
        const result = await service.askShard(shard, { type: 'scan-transactions', ...what, limit, after: place });
        if (result.type === 'failed') throw problemOf(result.failure);
        if (result.type !== 'scan') throw new Error('a scan answers a scan');
        for (const item of result.items)
          transactions.push({
            username: item.username,
            currency: item.currency,
            ...transactionBody(settings.scales, item),
          });
        place = result.next;
        if (transactions.length === what.limit && (place !== undefined || shard + 1 < service.shardCount)) {
          const next = place === undefined ? { shard: shard + 1 } : { shard, after: place };
          return { transactions, next: encodeCursor(next) };
        }
      } while (place !== undefined);
    }
    return { transactions, next: null };
  }
}

/** Converts a transaction to the API's format. */
export function transactionBody(scales: ScaleTable, item: TransactionView): object {
  const amount = (units: number | undefined) => (units === undefined ? undefined : money(scales, item.currency, units));
  return {
    kind: item.kind,
    id: item.id,
    productId: item.productId,
    roundId: item.roundId,
    state: item.state,
    openSince: item.openSince,
    betAmount: amount(item.betAmount),
    payoutAmount: amount(item.payoutAmount),
    held: amount(item.held),
    paid: amount(item.paid),
    createdMillis: item.createdMs,
    updatedMillis: item.updatedMs,
  };
}

interface Scan {
  readonly state: TransactionState;
  readonly createdBeforeMs: number;
  readonly openSince: OpenSince | undefined;
  readonly productId: string | undefined;
  readonly limit: number;
}

interface ShardCursor {
  readonly shard: number;
  readonly after?: ScanCursor;
}

export function isPlayerCursor(value: unknown): value is TransactionCursor {
  return isObject(value) && isCount(value.version) && isCount(value.shown);
}

function isShardCursor(value: unknown): value is ShardCursor {
  if (!isObject(value) || !isCount(value.shard)) return false;
  const after = value.after;
  if (after === undefined) return true;
  return isObject(after) && isCount(after.position) && (after.within === undefined || isPlayerCursor(after.within));
}
