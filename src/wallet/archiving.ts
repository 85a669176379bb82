import { must } from '../base/assert.js';
import { ExactSum } from './amount.js';
import type { CallbackCommand } from './command.js';
import type { Round, RoundName, Transaction } from './state/round.js';
import { addSerializedRound, nameOfSerialized, serializeRound } from './state/serialized-round.js';
import type { Wallet } from './state/wallet.js';

/*
 * How rounds are archived: some time after its last change, a round with no open bet leaves memory. First the archive
 * stores the round durably; then an event removes it from the wallet. A later command that names the round waits until
 * another event restores it. A round is therefore either complete in the wallet or absent, and decisions do not depend
 * on the archive.
 */

/** A round that can be archived. */
export interface Archivable extends RoundName {
  readonly image: Buffer;
  /** The time of the round's last change. */
  readonly updatedMs: number;
  readonly transactions: readonly ArchivableTransaction[];
  /** True when the serialized round contains remembered messages. */
  readonly remembers: boolean;
}

export interface ArchivableTransaction {
  readonly kind: Transaction['kind'];
  readonly id: string;
  /** The wallet's version when it created the transaction; 0 for transactions that do not appear in lists. */
  readonly version: number;
}

/** Maximum number of transactions in an archive record. Larger rounds stay in memory. */
const MEMBERS_MAX = 2 ** 16 - 1;

/**
 * Rounds without open bets and unchanged since `beforeMs`: up to `limit` of them. Skips the first `returned`, which an
 * earlier call has already returned.
 */
export function archivableRounds(
  wallet: Wallet,
  beforeMs: number,
  returned: number,
  limit: number,
): readonly Archivable[] {
  if (!wallet.mayHaveClosedBefore(beforeMs)) return [];
  const newestMs = wallet.newest?.createdMs ?? 0;
  const looked: Round[] = [];
  let skipped = 0;
  const rounds: Archivable[] = [];
  // The time of the oldest transaction that cannot be archived yet.
  let oldestMs = Number.POSITIVE_INFINITY;
  for (let item = wallet.oldest; item !== undefined; item = wallet.newer(item)) {
    const { createdMs } = item;
    if (createdMs >= beforeMs) {
      oldestMs = Math.min(oldestMs, createdMs);
      // Transactions are visited in creation order. All later ones were therefore created, and last changed, at or
      // after `beforeMs`, unless log time was set back.
      if (createdMs <= newestMs) break;
      continue;
    }
    if (rounds.length === limit) break;
    if (item.isOpen) continue;
    const { updatedMs } = item;
    if (updatedMs >= beforeMs) oldestMs = Math.min(oldestMs, updatedMs);
    const { round } = item;
    // Flag the round as visited; the flag is cleared at the end.
    if (round.isKept) continue;
    round.isKept = true;
    looked.push(round);
    if (!round.isClosedSince(beforeMs)) continue;
    const members = round.members();
    if (members.length > MEMBERS_MAX) continue;
    if (skipped < returned) skipped++;
    else rounds.push(archivable(wallet, round, members));
  }
  for (const round of looked) round.isKept = false;
  // Move the lower bound only if there is nothing to archive. Otherwise the next call must find the listed rounds
  // again, because they may change before they are archived.
  if (rounds.length === 0 && skipped === 0) wallet.noteClosed(oldestMs);
  return rounds;
}

function archivable(wallet: Wallet, round: Round, members: readonly Transaction[]): Archivable {
  let updatedMs = 0;
  for (const item of members) updatedMs = Math.max(updatedMs, item.updatedMs);
  return {
    image: serializeRound(wallet, round, members),
    updatedMs,
    productId: round.productId,
    roundId: round.id,
    remembers: round.hasMessages && round.rememberedCount > 0,
    transactions: members.map((item) => {
      const { kind, id } = item;
      return { kind, id, version: item.isTombstone ? 0 : (item.firstVersion ?? 0) };
    }),
  };
}

/**
 * The given rounds that have not changed since they were found archivable. `beforeMs` is the value used at that time,
 * and all later events are newer. Every change to a round touches one of its transactions, so comparing times is
 * sufficient. Serializing the rounds again to compare bytes took longer than the rest of the removal.
 */
