import type { FastifyInstance } from 'fastify';
import type { AdminDeps } from './admin-deps.js';
import { money } from './money.js';
import { Problem, problemOf } from './problem.js';
import { type QueryString, wholeNumber } from './query-string.js';

/** Unpacking this many takes about 2 ms, which an inline shard may take from the others. */
const LIMIT_MAX = 500;
const FROM_MAX = 2 ** 32;

/** All players of a shard with version and balance, by order of their creation: what `walletd verify` compares. */
export function shardPlayersRoute(app: FastifyInstance, { service, settings }: AdminDeps): void {
  app.get<{ Params: { shard: string }; Querystring: QueryString }>('/v1/shards/:shard/players', async (request) => {
    const { shard } = request.params;
    if (!/^\d{1,4}$/.test(shard) || Number(shard) >= service.shardCount) {
      throw new Problem(404, `there is no shard ${shard}: they are 0 to ${service.shardCount - 1}`, 'not-found');
    }
    const from = wholeNumber(request.query, 'after', 0, FROM_MAX, 0);
    const limit = wholeNumber(request.query, 'limit', 1, LIMIT_MAX, LIMIT_MAX);
    const result = await service.askShard(Number(shard), { type: 'list-players', from, limit });
    if (result.type === 'failed') throw problemOf(result.failure);
    if (result.type !== 'players') throw new Error('a list of players answers such a question');
    const players = result.players.map((player) => ({
      ...player,
      balance: money(settings.scales, player.currency, player.balance),
    }));
    return { storeId: settings.storeId, players, next: result.next ?? null };
  });
}
