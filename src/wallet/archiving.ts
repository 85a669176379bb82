import { must } from '../base/assert.js';
import { ExactSum } from './amount.js';
import type { CallbackCommand } from './command.js';
import type { Round, RoundName, Transaction } from './state/round.js';
import { addRoundOf, imageOfRound, nameOfImage } from './state/round-image.js';
import type { Wallet } from './state/wallet.js';

/*
 * A round of which nothing is open leaves memory some time after its last change. The archive has it durably first, then
 * an event lets it go; whoever names it later waits until another event has brought it back. So all of a round is in the
 * wallet or nothing of it, and decisions need not know that there is an archive.
 */

/** A round that can go. */
export interface Archivable extends RoundName {
  readonly image: Buffer;
  /** Of its last change. */
  readonly updatedMs: number;
  readonly transactions: readonly ArchivableTransaction[];
  /** The image holds messages that the round remembers as a whole. */
  readonly remembers: boolean;
}

export interface ArchivableTransaction {
  readonly kind: Transaction['kind'];
  readonly id: string;
  /** The wallet's version that made it; 0 for what is not listed. */
  readonly version: number;
}

/** A round with more stays in memory: a record of the archive has room for so many. */
const MEMBERS_MAX = 2 ** 16 - 1;

/** Rounds of which nothing is open, and nothing has changed since `beforeMs`: up to `limit` that follow the first `told`. */
export function archivableRounds(wallet: Wallet, beforeMs: number, told: number, limit: number): readonly Archivable[] {
  if (!wallet.mayHaveClosedBefore(beforeMs)) return [];
  const newestMs = wallet.newest?.createdMs ?? 0;
  const looked: Round[] = [];
  let skipped = 0;
  const rounds: Archivable[] = [];
  // Nothing of what cannot go yet was changed before this.
  let oldestMs = Number.POSITIVE_INFINITY;
  for (let item = wallet.oldest; item !== undefined; item = wallet.newer(item)) {
    const { createdMs } = item;
    if (createdMs >= beforeMs) {
      oldestMs = Math.min(oldestMs, createdMs);
      // The list is in order of creation: all that follows has changed later, unless log time was set back meanwhile.
      if (createdMs <= newestMs) break;
      continue;
    }
    if (rounds.length === limit) break;
    if (item.isOpen) continue;
    const { updatedMs } = item;
    if (updatedMs >= beforeMs) oldestMs = Math.min(oldestMs, updatedMs);
    const { round } = item;
    // A note that it has been looked at; it is taken off at the end.
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
  // Those that go are looked for once more: they may have changed when their time comes.
  if (rounds.length === 0 && skipped === 0) wallet.noteClosed(oldestMs);
  return rounds;
}

function archivable(wallet: Wallet, round: Round, members: readonly Transaction[]): Archivable {
  let updatedMs = 0;
  for (const item of members) updatedMs = Math.max(updatedMs, item.updatedMs);
  return {
    image: imageOfRound(wallet, round, members),
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
 * Those of these rounds that are as they were when they could go. `beforeMs`: as it was told then, and no event that came
 * since is older. Whatever happens to a round touches one of its transactions, so times tell it; to make their images again
 * and compare them took longer than all else of their leaving.
 */
export function unchangedRounds(wallet: Wallet, rounds: readonly RoundName[], beforeMs: number): RoundName[] {
  const names: RoundName[] = [];
  for (const { productId, roundId } of rounds) {
    const round = wallet.round(productId, roundId);
    if (round?.isClosedSince(beforeMs) === true) names.push({ productId, roundId });
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
  readonly rewardIds: readonly string[];
  readonly roundIds: readonly string[];
}

const NOTHING: Missing = { ids: [], rewardIds: [], roundIds: [] };

/**
 * True for what nearly always names bets that are new, and no reward: it costs less then to know that the archive has none of
 * them than to see that the wallet has none.
 */
export function namesNewBets(command: CallbackCommand): boolean {
  return command.type === 'placeBets' || (command.type === 'settleBets' && command.txns[0]?.isSingleState === true);
}

/** The names that have to be looked for in the archive before the callback is decided. */
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
      // A void of what is no bet is of the reward of that id, and may be its retry where there is a bet.
      const isRewardMissing = type === 'voidSettled' && wallet.reward(productId, id) === undefined;
      // All that is said of a known transaction is said of its own round.
      if (item !== undefined && !isRewardMissing) continue;
      missing ??= { ids: [], rewardIds: [], roundIds: [] };
      if (item === undefined) missing.ids.push(id);
      if (isRewardMissing) missing.rewardIds.push(id);
    }
    // A movement is in the round of its own name, and nowhere else.
    if (wallet.round(productId, roundId) !== undefined) continue;
    missing ??= { ids: [], rewardIds: [], roundIds: [] };
    missing.roundIds.push(roundId);
  }
  return missing ?? NOTHING;
}

/** By the type of the command: to ask each element what it has took longer than to look for it. */
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