export function unchangedRounds(wallet: Wallet, rounds: readonly RoundName[], beforeMs: number): RoundName[] {
  const names: RoundName[] = [];
  for (const { productId, roundId } of rounds) {
    const round = wallet.round(productId, roundId);
    if (round?.isClosedSince(beforeMs) === true) names.push({ productId, roundId });
  }
  return names;
}

/** The given rounds that are not in the wallet, without duplicates. */
export function missingRounds(wallet: Wallet, images: readonly Buffer[]): readonly Buffer[] {
  const seen = new Set<string>();
  return images.filter((image) => {
    const { productId, roundId } = nameOfSerialized(image);
    const name = JSON.stringify([productId, roundId]);
    if (seen.has(name) || wallet.round(productId, roundId) !== undefined) return false;
    seen.add(name);
    return true;
  });
}

/**
 * Applies `rounds-archived`. The balance still includes the money that the rounds moved, so the wallet keeps that sum
 * as `carried`.
 */
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
    for (const item of addSerializedRound(wallet, image)) {
      carried.add(item.held - item.paid);
      wallet.sink(item);
    }
  }
  wallet.carry(carried.value);
}

/** Ids that a callback names and that are not in the wallet. */
export interface Missing {
  /** Ids of bets, tips and tombstones. */
  readonly ids: readonly string[];
  readonly rewardIds: readonly string[];
  readonly roundIds: readonly string[];
}

const NOTHING: Missing = { ids: [], rewardIds: [], roundIds: [] };

/**
 * True for a command that nearly always names new bets and no reward. For such a command, one lookup in the archive's
 * key filter is cheaper than a search of the wallet for all its bets.
 */
export function namesNewBets(command: CallbackCommand): boolean {
  return command.type === 'placeBets' || (command.type === 'settleBets' && command.txns[0]?.isSingleState === true);
}

/** The ids to look up in the archive before the callback is decided. */
export function missingIn(wallet: Wallet, command: CallbackCommand): Missing {
  const { productId, currency, txns } = command;
  if (wallet.currency !== currency) return NOTHING;
  const { type } = command;
  let missing: { ids: string[]; rewardIds: string[]; roundIds: string[] } | undefined;
  for (let i = 0; i < txns.length; i++) {
    const { id, roundId } = txns[i] as CallbackCommand['txns'][number];
    if (type === 'winRewards') {
      if (wallet.reward(productId, id) !== undefined) continue;
      missing ??= { ids: [], rewardIds: [], roundIds: [] };
      missing.rewardIds.push(id);
    } else if (type !== 'adjustBalance' && !isOfWholeRound(command, i)) {
      const item = wallet.bet(productId, id);
      // If no bet has the void's id, the void refers to the reward with that id. Even if such a bet exists, the message
      // may be the retry of a void of the reward.
      const isRewardMissing = type === 'voidSettled' && wallet.reward(productId, id) === undefined;
      // A message about a known transaction is always about that transaction's own round, which is therefore in memory.
      if (item !== undefined && !isRewardMissing) continue;
      missing ??= { ids: [], rewardIds: [], roundIds: [] };
      if (item === undefined) missing.ids.push(id);
      if (isRewardMissing) missing.rewardIds.push(id);
    }
    // A movement can only be in the round that is named after it.
    if (wallet.round(productId, roundId) !== undefined) continue;
    missing ??= { ids: [], rewardIds: [], roundIds: [] };
    missing.roundIds.push(roundId);
  }
  return missing ?? NOTHING;
}

/** Switches on the command's type, because testing each element for its fields took longer than the lookup. */
function isOfWholeRound(command: CallbackCommand, index: number): boolean {
  switch (command.type) {
    case 'settleBets': {
      const txn = command.txns[index];
      return txn?.byRound === true && !txn.isSingleState;
    }
    case 'voidSettled':
    case 'cancelBets':
    case 'rollback':
      return command.txns[index]?.byRound === true;
    default:
      return false;
  }
}
