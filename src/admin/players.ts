import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { object } from '../base/json-schema.js';
import { sessionDigest } from '../callback/session-token.js';
import { formatUnits, type Units } from '../wallet/amount.js';
import type { Answer } from '../wallet/decision.js';
import type { PlayerDetails } from '../wallet/query.js';
import { UNDOABLE_CREDITS, type Undone, undoId } from '../wallet/undo-id.js';
import type { AdminDeps } from './admin-deps.js';
import { approvalId, isWaiting } from './approval-id.js';
import { amount, currency, endMillis, flag, id, operationId, reason, sessionToken, undoes } from './fields.js';
import { findOperation } from './known-operations.js';
import { money, mustSignedUnits, mustUnits } from './money.js';
import type { MoneyByHand } from './money-by-hand.js';
import { answer as answered } from './openapi.js';
import { detailsBody } from './player-body.js';
import { badRequest, noSuchPlayer, problemOf } from './problem.js';
import { type Route, route } from './route.js';
import { ref } from './schemas.js';

const PLAYER = '/v1/players/{username}';
const params = object({ username: id });
const only = { additionalProperties: false };
interface MovementFacts {
  readonly id: string;
  readonly username: string;
  readonly currency: string;
  readonly amount: Units;
}

/** Problems of requests with a body that change a player. */
const PROBLEMS = [400, 403, 404, 409, 413, 415];
/** Problems of requests that also move money. */

