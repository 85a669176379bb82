import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ScanCursor, TransactionCursor, TransactionView } from '../wallet/query.js';
import type { TransactionState } from '../wallet/state/transaction-record.js';
import type { AdminDeps } from './admin-deps.js';
import { cursorOf, encodeCursor, isCount, isObject, limitOf } from './cursor.js';
import { money } from './money.js';
import { badRequest, noSuchPlayer, Problem, problemOf } from './problem.js';
import { type QueryString, wholeNumber } from './query-string.js';

const STATES: readonly string[] = ['OPEN', 'WAITING', 'SETTLED', 'VOID', 'REFUND', 'REJECT'];
/** Each goes through all players, between the callbacks. */
const SCANS_MAX = 4;

/** Reading transactions, of one player or over all of them, page by page. A scan ends when its answer is not wanted. */
export function transactionRoutes(
  app: FastifyInstance,
  deps: AdminDeps,
  isWanted: (request: FastifyRequest) => boolean,
): void {
  const { service, settings, clock } = deps;
  let scans = 0;

  app.get<{ Params: { username: string }; Querystring: QueryString }>(
    '/v1/players/:username/transactions',
    async (request) => {
      const { username } = request.params;
      const result = await service.ask({
        type: 'list-transactions',
        username,
        limit: limitOf(request.query),
        after: cursorOf(request.query, isPlayerCursor),
      });
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'transactions' || result.page === undefined) throw noSuchPlayer(username);
      const { items, next } = result.page;
      return { transactions: items.map(body), next: next === undefined ? null : encodeCursor(next) };
    },
  );

  /** Bets that hang: by default those that are OPEN, however old. */
  app.get<{ Querystring: QueryString }>('/v1/transactions', async (request) => {
    const state = stateOf(request.query);
    const createdBeforeMs = clock.now() - wholeNumber(request.query, 'olderThanMs', 0, Number.MAX_SAFE_INTEGER, 0);
    const limit = limitOf(request.query);
    const cursor = cursorOf(request.query, isShardCursor) ?? { shard: 0 };
    if (scans >= SCANS_MAX) throw new Problem(503, `${SCANS_MAX} scans are under way: come again`, 'overloaded');
    scans++;
    try {
      return await scan({ state, createdBeforeMs, limit }, cursor, () => isWanted(request));
    } finally {
      scans--;
    }
  });

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
          transactions.push({ username: item.username, currency: item.currency, ...body(item) });
        place = result.next;
        if (transactions.length === what.limit && (place !== undefined || shard + 1 < service.shardCount)) {
          const next = place === undefined ? { shard: shard + 1 } : { shard, after: place };
          return { transactions, next: encodeCursor(next) };
        }
      } while (place !== undefined);
    }
    return { transactions, next: null };
  }

  function body(item: TransactionView): object {
    const amount = (units: number | undefined) =>
      units === undefined ? undefined : money(settings.scales, item.currency, units);
    return {
      kind: item.kind,
      id: item.id,
      productId: item.productId,
      roundId: item.roundId,
      state: item.state,
      betAmount: amount(item.betAmount),
      payoutAmount: amount(item.payoutAmount),
      held: amount(item.held),
      paid: amount(item.paid),
      createdMillis: item.createdMs,
      updatedMillis: item.updatedMs,
    };
  }
}

interface Scan {
  readonly state: TransactionState;
  readonly createdBeforeMs: number;
  readonly limit: number;
}

interface ShardCursor {
  readonly shard: number;
  readonly after?: ScanCursor;
}

function stateOf(query: QueryString): TransactionState {
  const state = query.state ?? 'OPEN';
  if (typeof state !== 'string' || !STATES.includes(state))
    throw badRequest(`state must be one of ${STATES.join(', ')}`);
  return state as TransactionState;
}

function isPlayerCursor(value: unknown): value is TransactionCursor {
  return isObject(value) && isCount(value.version) && isCount(value.shown);
}

function isShardCursor(value: unknown): value is ShardCursor {
  if (!isObject(value) || !isCount(value.shard)) return false;
  const after = value.after;
  if (after === undefined) return true;
  return isObject(after) && isCount(after.position) && (after.within === undefined || isPlayerCursor(after.within));
}
