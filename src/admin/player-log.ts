import type { FastifyRequest } from 'fastify';
import { object } from '../base/json-schema.js';
import type { AdminDeps } from './admin-deps.js';
import { id, wholeNumber } from './fields.js';
import { answer } from './openapi.js';
import { type Route, route } from './route.js';
import { ref } from './schemas.js';
import { mustBegin, SHUTTING_DOWN, sendLines } from './search-stream.js';
import type { SearchLine } from './store-searcher.js';

const EVENTS_MAX = 10_000;
const VERSION_MAX = 2 ** 32 - 1;

/** A route for the details of a player's events that only the log contains: request IDs, times and positions. */
export function playerLogRoute(
  { searcher, log }: AdminDeps,
  isWanted: (request: FastifyRequest['raw']) => boolean,
): Route {
  return route('GET', '/v1/players/{username}/log', {
    operationId: 'readPlayerLog',
    tag: 'transactions',
    summary: "A player's events from the log of the player's shard, oldest first, with the ids of their requests",
    params: object({ username: id }),
    query: object({}, { from: wholeNumber(0, VERSION_MAX, 0, 'Leaves out events with a lower version.') }),
    responses: {
      200: answer(
        `Events as they are read, at most ${EVENTS_MAX}; the progress, at least once a second; and finally the result`,
        ref('LogLine'),
        'application/x-ndjson',
      ),
    },
    problems: [400, 409],
    isStream: true,
    handle: async ({ params: { username }, query: { from: fromVersion = 0 }, raw }, reply) => {
      if (!isWanted(raw)) throw SHUTTING_DOWN;
      const search = mustBegin(searcher, { in: 'player', username, fromVersion, hitsMax: EVENTS_MAX });
      return sendLines(reply, search, bodyOf, log);
    },
  });
}

function bodyOf(line: SearchLine): object {
  if (line.type !== 'event') return line;
  const { timeMs: timeMillis, ...event } = line;
  return { ...event, timeMillis };
}