/** Routes for creating, funding, correcting, blocking and reading players. */
export function playerRoutes({ service, settings }: AdminDeps, byHand: MoneyByHand): Route[] {
  const create = route('PUT', PLAYER, {
    operationId: 'createPlayer',
    tag: 'players',
    summary: 'Creates a player',
    params,
    body: object({ currency }, {}, only),
    responses: {
      200: answered('The player existed already', ref('Player')),
      201: answered('Created', ref('Player')),
    },
    problems: PROBLEMS,
    handle: async ({ params: { username }, body, operator }, reply) => {
      const answer = await service.operate({
        type: 'create-player',
        username,
        currency: body.currency,
        by: operator,
      });
      if (answer.type === 'failed') throw problemOf(answer.failure);
      reply.status(answer.isRepeat ? 200 : 201);
      return detailsBody(settings.scales, await mustPlayer(username));
    },
  });

  const read = route('GET', PLAYER, {
    operationId: 'readPlayer',
    tag: 'players',
    summary: 'Reads a player',
    params,
    responses: { 200: answered('The player', ref('Player')) },
    problems: [400, 404],
    handle: async ({ params: { username } }) => detailsBody(settings.scales, await mustPlayer(username)),
  });

  const blocking = (command: 'block' | 'unblock', operationId: string, summary: string) =>
    route('POST', `${PLAYER}/${command}`, {
      operationId,
      tag: 'players',
      summary,
      params,
      responses: { 200: answered('The player', ref('Player')) },
      problems: [400, 403, 404, 413, 415],
      handle: async ({ params: { username }, operator }) => {
        return changed(await service.operate({ type: `${command}-player`, username, by: operator }), username);
      },
    });

  const setSession = route('PUT', `${PLAYER}/session`, {
    operationId: 'setSession',
    tag: 'players',
    summary:
      "Sets the session token that a player's bets, tips and balance reads must carry; replaces the former token",
    params,
    body: object({ token: sessionToken }, { endMillis }, only),
    responses: { 200: answered('The player', ref('Player')) },
    problems: [400, 403, 404, 413, 415],
    handle: async ({ params: { username }, body: { token, endMillis: endMs = null }, operator: by }) => {
      const session = { digest: sessionDigest(username, token), endMs };
      return changed(await service.operate({ type: 'set-session', username, session, by }), username);
    },
  });

  const endSession = route('DELETE', `${PLAYER}/session`, {
    operationId: 'endSession',
    tag: 'players',
    summary: "Ends a player's session",
    params,
    responses: { 200: answered('The player', ref('Player')) },
    problems: [400, 403, 404, 413, 415],
    handle: async ({ params: { username }, operator: by }) =>
      changed(await service.operate({ type: 'end-session', username, by }), username),
  });

  const movement = (path: string, type: 'deposit' | 'withdraw', summary: string) =>
    route('POST', `${PLAYER}/${path}`, {
      operationId: type,
      tag: 'players',
      summary,
      params,
      body: object(
        { id: operationId, amount: { ...amount, exclusiveMinimum: 0, message: 'must be a number above 0' } },
        {},
        only,
      ),
      responses: {
        200: answered('Done, by this request or an earlier one with the same id', ref('Movement')),
        202: answered('Waits for the approval of another operator', ref('WaitingMovement')),
      },
      problems: PROBLEMS,
      handle: async ({ params, body: { id, amount: sent }, operator }, reply) => {
        const { username, currency } = await mustPlayer(params.username);
        const amount = mustUnits(settings, currency, sent);
        if (amount === 0) throw badRequest('amount must be a number above 0');
        const command = { type, id, username, amount, by: operator } as const;
        const answer = await byHand.move({ command, currency, amount });
        const movement = { id, username, currency, amount };
        if (isWaiting(answer)) return await waitingBody(movement, reply);
        return movementBody(movement, answer);
      },
    });

  const correct = route('POST', `${PLAYER}/corrections`, {
    operationId: 'correct',
    tag: 'players',
    summary: 'Corrects a balance by a positive or negative amount, with a reason',
    params,
    body: object({ amount, reason }, { id: operationId, undoes, allowNegativeBalance: flag }, only),
    responses: {
      200: answered('Done, by this request or an earlier one with the same id', ref('Correction')),
      202: answered('Waits for the approval of another operator', ref('WaitingMovement')),
    },
    problems: PROBLEMS,
    handle: async ({ params, body, operator: by }, reply) => {
      const { amount: sent, reason, allowNegativeBalance = false } = body;
      const { username, currency } = await mustPlayer(params.username);
      const amount = mustSignedUnits(settings, currency, sent);
      const id = mustCorrectionId(body, formatUnits(amount, settings.scales.of(currency)));
      const command = { type: 'correct', id, username, amount, reason, allowNegativeBalance, by } as const;
      const answer = await byHand.move({ command, currency, amount });
      const movement = { id, username, currency, amount };
      const answerBody = isWaiting(answer) ? await waitingBody(movement, reply) : movementBody(movement, answer);
      return { ...answerBody, reason };
    },
  });

  return [
    create,
    read,
    movement('deposits', 'deposit', "Deposits money to a player's balance"),
    movement('withdrawals', 'withdraw', "Withdraws money from a player's balance"),
    correct,
    blocking('block', 'blockPlayer', 'Blocks a player: further bets are refused'),
    blocking('unblock', 'unblockPlayer', 'Unblocks a player: bets are accepted again'),
    setSession,
    endSession,
  ];

  /** The body of a 202 answer: another operator must approve. */
  async function waitingBody({ id, username, currency, amount }: MovementFacts, reply: FastifyReply): Promise<object> {
    const asked = await findOperation(service, username, id);
    if (asked?.request === undefined) throw problemOf('approval-closed');
    reply.status(202);
    const approval = { id: approvalId(username, id), expiresMillis: asked.request.expiresMs };
    return { id, username, currency, amount: money(settings.scales, currency, amount), approval };
  }

  function movementBody({ id, username, currency, amount }: MovementFacts, answer: Answer): object {
    if (answer.type === 'failed') throw problemOf(answer.failure);
    const inCurrency = (units: Units) => money(settings.scales, currency, units);
    return {
      id,
      username,
      currency,
      amount: inCurrency(amount),
      balanceBefore: inCurrency(answer.before),
      balanceAfter: inCurrency(answer.after),
      ...(answer.isRepeat && { repeated: true }),
    };
  }

  async function changed(answer: Answer, username: string): Promise<object> {
    if (answer.type === 'failed') throw problemOf(answer.failure);
    return detailsBody(settings.scales, await mustPlayer(username));
  }

  async function mustPlayer(username: string): Promise<PlayerDetails> {
    const result = await service.ask({ type: 'read-player', username });
    if (result.type === 'failed') throw problemOf(result.failure);
    if (result.type !== 'player' || result.player === undefined) throw noSuchPlayer(username);
    return result.player;
  }
}

/**
 * The ID of a correction: the request's own, or one derived from what the correction undoes. `amount` is a signed
 * decimal.
 */
function mustCorrectionId({ id, undoes }: { readonly id?: string; readonly undoes?: Undone }, amount: string): string {
  if (undoes === undefined) {
    if (id !== undefined) return id;
    throw badRequest('id is required, unless there is undoes');
  }
  if (id !== undefined) throw badRequest('id and undoes cannot be combined: an undo has its own id');
  const isCredit = (UNDOABLE_CREDITS as readonly string[]).includes(undoes.type);
  if (isCredit !== (undoes.productId !== undefined)) {
    throw badRequest(`undoes.productId must ${isCredit ? 'name the product of' : 'not be there for'} a ${undoes.type}`);
  }
  return undoId(undoes, amount, (text) => createHash('sha256').update(text).digest('hex'));
}
