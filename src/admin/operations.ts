import { object } from '../base/json-schema.js';
import type { ScaleTable } from '../wallet/amount.js';
import type { OperationCursor, OperationView } from '../wallet/queries/list-operations.js';
import type { AdminDeps } from './admin-deps.js';
import { cursorOf, encodeCursor, isCount, isObject } from './cursor.js';
import { before, id, page } from './fields.js';
import { money } from './money.js';
import { answer } from './openapi.js';
import { noSuchPlayer, problemOf } from './problem.js';
import { type Route, route } from './route.js';
import { cursor, exactly, list, ref } from './schemas.js';

/** A route for a player's audit trail, page by page. */
export function operationsRoute({ service, settings }: AdminDeps): Route {
  return route('GET', '/v1/players/{username}/operations', {
    operationId: 'listOperations',
    tag: 'players',
    summary: 'Operations on a player: operator, time, address and reason; newest first',
    params: object({ username: id }),
    query: object({}, { ...page, before }),
    responses: { 200: answer('A page', exactly({ operations: list(ref('Operation')), next: cursor })) },
    problems: [400, 404],
    handle: async ({ params: { username }, query: { limit = 0, before } }) => {
      const after = cursorOf(before, isOperationCursor);
      const result = await service.ask({ type: 'list-operations', username, limit, after });
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'operations' || result.page === undefined) throw noSuchPlayer(username);
      const { currency, items, next } = result.page;
      const operations = items.map((item) => operationBody(settings.scales, item, currency));
      return { operations, next: next === undefined ? null : encodeCursor(next) };
    },
  });
}

/** JSON with amounts in whole currency units. */
export function operationBody(scales: ScaleTable, operation: OperationView, currency: string): object {
  const { type, id, amount, before, after, timeMs, by, reason, approver } = operation;
  const inCurrency = (units: number | undefined) => (units === undefined ? undefined : money(scales, currency, units));
  return {
    type,
    id,
    amount: inCurrency(amount),
    balanceBefore: inCurrency(before),
    balanceAfter: inCurrency(after),
    reason,
    timeMillis: timeMs,
    by: by ?? null,
    ...(approver && { decidedBy: approver }),
  };
}

function isOperationCursor(value: unknown): value is OperationCursor {
  return isObject(value) && isCount(value.timeMs) && isCount(value.shown);
}
