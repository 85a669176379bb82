import type { FastifyRequest } from 'fastify';
import { object, string } from '../base/json-schema.js';
import type { AuditItem } from '../wallet/queries/scan-operations.js';
import { kindOfRequest } from '../wallet/state/operation.js';
import type { AdminDeps } from './admin-deps.js';
import { approvalId, mustReadApprovalId } from './approval-id.js';
import { atOnce } from './at-once.js';
import { isPlace } from './audit.js';
import { cursorOf, encodeCursor } from './cursor.js';
import { before, page } from './fields.js';
import { findOperation, listOperations } from './known-operations.js';
import { money } from './money.js';
import type { MoneyByHand } from './money-by-hand.js';
import { answer } from './openapi.js';
import { operationBody } from './operations.js';
import { problemOf } from './problem.js';
import { type Route, route } from './route.js';
import { cursor, exactly, list, ref } from './schemas.js';

/** Limits concurrent scans, because a scan on a node with an older walletd visits all players. */
const SCANS_MAX = 4;
const PATH = '/v1/approvals';
const WAITING = { by: undefined, type: 'request', username: undefined, fromMs: 0 } as const;

/** Routes for money movements that wait until a second operator approves or refuses them. */
export function approvalRoutes(
  { service, settings, clock }: AdminDeps,
  byHand: MoneyByHand,
  isWanted: (request: FastifyRequest['raw']) => boolean,
): Route[] {
  const { scales } = settings;
  const inTurn = atOnce(SCANS_MAX, 'lists of approvals');
  const params = object({
    id: string({ description: 'Id of the approval.', message: 'must be the id of an approval' }),
  });

  const listing = route('GET', PATH, {
    operationId: 'listApprovals',
    tag: 'players',
    summary: 'Pending approvals of money movements, over all players, newest first',
    query: object({}, { ...page, before }),
    responses: { 200: answer('A page', exactly({ approvals: list(ref('Approval')), next: cursor })) },
    problems: [400],
    handle: async ({ query: { limit = 0, before }, raw }) => {
      const after = cursorOf(before, isPlace);
      const wanted = { ...WAITING, beforeMs: Number.MAX_SAFE_INTEGER };
      const { items, next } = await inTurn(() => listOperations(service, wanted, after, limit, () => isWanted(raw)));
      const nowMs = clock.now();
      const approvals = items.filter(({ operation }) => (operation.request?.expiresMs ?? 0) > nowMs).map(approvalBody);
      return { approvals, next: next === undefined ? null : encodeCursor(next) };
    },
  });

  const deciding = (command: 'approve' | 'refuse', summary: string) =>
    route('POST', `${PATH}/{id}/${command}`, {
      operationId: `${command}Request`,
      tag: 'players',
      summary,
      params,
      responses: { 200: answer('Decided, by this request or an earlier one', ref('DecidedApproval')) },
      problems: [403, 404, 409, 413, 415],
      handle: async ({ params: { id: approval }, operator: by }) => {
        const { username, id } = mustReadApprovalId(approval);
        const asked = await findOperation(service, username, id);
        // The command below is unknown to nodes with an older walletd, so this check is made here for them.
        if (asked === undefined) throw problemOf('approval-not-found');
        const answer =
          command === 'approve'
            ? await byHand.approve({ type: 'approve-request', username, id, by }, asked)
            : await service.operate({ type: 'refuse-request', username, id, by });
        if (answer.type === 'failed') throw problemOf(answer.failure);
        const decided = await findOperation(service, username, id);
        if (decided === undefined) throw problemOf('approval-not-found');
        const { currency } = decided;
        return {
          id: approval,
          username,
          currency,
          operation: operationBody(scales, decided, currency),
          ...(answer.isRepeat && { repeated: true }),
        };
      },
    });

  return [
    listing,
    deciding('approve', 'Approves a money movement that another operator has requested'),
    deciding('refuse', 'Refuses a money movement that an operator has requested'),
  ];

  function approvalBody({ place: { username }, currency, operation }: AuditItem): object {
    const { id = '', amount = 0, reason, timeMs, by, request } = operation;
    return {
      id: approvalId(username, id),
      username,
      currency,
      type: kindOfRequest({ amount, reason }),
      operationId: id,
      amount: money(scales, currency, amount),
      reason,
      allowNegativeBalance: request?.allowNegativeBalance === true,
      requestedMillis: timeMs,
      expiresMillis: request?.expiresMs,
      by: by ?? null,
    };
  }
}
