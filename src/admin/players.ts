import type { FastifyInstance } from 'fastify';
import { CURRENCY } from '../base/currency.js';
import type { Units } from '../wallet/amount.js';
import type { Answer } from '../wallet/decision.js';
import { isId, isReason, REASON_LENGTH_MAX } from '../wallet/identifier.js';
import type { PlayerView } from '../wallet/query.js';
import type { AdminDeps } from './admin-deps.js';
import { money, mustSignedUnits, mustUnits } from './money.js';
import { badRequest, noSuchPlayer, problemOf } from './problem.js';

type ByUsername = { Params: { username: string } };

/** Creating, funding, correcting, blocking and reading players. */
export function playerRoutes(app: FastifyInstance, deps: AdminDeps): void {
  const { service, settings } = deps;

  app.put<ByUsername>('/v1/players/:username', async (request, reply) => {
    const username = mustId(request.params.username, 'username');
    const currency = mustCurrency(field(request.body, 'currency'));
    const answer = await service.operate({ type: 'create-player', username, currency, by: request.operator });
    if (answer.type === 'failed') throw problemOf(answer.failure);
    reply.status(answer.isRepeat ? 200 : 201);
    return playerBody(await mustPlayer(username));
  });

  app.get<ByUsername>('/v1/players/:username', async (request) =>
    playerBody(await mustPlayer(request.params.username)),
  );

  for (const type of ['block', 'unblock'] as const) {
    app.post<ByUsername>(`/v1/players/:username/${type}`, async (request) => {
      const { username } = request.params;
      const answer = await service.operate({ type: `${type}-player`, username, by: request.operator });
      if (answer.type === 'failed') throw problemOf(answer.failure);
      return playerBody(await mustPlayer(username));
    });
  }

  for (const [path, type] of [
    ['deposits', 'deposit'],
    ['withdrawals', 'withdraw'],
  ] as const) {
    app.post<ByUsername>(`/v1/players/:username/${path}`, async (request) => {
      const { username, currency } = await mustPlayer(request.params.username);
      const id = mustId(field(request.body, 'id'), 'id');
      const amount = mustUnits(settings.scales, currency, field(request.body, 'amount'), settings.amountMax);
      if (amount === 0) throw badRequest('amount must be more than 0');
      const answer = await service.operate({ type, id, username, amount, by: request.operator });
      return movementBody({ id, username, currency, amount }, answer);
    });
  }

  app.post<ByUsername>('/v1/players/:username/corrections', async (request) => {
    const { username, currency } = await mustPlayer(request.params.username);
    const id = mustId(field(request.body, 'id'), 'id');
    const amount = mustSignedUnits(settings.scales, currency, field(request.body, 'amount'), settings.amountMax);
    const reason = mustReason(field(request.body, 'reason'));
    const allowNegativeBalance = mustFlag(field(request.body, 'allowNegativeBalance'), 'allowNegativeBalance');
    const by = request.operator;
    const answer = await service.operate({ type: 'correct', id, username, amount, reason, allowNegativeBalance, by });
    return { ...movementBody({ id, username, currency, amount }, answer), reason };
  });

  function movementBody(
    { id, username, currency, amount }: { id: string; username: string; currency: string; amount: Units },
    answer: Answer,
  ): object {
    if (answer.type === 'failed') throw problemOf(answer.failure);
    const inCurrency = (units: Units) => money(settings.scales, currency, units);
    return {
      id,
      username,
      currency,
      amount: inCurrency(amount),
      balanceBefore: inCurrency(answer.before),
      balanceAfter: inCurrency(answer.after),
    };
  }

  async function mustPlayer(username: string): Promise<PlayerView> {
    const result = await service.ask({ type: 'read-player', username });
    if (result.type === 'failed') throw problemOf(result.failure);
    if (result.type !== 'player' || result.player === undefined) throw noSuchPlayer(username);
    return result.player;
  }

  function playerBody(player: PlayerView): object {
    return { ...player, balance: money(settings.scales, player.currency, player.balance) };
  }
}

function field(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null) throw badRequest('the body must be a JSON object');
  return (body as Record<string, unknown>)[name];
}

export function mustId(value: unknown, name: string): string {
  if (!isId(value)) throw badRequest(`${name} must be a string of 1 to 256 characters`);
  return value;
}

function mustReason(value: unknown): string {
  if (!isReason(value)) throw badRequest(`reason must be a text of 1 to ${REASON_LENGTH_MAX} characters`);
  return value;
}

function mustFlag(value: unknown, name: string): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw badRequest(`${name} must be true or false`);
  return value === true;
}

export function mustCurrency(value: unknown): string {
  if (typeof value !== 'string' || !CURRENCY.test(value)) {
    throw badRequest('currency must be a code of 3 to 10 capital letters or digits, such as THB');
  }
  return value;
}
