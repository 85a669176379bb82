import { must } from '../base/assert.js';
import { ExactSum } from './amount.js';
import type { CallbackCommand } from './command.js';
import type { RoundName } from './event.js';
import type { Round, Transaction } from './state/round.js';
import { addRoundOf, imageOfRound, nameOfImage } from './state/round-image.js';
import type { Wallet } from './state/wallet.js';

/*
 * A round of which nothing is open leaves memory some time after its last change. The archive has it durably first, then
 * an event lets it go; whoever names it later waits until another event has brought it back. So all of a round is in the
 * wallet or nothing of it, and decisions need not know that there is an archive.
 */

/** A round that can go. */
export interface Archivable {
  readonly image: Buffer;
  /** Of its last change. */
  readonly updatedMs: number;
  readonly productId: string;
  readonly roundId: string;
  readonly transactions: readonly ArchivableTransaction[];
}

export interface ArchivableTransaction {
  readonly kind: Transaction['kind'];
  readonly id: string;
  /** The wallet's version that made it; 0 for what is not listed. */
  readonly version: number;
}

/** Up to `limit` rounds of which nothing is open, and nothing has changed since `beforeMs`. */
export function archivableRounds(wallet: Wallet, beforeMs: number, limit: number): readonly Archivable[] {
  if (!wallet.mayHaveClosedBefore(beforeMs)) return [];
  const looked: Round[] = [];
  const rounds: Round[] = [];
  // Nothing of what cannot go yet was changed before this.
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const item of wallet.oldestTransactions()) {
    // On the list by creation: all that follows has changed later, too.
    if (item.createdMs >= beforeMs) oldestMs = Math.min(oldestMs, item.createdMs);
    if (item.createdMs >= beforeMs || rounds.length === limit) break;
    if (item.isOpen) continue;
    if (item.updatedMs >= beforeMs) oldestMs = Math.min(oldestMs, item.updatedMs);
    const { round } = item;
    // A note that it has been looked at; it is taken off at the end.
    if (round.isKept) continue;
    round.isKept = true;
    looked.push(round);
    if (isClosedSince(round, beforeMs)) rounds.push(round);
  }
  for (const round of looked) round.isKept = false;
  // Those that go are looked for once more: they may have changed when their time comes.
  if (rounds.length === 0) wallet.noteClosed(oldestMs);
  return rounds.map((round) => archivable(wallet, round));
}

function isClosedSince(round: Round, beforeMs: number): boolean {
  for (const item of round.members()) if (item.isOpen || item.updatedMs >= beforeMs) return false;
  return true;
}

function archivable(wallet: Wallet, round: Round): Archivable {
  const members = [...round.members()];
  return {
    image: imageOfRound(wallet, round, members),
    updatedMs: Math.max(...members.map((item) => item.updatedMs)),
    productId: round.productId,
    roundId: round.id,
    transactions: members.map((item) => ({
      kind: item.kind,
      id: item.id,
      version: item.isTombstone ? 0 : (item.firstVersion ?? 0),
    })),
  };
}

/** Those of these rounds that the wallet has, as these images have them. `version`: the wallet's, when they were made. */
export function unchangedRounds(wallet: Wallet, version: number, images: readonly Buffer[]): readonly RoundName[] {
  const names: RoundName[] = [];
  for (const image of images) {
    const { productId, roundId } = nameOfImage(image);
    const round = wallet.round(productId, roundId);
    if (round === undefined) continue;
    if (wallet.version === version || imageOfRound(wallet, round).equals(image)) names.push({ productId, roundId });
  }
  return names;
}

/** Those of these rounds that the wallet does not have, each once. */
export function missingRounds(wallet: Wallet, images: readonly Buffer[]): readonly Buffer[] {
  const seen = new Set<string>();
  return images.filter((image) => {
    const { productId, roundId } = nameOfImage(image);
    const name = JSON.stringify([productId, roundId]);
    if (seen.has(name) || wallet.round(productId, roundId) !== undefined) return false;
    seen.add(name);
    return true;
  });
}

/** Applies `rounds-archived`. What the rounds moved stays in the balance, so the wallet carries it as a sum. */
export function letGo(wallet: Wallet, rounds: readonly RoundName[]): void {
  const carried = new ExactSum();
  for (const { productId, roundId } of rounds) {
    const round = must(wallet.round(productId, roundId), 'a round that goes is there');
    for (const item of round.members()) {
      carried.add(item.paid - item.held);
      if (item.isTombstone) wallet.tombstones--;
    }
    wallet.dropRound(round);
  }
  wallet.carry(carried.value);
}

/** Applies `rounds-restored`. */
export function takeBack(wallet: Wallet, images: readonly Buffer[]): void {
  const carried = new ExactSum();
  for (const image of images) {
    for (const item of addRoundOf(wallet, image)) {
      carried.add(item.held - item.paid);
      wallet.sink(item);
    }
  }
  wallet.carry(carried.value);
}

/** What a callback names and the wallet does not have. */
export interface Missing {
  /** Of bets, tips and tombstones. */
  readonly ids: readonly string[];
  readonly roundIds: readonly string[];
}

const NOTHING: Missing = { ids: [], roundIds: [] };

/** The names that have to be looked for in the archive before the callback is decided. */
export function missingIn(wallet: Wallet, { productId, currency, txns }: CallbackCommand): Missing {
  if (wallet.currency !== currency) return NOTHING;
  let missing: { ids: string[]; roundIds: string[] } | undefined;
  for (const txn of txns) {
    const { id, roundId } = txn;
    const isByRound = 'byRound' in txn && txn.byRound && !('isSingleState' in txn && txn.isSingleState);
    if (!isByRound) {
      // All that is said of a known transaction is said of its own round.
      if (wallet.bet(productId, id) !== undefined) continue;
      missing ??= { ids: [], roundIds: [] };
      missing.ids.push(id);
    }
    if (wallet.round(productId, roundId) !== undefined) continue;
    missing ??= { ids: [], roundIds: [] };
    missing.roundIds.push(roundId);
  }
  return missing ?? NOTHING;
}
