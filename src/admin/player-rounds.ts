import { object } from '../base/json-schema.js';
import type { ScaleTable } from '../wallet/amount.js';
import { type MessageView, PAGE_MESSAGES_MAX } from '../wallet/message-view.js';
import type { TransactionView } from '../wallet/query.js';
import type { AdminDeps } from './admin-deps.js';
import { cursorOf, encodeCursor } from './cursor.js';
import { before, id, page } from './fields.js';
import { money } from './money.js';
import { answer } from './openapi.js';
import { noSuchPlayer, problemOf } from './problem.js';
import { type Route, route } from './route.js';
import { cursor as cursorSchema, exactly, list, ref } from './schemas.js';
import { isPlayerCursor, transactionBody } from './transactions.js';

/** A route for a player's round history, from memory and the archive. */
export function playerRoundsRoute({ service, settings }: AdminDeps): Route {
  return route('GET', '/v1/players/{username}/rounds', {
    operationId: 'listRounds',
    tag: 'transactions',
    summary: "A player's rounds, newest first, each with the messages that had an effect, oldest first",
    params: object({ username: id }),
    query: object({}, { ...page, before }),
    responses: {
      200: answer(
        'The rounds of a page of transactions. A round whose transactions continue is also on the next page. A page may have fewer than ' +
          `\`limit\`, because it has at most ${PAGE_MESSAGES_MAX} messages.`,
        exactly({ rounds: list(ref('Round')), next: cursorSchema }),
      ),
    },
    problems: [400, 404],
    handle: async ({ params: { username }, query: { limit = 0, before } }) => {
      const after = cursorOf(before, isPlayerCursor);
      const question = { type: 'list-transactions', username, limit, after, withMessages: true } as const;
      const result = await service.ask(question);
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'transactions' || result.page === undefined) throw noSuchPlayer(username);
      const { items, next } = result.page;
      return { rounds: roundsOf(items, settings.scales), next: next === undefined ? null : encodeCursor(next) };
    },
  });
}

function roundsOf(items: readonly TransactionView[], scales: ScaleTable): object[] {
  const rounds = new Map<string, TransactionView[]>();
  for (const item of items) {
    const key = JSON.stringify([item.productId, item.roundId]);
    rounds.set(key, [...(rounds.get(key) ?? []), item]);
  }
  return [...rounds.values()].map((members) => {
    const [{ productId, roundId, currency }] = members as [TransactionView];
    return {
      productId,
      roundId,
      transactions: members.map((item) => transactionBody(scales, item)),
      messages: messagesIn(members).map((message) => messageBody(scales, currency, message)),
      isCut: members.some(({ isCut }) => isCut),
    };
  });
}

type MessageOfRound = MessageView & { readonly kind: TransactionView['kind'] | 'round' };

/** Returns messages oldest first, although members are listed newest first. */
function messagesIn(members: readonly TransactionView[]): MessageOfRound[] {
  return [...members]
    .reverse()
    .flatMap(({ kind, messages = [] }) =>
      messages.map((message): MessageOfRound => ({ ...message, kind: message.ofRound ? 'round' : kind })),
    )
    .sort((a, b) => a.version - b.version);
}

function messageBody(scales: ScaleTable, currency: string, message: MessageOfRound): object {
  const { type, kind, id, version, requestId, timeMs, amount, before, after, isWaiting, isSkipped } = message;
  return {
    type,
    kind,
    ...(id !== '' && { id }),
    version,
    requestId,
    timeMillis: timeMs,
    amount: amount === undefined ? undefined : money(scales, currency, amount),
    balanceBefore: money(scales, currency, before),
    balanceAfter: money(scales, currency, after),
    isWaiting,
    movesNothing: isSkipped,
  };
}
