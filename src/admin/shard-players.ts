import { object, string } from '../base/json-schema.js';
import type { AdminDeps } from './admin-deps.js';
import { wholeNumber } from './fields.js';
import { money } from './money.js';
import { answer } from './openapi.js';
import { Problem, problemOf } from './problem.js';
import { type Route, route } from './route.js';
import { exactly, list, ref, text } from './schemas.js';

/**
 * Maximum number of players per page. Unpacking that many takes about 2 ms, which is an acceptable delay for other
 * shards in the same thread.
 */
const LIMIT_MAX = 500;
const FROM_MAX = 2 ** 32;
const restoredFrom = { ...list(text), description: 'Ids of the stores from which this store was made, oldest first.' };
const SHARD = /^\d{1,4}$/;

/** A route for all players of a shard with version and balance, for comparison by `walletd verify`. */
export function shardPlayersRoute({ service, settings }: AdminDeps): Route {
  return route('GET', '/v1/shards/{shard}/players', {
    operationId: 'listShardPlayers',
    tag: 'players',
    summary: 'All players of a shard, with version and balance, in order of creation',
    params: object({ shard: string({ description: 'A whole number.' }) }),
    query: object(
      {},
      {
        after: wholeNumber(0, FROM_MAX, 0, '`next` of the previous page.'),
        limit: wholeNumber(1, LIMIT_MAX, LIMIT_MAX, 'Maximum number of results.'),
      },
    ),
    responses: {
      200: answer(
        'A page',
        exactly({
          storeId: text,
          restoredFrom,
          players: list(ref('ShardPlayer')),
          next: { type: ['integer', 'null'] },
        }),
      ),
    },
    problems: [400, 404],
    handle: async ({ params: { shard }, query: { after: from = 0, limit = LIMIT_MAX } }) => {
      if (!SHARD.test(shard) || Number(shard) >= service.shardCount) {
        throw new Problem(
          404,
          `there is no shard ${shard}: shards are numbered 0 to ${service.shardCount - 1}`,
          'not-found',
        );
      }
      const result = await service.askShard(Number(shard), { type: 'list-players', from, limit });
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'players') throw new Error('a list of players answers such a query');
      const players = result.players.map((player) => ({
        ...player,
        balance: money(settings.scales, player.currency, player.balance),
      }));
      return { storeId: settings.storeId, restoredFrom: settings.restoredFrom, players, next: result.next ?? null };
    },
  });
}
