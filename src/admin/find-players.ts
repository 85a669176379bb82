import type { FastifyRequest } from 'fastify';
import { object, string } from '../base/json-schema.js';
import type { AdminDeps } from './admin-deps.js';
import { atOnce } from './at-once.js';
import { cursorOf, encodeCursor, isCount, isObject } from './cursor.js';
import { page } from './fields.js';
import { answer } from './openapi.js';
import { playerBody } from './player-body.js';
import { Problem, problemOf } from './problem.js';
import { type Route, route } from './route.js';
import { exactly, list, ref } from './schemas.js';

/**
 * Maximum number of turns per request. Each turn examines up to 10,000 names. All turns together take at most 0.1 s of
 * the shards' time, between callbacks.
 */
const TURNS_MAX = 100;
const SEARCHES_MAX = 4;
const PREFIX_LENGTH_MAX = 1024;

/** The position of the next player to examine. */
interface Place {
  readonly shard: number;
  readonly from: number;
}

/**
 * Finds players by name prefix, shard by shard in creation order. This order needs no index and no memory, and a
 * position in it stays valid while players are created. Sorting by name would require a scan of all players for every
 * page.
 */
export function findPlayersRoute(
  { service, settings }: AdminDeps,
  isWanted: (request: FastifyRequest['raw']) => boolean,
): Route {
  const inTurn = atOnce(SEARCHES_MAX, 'searches');
  return route('GET', '/v1/players', {
    operationId: 'findPlayers',
    tag: 'players',
    summary: 'Players, all or by the beginning of their names, in no particular order',
    query: object(
      {},
      {
        prefix: string({
          maxLength: PREFIX_LENGTH_MAX,
          default: '',
          description: 'Beginning of the names.',
          message: `must come once, and have at most ${PREFIX_LENGTH_MAX} characters`,
        }),
        ...page,
        after: string({ description: '`next` of the previous page.', message: 'must come once' }),
      },
    ),
    responses: {
      200: answer(
        'A page. It can have fewer players than requested, or none, and still have a `next`',
        exactly({
          players: list(ref('FoundPlayer')),
          next: { type: ['string', 'null'], description: '`after` of the next page; null: this is the last page.' },
        }),
      ),
    },
    problems: [400],
    handle: async ({ query: { prefix = '', limit = 0, after }, raw }) => {
      const place = cursorOf(after, isPlace, 'after') ?? { shard: 0, from: 0 };
      return await inTurn(() => search(prefix, limit, place, () => isWanted(raw)));
    },
  });

  async function search(prefix: string, limit: number, first: Place, isWanted: () => boolean): Promise<object> {
    const players: object[] = [];
    let place = first;
    for (let turn = 0; turn < TURNS_MAX && place.shard < service.shardCount && players.length < limit; turn++) {
      if (!isWanted()) throw new Problem(503, 'the server is shutting down', 'shutting-down');
      const { shard, from } = place;
      const found = { type: 'find-players', prefix, from, limit: limit - players.length } as const;
      const result = await service.askShard(shard, found);
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'found-players') throw new Error('players answer a search for players');
      for (const player of result.players) players.push(playerBody(settings.scales, player));
      place = result.next === undefined ? { shard: shard + 1, from: 0 } : { shard, from: result.next };
    }
    return { players, next: place.shard < service.shardCount ? encodeCursor(place) : null };
  }
}

function isPlace(value: unknown): value is Place {
  return isObject(value) && isCount(value.shard) && isCount(value.from);
}
