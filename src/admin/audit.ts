import type { FastifyRequest } from 'fastify';
import { choice, object, string } from '../base/json-schema.js';
import type { AuditPlace } from '../wallet/queries/scan-operations.js';
import { OPERATION_TYPES } from '../wallet/state/operation.js';
import type { AdminDeps } from './admin-deps.js';
import { atOnce } from './at-once.js';
import { cursorOf, encodeCursor, isCount, isObject } from './cursor.js';
import { before, id, page, wholeNumber } from './fields.js';
import { listOperations } from './known-operations.js';
import { answer } from './openapi.js';
import { operationBody } from './operations.js';
import { type Route, route } from './route.js';
import { cursor, exactly, list, ref } from './schemas.js';

/** Limits concurrent scans, because each one visits all players. */
const SCANS_MAX = 2;
const NAME_LENGTH_MAX = 64;
const FOREVER = Number.MAX_SAFE_INTEGER;

/** A route for operator actions on all players. A scan ends when its client disconnects. */
export function auditRoute(
  { service, settings }: AdminDeps,
  isWanted: (request: FastifyRequest['raw']) => boolean,
): Route {
  const inTurn = atOnce(SCANS_MAX, 'audits');
  return route('GET', '/v1/operations', {
    operationId: 'auditOperations',
    tag: 'players',
    summary: 'Operations on all players: operator, time, address and reason; newest first',
    query: object(
      {},
      {
        by: string({
          codePoints: [1, NAME_LENGTH_MAX],
          description: 'Name of the operator.',
          message: 'must be the name of an operator',
        }),
        type: choice(OPERATION_TYPES, {
          description: 'Type of the operation.',
          message: `must be one of ${OPERATION_TYPES.join(', ')}`,
        }),
        username: id,
        fromMillis: wholeNumber(0, FOREVER, 0, 'Only operations at or after this time.'),
        beforeMillis: wholeNumber(0, FOREVER, FOREVER, 'Only operations before this time.'),
        ...page,
        before,
      },
    ),
    responses: { 200: answer('A page', exactly({ operations: list(ref('PlayerOperation')), next: cursor })) },
    problems: [400],
    handle: async ({ query, raw }, reply) => {
      const { by, type, username, fromMillis: fromMs = 0, beforeMillis: beforeMs = FOREVER, limit = 0 } = query;
      const after = cursorOf(query.before, isPlace);
      return await inTurn(async () => {
        // With many players, the scan may take long. This listener keeps Node from closing the silent connection.
        reply.raw.on('timeout', () => {});
        const wanted = { by, type, username, fromMs, beforeMs };
        const { items, next } = await listOperations(service, wanted, after, limit, () => isWanted(raw));
        const operations = items.map(({ place, currency, operation }) => ({
          username: place.username,
          currency,
          ...operationBody(settings.scales, operation, currency),
        }));
        return { operations, next: next === undefined ? null : encodeCursor(next) };
      });
    },
  });
}

export function isPlace(value: unknown): value is AuditPlace {
  return isObject(value) && isCount(value.timeMs) && typeof value.username === 'string' && isCount(value.nth);
}
