import { movedBy, type Operation } from '../../src/wallet/state/operation.js';
import type { Round, Transaction } from '../../src/wallet/state/round.js';
import type { Effect, FirstAnswer } from '../../src/wallet/state/transaction-record.js';
import type { RareFields, Wallet } from '../../src/wallet/state/wallet.js';

/**
 * Describes a wallet's complete state in human-readable lines: operations, transactions with the messages that made
 * them, and rounds, newest first. Amounts are in units, and times in milliseconds.
 */
export function describeWallet(wallet: Wallet): string[] {
  const { username, currency, balance, version, blocked, openBets } = wallet;
  // Wallets of release 0.2.0, which frozen.test.ts describes, name them `tallies`.
  const { rareFields = (wallet as unknown as { readonly tallies: RareFields }).tallies } = wallet;
  const { tipsDay, tipsCredited, carried, session } = rareFields;
  const { tombstones } = wallet;
  const rounds = new Map<number, Round>();
  for (const { round } of wallet.transactions()) rounds.set(round.row, round);
  return [
    `player ${text(username)} ${currency}, balance ${balance}, version ${version}${blocked ? ', blocked' : ''}`,
    `  open bets ${openBets}, tombstones ${tombstones}, tips ${tipsCredited} on day ${tipsDay}, carried ${carried}`,
    ...(session === undefined ? [] : [`  session ${session.digest} until ${session.endMs ?? 'it is ended'}`]),
    ...[...wallet.allOperations()].map(describeOperation),
    ...[...wallet.transactions()].flatMap(describeTransaction),
    ...[...rounds.values()].flatMap(describeRound),
  ];
}

function describeOperation(operation: Operation): string {
  const { type, id, amount, after, timeMs, by, reason, approver, request } = operation;
  const isOfRequest = type === 'request' || type === 'refusal' || type === 'expiry';
  const asked = isOfRequest ? ` of ${amount}` : '';
  const what = `  ${type} ${text(id)}${asked}: ${after - movedBy(operation)} -> ${after}, at ${timeMs}`;
  const who = by === undefined ? '' : `, by ${text(by.name)} from ${text(by.address)}`;
  const decided = approver === undefined ? '' : `, decided by ${text(approver.name)} from ${text(approver.address)}`;
  const debt = request?.allowNegativeBalance ? ', may leave a debt' : '';
  const terms = request === undefined ? '' : `, until ${request.expiresMs}${debt}`;
  return what + who + decided + terms + (reason === undefined ? '' : `, because: ${reason}`);
}

function describeTransaction(item: Transaction): string[] {
  const { kind, id, state, stake, held, paid, createdMs, updatedMs, adjustmentIds } = item;
  const facts = [
    item.opened ? ['opened'] : [],
    item.taken ? ['taken'] : [],
    item.paidOut ? ['paid out'] : [],
    item.isSingleState ? ['single-state'] : [],
    item.settledByRound ? ['settled by round'] : [],
    item.isRolledBack ? ['rolled back'] : [],
    item.isSingleState && !item.isSettledSingly ? ['settled otherwise'] : [],
    adjustmentIds.length === 0 ? [] : [`adjusted by ${adjustmentIds.map(text).join(' ')}`],
  ].flat();
  const lines = [
    `  ${kind} ${text(id)} of ${nameOf(item.round)}: ${[state, ...facts].join(', ')}`,
    `    amount ${stake}, held ${held}, paid ${paid}, created ${createdMs}, updated ${updatedMs}`,
  ];
  for (const effect of item.effects()) {
    const message = [effect.type, effect.waiting ? 'waiting' : [], effect.skip ? 'skip' : []].flat().join(' ');
    lines.push(`    ${message} ${effect.amount}: ${answerOf(effect)}${requestOf(effect)}${rollbackOf(effect)}`);
  }
  return lines;
}

function describeRound(round: Round): string[] {
  const { ended, markMs, settlements, closings } = round;
  return [
    `  round ${nameOf(round)}${ended ? ', ended' : ''}, mark ${markMs}, bets ${idsOf(round.bets)}`,
    ...settlements.map(({ transaction, bets }) => `    settlement ${text(transaction.id)} of ${idsOf(bets)}`),
    ...closings.map((closing) => `    ${closing.type} ${text(closing.id)}: ${answerOf(closing)}${requestOf(closing)}`),
    ...round.undoneHashes.map((hash) => `    undone ${hex(hash)}`),
    ...round.remembered.map(({ hash, before, after }) => `    remembered ${hex(hash)}: ${before} -> ${after}`),
  ];
}

function requestOf({ requestHash }: { requestHash?: number | undefined }): string {
  return requestHash === undefined ? '' : `, request ${hex(requestHash)}`;
}

function rollbackOf({ type, requestId, sentMs }: Effect): string {
  if (type !== 'rollback') return '';
  return `, ${requestId === '' ? 'with its round' : `by ${text(requestId)}`}, sent ${sentMs}`;
}

function hex(hash: number): string {
  return hash.toString(16).padStart(8, '0');
}

function answerOf({ before, after, version }: FirstAnswer): string {
  return `${before} -> ${after}, version ${version}`;
}

function nameOf({ productId, id }: Round): string {
  return `${text(productId)}/${text(id)}`;
}

function idsOf(bets: readonly Transaction[]): string {
  return bets.length === 0 ? 'none' : bets.map((bet) => text(bet.id)).join(' ');
}

/** Quotes the value unless it is a single plain word. */
function text(value: string): string {
  return /^[\w.-]+$/.test(value) ? value : JSON.stringify(value);
}
