import { movedBy, type Operation } from '../../wallet/state/operation.js';
import type { Round, Transaction } from '../../wallet/state/round.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { type HistoryItem, historyItem } from './history-item.js';

/**
 * History that a snapshot's wallet still remembers: transactions with the messages that had an effect, cancels and
 * voids of rounds, and operator actions. Sorted by time if the time is known: a wallet knows the time of each
 * transaction's first message, and usually that of its last.
 */
export function itemsFromSnapshot(wallet: Wallet, shard: number): HistoryItem[] {
  const base = { shard, username: wallet.username };
  const versioned: HistoryItem[] = [];
  const timed: HistoryItem[] = [];
  const rounds = new Map<number, Round>();
  for (const item of wallet.transactions()) {
    rounds.set(item.round.row, item.round);
    if (item.isTombstone) timed.push(tombstone(item, base));
    else versioned.push(...effectsOf(item, base));
  }
  for (const round of rounds.values()) versioned.push(...closingsOf(round, base));
  for (const operation of [...wallet.allOperations()].reverse()) timed.push(operated(operation, base));
  versioned.sort((a, b) => (a.version as number) - (b.version as number));
  timed.sort((a, b) => (a.timeMs as number) - (b.timeMs as number));
  return merge(versioned, timed);
}

type Base = Pick<HistoryItem, 'shard' | 'username'>;

function effectsOf(item: Transaction, base: Base): HistoryItem[] {
  const { round, id, kind, createdMs, updatedMs } = item;
  const effects = item.effects();
  const last = effects.length - 1;
  // If a message about the complete round has changed this transaction, `updatedMs` is the time of that message, not of
  // the last effect.
  const isTouched = item.settledByRound || round.closings.length > 0;
  return effects.map(({ type, waiting, skip, amount, before, after, version, requestId }, i) => {
    const lastMs = i === last && !isTouched ? updatedMs : undefined;
    return historyItem({
      ...base,
      version,
      timeMs: i === 0 ? createdMs : lastMs,
      type,
      kind,
      requestId: requestId === '' ? undefined : requestId,
      productId: round.productId,
      roundId: round.id,
      id,
      amount,
      before,
      after,
      remarks: [
        ...(kind === 'bet' ? [] : [kind]),
        ...(waiting ? [type === 'rollback' ? 'of the round' : 'WAITING'] : []),
        ...(skip ? ['no money moved'] : []),
      ],
    });
  });
}

function closingsOf({ productId, id: roundId, closings }: Round, base: Base): HistoryItem[] {
  return closings.map(({ type, id, before, after, version }) => {
    const name = type === 'rollback' ? { requestId: id } : { id };
    return historyItem({
      ...base,
      version,
      type,
      productId,
      roundId,
      ...name,
      before,
      after,
      remarks: ['of the round'],
    });
  });
}

function tombstone({ kind, id, round, createdMs }: Transaction, base: Base): HistoryItem {
  const type = kind === 'mark' ? 'round-marked' : 'cancel-remembered';
  const { productId, id: roundId } = round;
  return historyItem({ ...base, timeMs: createdMs, type, productId, roundId, id: kind === 'mark' ? undefined : id });
}

function operated(operation: Operation, base: Base): HistoryItem {
  const { type, id, amount, after, timeMs, by, reason } = operation;
  const known = { ...base, type, timeMs, by };
  // An operation without an id did not move money.
  if (id === '') return historyItem(known);
  return historyItem({ ...known, id, amount, before: after - movedBy(operation), after, reason });
}

/** Merges two lists. Items with a version keep their order, and the other items are inserted by time. */
function merge(versioned: readonly HistoryItem[], timed: readonly HistoryItem[]): HistoryItem[] {
  const merged: HistoryItem[] = [];
  let next = 0;
  for (const one of versioned) {
    for (; next < timed.length && isBefore(timed[next] as HistoryItem, one); next++)
      merged.push(timed[next] as HistoryItem);
    merged.push(one);
  }
  return [...merged, ...timed.slice(next)];
}

function isBefore(a: HistoryItem, b: HistoryItem): boolean {
  return b.timeMs !== undefined && (a.timeMs as number) <= b.timeMs;
}
