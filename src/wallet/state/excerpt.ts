import type { Round, Transaction } from './round.js';
import { Wallet } from './wallet.js';

/** What of a command names transactions and rounds. */
interface Naming {
  readonly id: string;
  readonly roundId: string;
  readonly byRound?: boolean;
}

/**
 * A copy that holds what these elements can touch, and nothing else. An array is decided on such a copy, one element
 * after the other; the wallet itself changes only when all of them stand. The copy of the array before it is gone then.
 * `isOfRounds`: what is decided of a bet depends on the other bets of its round.
 */
export function excerptOf(wallet: Wallet, productId: string, txns: readonly Naming[], isOfRounds = false): Wallet {
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
  for (const { id, roundId, byRound } of txns) {
    const bet = wallet.bet(productId, id);
    if (bet !== undefined) partOf(bet.round).items.set(bet.row, bet);
    if (bet !== undefined && isOfRounds) addBets(bet.round);
    const round = wallet.round(productId, roundId);
    if (round === undefined) continue;
    partOf(round);
    if (byRound === true) addBets(round);
  }
  const copy = Wallet.begin(wallet.tables.draft(), wallet.currency, wallet.username);
  copy.balance = wallet.balance;
  copy.version = wallet.version;
  copy.blocked = wallet.blocked;
  copy.tallies = wallet.tallies;
  for (const part of rounds.values()) copyRound(copy, part);
  copy.openBets = wallet.openBets;
  copy.tombstones = wallet.tombstones;
  return copy;
}

interface RoundPart {
  readonly round: Round;
  /** By row. */
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
