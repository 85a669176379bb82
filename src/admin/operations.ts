import type { FastifyInstance } from 'fastify';
import type { OperationCursor, OperationView } from '../wallet/list-operations.js';
import type { AdminDeps } from './admin-deps.js';
import { cursorOf, encodeCursor, isCount, isObject, limitOf } from './cursor.js';
import { money } from './money.js';
import { noSuchPlayer, problemOf } from './problem.js';
import type { QueryString } from './query-string.js';

/** The audit trail of a player: what operators did, who, when, from where and why; newest first, page by page. */
export function operationsRoute(app: FastifyInstance, { service, settings }: AdminDeps): void {
  app.get<{ Params: { username: string }; Querystring: QueryString }>(
    '/v1/players/:username/operations',
    async (request) => {
      const { username } = request.params;
      const result = await service.ask({
        type: 'list-operations',
        username,
        limit: limitOf(request.query),
        after: cursorOf(request.query, isOperationCursor),
      });
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'operations' || result.page === undefined) throw noSuchPlayer(username);
      const { currency, items, next } = result.page;
      const operations = items.map((item) => body(item, currency));
      return { operations, next: next === undefined ? null : encodeCursor(next) };
    },
  );

  function body({ type, id, amount, before, after, timeMs, by, reason }: OperationView, currency: string): object {
    const inCurrency = (units: number | undefined) =>
      units === undefined ? undefined : money(settings.scales, currency, units);
    return {
      type,
      id,
      amount: inCurrency(amount),
      balanceBefore: inCurrency(before),
      balanceAfter: inCurrency(after),
      reason,
      timeMillis: timeMs,
      by: by ?? null,
    };
  }
}

function isOperationCursor(value: unknown): value is OperationCursor {
  return isObject(value) && isCount(value.timeMs) && isCount(value.shown);
}
