import { must } from '../base/assert.js';
import { ExactSum } from './amount.js';
import type { CallbackCommand } from './command.js';
import type { Round, RoundName, Transaction } from './state/round.js';
import { addSerializedRound, nameOfSerialized, serializeRound } from './state/serialized-round.js';
import type { Wallet } from './state/wallet.js';

/*
 * Archiving of rounds. Some time after its last change, a round with no open bet leaves memory. The archive stores the
 * round durably first; then an event removes it. A command that names the round later waits until another event has
 * restored it. A round is therefore either complete in the wallet or absent, and decisions need not know about the
 * archive.
 */

/** A round that can be archived. */
export interface Archivable extends RoundName {
  readonly image: Buffer;
  /** When the round last changed. */
  readonly updatedMs: number;
  readonly transactions: readonly ArchivableTransaction[];
  /** The serialized round holds messages that the round remembers as a whole. */
  readonly remembers: boolean;
}

export interface ArchivableTransaction {
  readonly kind: Transaction['kind'];
  readonly id: string;
  /** The version of the wallet that created the transaction; 0 for transactions that are not listed. */
  readonly version: number;
}

/** A larger round stays in memory: a record of the archive has space for this many transactions. */
const MEMBERS_MAX = 2 ** 16 - 1;

/** Rounds without open bets and unchanged since `beforeMs`: up to `limit` of them, after skipping the first `told`. */
export function archivableRounds(wallet: Wallet, beforeMs: number, told: number, limit: number): readonly Archivable[] {
  if (!wallet.mayHaveClosedBefore(beforeMs)) return [];
  const newestMs = wallet.newest?.createdMs ?? 0;
  const looked: Round[] = [];
  let skipped = 0;
  const rounds: Archivable[] = [];
  // Oldest time among the transactions that cannot leave yet.
  let oldestMs = Number.POSITIVE_INFINITY;
  for (let item = wallet.oldest; item !== undefined; item = wallet.newer(item)) {
    const { createdMs } = item;
    if (createdMs >= beforeMs) {
      oldestMs = Math.min(oldestMs, createdMs);
      // The list is in order of creation: all later items changed later, unless log time was set back in between.
      if (createdMs <= newestMs) break;
      continue;
    }
    if (rounds.length === limit) break;
    if (item.isOpen) continue;
    const { updatedMs } = item;
    if (updatedMs >= beforeMs) oldestMs = Math.min(oldestMs, updatedMs);
    const { round } = item;
    // Marks the round as visited; the mark is removed at the end.
    if (round.isKept) continue;
    round.isKept = true;
    looked.push(round);
    if (!round.isClosedSince(beforeMs)) continue;
    const members = round.members();
    if (members.length > MEMBERS_MAX) continue;
    if (skipped < told) skipped++;
    else rounds.push(archivable(wallet, round, members));
  }
  for (const round of looked) round.isKept = false;
  // Rounds that can leave are found again by the next call: they may change before they leave.
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
 * The rounds among these that have not changed since they were found archivable. `beforeMs` is the value used then, and
 * no event since is older. Every change to a round touches one of its transactions, so comparing times suffices.
 * Serializing the rounds again and comparing the bytes took longer than the rest of the removal.
 */
export function unchangedRounds(wallet: Wallet, rounds: readonly RoundName[], beforeMs: number): RoundName[] {
  const names: RoundName[] = [];
  for (const { productId, roundId } of rounds) {
    const round = wallet.round(productId, roundId);
    if (round?.isClosedSince(beforeMs) === true) names.push({ productId, roundId });
  }
  return names;
}

/** The rounds among these that the wallet lacks, each once. */
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

/** Applies `rounds-archived`. The balance still contains what the rounds moved, so the wallet carries that as a sum. */
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

/** Names in a callback that the wallet does not have. */
export interface Missing {
  /** Ids of bets, tips and tombstones. */
  readonly ids: readonly string[];
  readonly rewardIds: readonly string[];
  readonly roundIds: readonly string[];
}

const NOTHING: Missing = { ids: [], rewardIds: [], roundIds: [] };

/**
 * True for a command that nearly always names new bets and no reward. Asking whether the archive has any of them is
 * then cheaper than finding that the wallet has none.
 */
export function namesNewBets(command: CallbackCommand): boolean {
  return command.type === 'placeBets' || (command.type === 'settleBets' && command.txns[0]?.isSingleState === true);
}

/** The names to look up in the archive before the callback is decided. */
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
      // A void whose id is not a bet's is about the reward with that id. Even where a bet exists, the void may be the
      // retry of a void of the reward.
      const isRewardMissing = type === 'voidSettled' && wallet.reward(productId, id) === undefined;
      // Everything said about a known transaction is said about its own round.
      if (item !== undefined && !isRewardMissing) continue;
      missing ??= { ids: [], rewardIds: [], roundIds: [] };
      if (item === undefined) missing.ids.push(id);
      if (isRewardMissing) missing.rewardIds.push(id);
    }
    // A movement is in the round named after it, and nowhere else.
    if (wallet.round(productId, roundId) !== undefined) continue;
    missing ??= { ids: [], rewardIds: [], roundIds: [] };
    missing.roundIds.push(roundId);
  }
  return missing ?? NOTHING;
}

/** Decides by the command's type: asking each element for its fields took longer than the lookup. */
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
