import type { CallbackCommand, Endpoint } from '../command.js';
import type { Round, Transaction } from './round.js';
import type { Namespace } from './transaction-kind.js';
import { Wallet } from './wallet.js';

/**
 * A working copy with only the parts of the wallet that the command's elements can affect. An array is decided on such
 * a copy, element by element; the wallet itself changes only if all elements succeed. Each new copy discards the
 * previous one.
 */
export function workingCopyOf(wallet: Wallet, command: CallbackCommand): Wallet {
  const { productId } = command;
  const namespaces = namespacesOf(command.type);
  const rounds = new Map<number, RoundPart>();
  const partOf = (round: Round): RoundPart => {
    const part = rounds.get(round.row) ?? { round, items: new Map() };
    rounds.set(round.row, part);
    return part;
  };
  const addBets = (round: Round): void => {
    const { items } = partOf(round);
    for (const other of round.bets) items.set(other.row, other);
  };
  for (const txn of command.txns) {
    const { id, roundId } = txn;
    for (const namespace of namespaces) {
      const item = wallet.named(namespace, productId, id);
      if (item === undefined) continue;
      // A rollback also depends on the round's other bets: it must know whether a bet is the last settled one.
      if (command.type === 'rollback') addBets(item.round);
      partOf(item.round).items.set(item.row, item);
    }
    const round = wallet.round(productId, roundId);
    if (round === undefined) continue;
    partOf(round);
    if ('byRound' in txn && txn.byRound) addBets(round);
  }
  const copy = Wallet.begin(wallet.tables.copyToWorkOn(), wallet.currency, wallet.username);
  copy.balance = wallet.balance;
  copy.version = wallet.version;
  copy.blocked = wallet.blocked;
  copy.rareFields = wallet.rareFields;
  for (const part of rounds.values()) copyRound(copy, part);
  copy.openBets = wallet.openBets;
  copy.tombstones = wallet.tombstones;
  return copy;
}

const BETS: readonly Namespace[] = ['bet'];
const BETS_AND_REWARDS: readonly Namespace[] = ['bet', 'reward'];
const REWARDS: readonly Namespace[] = ['reward'];
const MOVEMENTS: readonly Namespace[] = ['debit', 'credit'];

/** The namespaces to which an id in a command of this type can belong. */
export function namespacesOf(type: Endpoint): readonly Namespace[] {
  switch (type) {
    case 'voidSettled':
      return BETS_AND_REWARDS;
    case 'winRewards':
      return REWARDS;
    case 'adjustBalance':
      return MOVEMENTS;
    default:
      return BETS;
  }
}

interface RoundPart {
  readonly round: Round;
  /** The transactions to copy, by row. */
  readonly items: Map<number, Transaction>;
}

function copyRound(copy: Wallet, { round, items }: RoundPart): void {
  const roundCopy = copy.addRound(copy.tables.products.take(round.productId), round.id);
  const copies = new Map<number, Transaction>();
  for (const item of items.values()) copies.set(item.row, copyTransaction(copy, roundCopy, item));
  for (const { transaction, bets } of round.settlements) {
    const settled = bets.flatMap((bet) => copies.get(bet.row) ?? []);
    roundCopy.addSettlement({ transaction: copyTransaction(copy, roundCopy, transaction), bets: settled });
  }
  for (const closing of round.closings) roundCopy.addClosing(closing);
  for (const hash of round.undoneHashes) roundCopy.addUndone(hash);
  if (round.ended) roundCopy.end();
  if (round.markMs !== -1) roundCopy.mark(round.markMs);
}

function copyTransaction(copy: Wallet, round: Round, item: Transaction): Transaction {
  const { cursor, end } = item.blobCursor();
  const { facts, createdMs, updatedMs, stake } = item;
  const { bytes, at } = cursor;
  return copy.addRecord(round, facts, createdMs, updatedMs, stake, bytes, at, end - at);
}
