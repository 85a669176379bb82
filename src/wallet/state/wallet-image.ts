import { assert, must } from '../../base/assert.js';
import { intern } from '../../base/intern.js';
import { atOnce, type Steps } from '../../base/steps.js';
import type { OperationFacts, OperationType } from './operation.js';
import { Round, type RoundClosing, Transaction } from './round.js';
import type { TransactionImage } from './transaction-record.js';
import { Wallet } from './wallet.js';

/**
 * All of one wallet as plain arrays, for snapshots. A transaction is named by its place in `transactions`, a round by
 * its place in `rounds`. Whatever of a wallet is not in here is derived from what is.
 */
export type WalletImage = readonly [
  ...facts: ImageFacts,
  rounds: readonly RoundImage[],
  /** Oldest first. */
  transactions: readonly TransactionImage[],
  /** Oldest first. */
  operations: readonly OperationImage[],
];

type ImageFacts = readonly [
  username: string,
  currency: string,
  balance: number,
  version: number,
  isBlocked: 0 | 1,
  tallies: TalliesImage | null,
];

/** `carried` in decimal digits: it is not bounded as a balance is. */
type TalliesImage = readonly [tipsDay: number, tipsCredited: number, carried: string];

type RoundImage =
  | readonly [productId: string, id: string]
  | readonly [
      productId: string,
      id: string,
      isEnded: 0 | 1,
      markMs: number,
      settlements: readonly (readonly [transaction: number, bets: readonly number[]])[],
      closings: readonly ClosingImage[],
    ];

type ClosingImage = readonly [type: number, id: string, before: number, after: number, version: number];
/** Cut behind the last that is there. */
type OperationImage = readonly [
  type: number,
  id: string,
  amount: number,
  after: number,
  timeMs: number,
  by?: readonly [name: string, address: string] | null,
  reason?: string,
];

/** The numbers of operations in snapshots. They are on disk for ever: none changes, and none is used again. */
const OPERATION_NUMBER: Readonly<Record<OperationType, number>> = {
  deposit: 0,
  withdrawal: 1,
  import: 2,
  correction: 3,
  create: 4,
  block: 5,
  unblock: 6,
};
const OPERATION_BY_NUMBER = new Map(
  Object.entries(OPERATION_NUMBER).map(([type, number]) => [number, type as OperationType]),
);
const CLOSINGS: readonly RoundClosing['type'][] = ['cancel', 'void'];

/** The lists of an image before their items are made: all of them at once are too much for a long wallet. */
export interface ImageOutline {
  readonly facts: ImageFacts;
  readonly rounds: ItemList<RoundImage>;
  readonly transactions: ItemList<TransactionImage>;
  readonly operations: ItemList<OperationImage>;
  /** Nothing of the wallet was changed before this time; infinite when there is nothing. */
  readonly oldestMs: number;
  readonly openBets: number;
}

export interface ItemList<T> {
  readonly length: number;
  /** Only while the wallet is as it was. */
  images(from: number, to: number): T[];
}

/** Items that are gone through in one step. */
const STEP = 64;

export function imageOf(wallet: Wallet): WalletImage {
  return imageFrom(atOnce(outlineOf(wallet)));
}

/** All of it in one go. */
export function imageFrom({ facts, rounds, transactions, operations }: ImageOutline): WalletImage {
  return [...facts, allOf(rounds), allOf(transactions), allOf(operations)];
}

function allOf<T>({ length, images }: ItemList<T>): T[] {
  return images(0, length);
}

/** The wallet must not change meanwhile. Of a heap that is nearly full it takes little: some 60 bytes a transaction. */
export function* outlineOf(wallet: Wallet): Steps<ImageOutline> {
  const { username, currency, balance, version, blocked, openBets } = wallet;
  const transactions = new Array<Transaction>(wallet.transactionCount);
  const operations: OperationFacts[] = [];
  const rounds = new Map<Round, number>();
  let oldestMs = Number.POSITIVE_INFINITY;
  let place = transactions.length;
  let gone = 0;
  for (const item of wallet.transactions()) {
    transactions[--place] = item;
    oldestMs = Math.min(oldestMs, item.updatedMs);
    if (++gone % STEP === 0) yield;
  }
  assert(place === 0, 'the transactions of a wallet are counted');
  for (const operation of wallet.allOperations()) {
    operations.push(operation);
    oldestMs = Math.min(oldestMs, operation.timeMs);
    if (++gone % STEP === 0) yield;
  }
  operations.reverse();
  // Places of those only that a round names.
  const places = new Map<Transaction, number | undefined>();
  for (const { round } of transactions) {
    if (!rounds.has(round)) {
      rounds.set(round, rounds.size);
      for (const item of round.facts.settlements.flatMap(({ transaction, bets }) => [transaction, ...bets])) {
        places.set(item, undefined);
      }
    }
    if (++gone % STEP === 0) yield;
  }
  for (const [i, item] of transactions.entries()) {
    if (places.has(item)) places.set(item, i);
    if (++gone % STEP === 0) yield;
  }
  const placeOf = (item: Transaction) => must(places.get(item), "what a round names is on its wallet's list");
  return {
    facts: [username, currency, balance, version, blocked ? 1 : 0, talliesImage(wallet)],
    rounds: listOf([...rounds.keys()], (round) => roundImage(round, placeOf)),
    transactions: listOf(transactions, (item) => item.image(rounds.get(item.round) as number)),
    operations: listOf(operations, operationImage),
    oldestMs,
    openBets,
  };
}

function listOf<T, U>(items: readonly T[], imageOf: (item: T) => U): ItemList<U> {
  return { length: items.length, images: (from, to) => items.slice(from, to).map(imageOf) };
}

/** Throws an `AssertionFailure` when the image contradicts itself. */
export function walletFrom(image: WalletImage): Wallet {
  const [username, currency, balance, version, isBlocked, tallies, roundImages, transactionImages, operations] = image;
  const wallet = new Wallet(username, intern(currency));
  wallet.balance = balance;
  wallet.version = version;
  wallet.blocked = isBlocked === 1;
  const rounds = roundImages.map(([productId, id]) => new Round(intern(productId), id));
  const transactions = transactionImages.map((item) => {
    const transaction = Transaction.fromImage(must(rounds[item[0]], 'a transaction is of a round'), item);
    wallet.add(transaction);
    if (transaction.isOpen) wallet.openBets++;
    if (transaction.isTombstone) wallet.ownTallies().tombstones++;
    return transaction;
  });
  roundImages.forEach((facts, i) => {
    writeFacts(rounds[i] as Round, facts, transactions);
  });
  if (tallies !== null) writeTallies(wallet, tallies);
  for (const operation of operations) wallet.addOperation(operationFrom(operation));
  return wallet;
}

function talliesImage({ tallies }: Wallet): TalliesImage | null {
  const { tipsDay, tipsCredited, carried } = tallies;
  return tipsDay === -1 && carried === 0n ? null : [tipsDay, tipsCredited, String(carried)];
}

function writeTallies(wallet: Wallet, [tipsDay, tipsCredited, carried]: TalliesImage): void {
  const tallies = wallet.ownTallies();
  tallies.tipsDay = tipsDay;
  tallies.tipsCredited = tipsCredited;
  tallies.carried = BigInt(carried);
}

function roundImage(round: Round, placeOf: (item: Transaction) => number): RoundImage {
  const { productId, id, facts } = round;
  const { ended, markMs, settlements, closings } = facts;
  if (!ended && markMs === -1 && settlements.length === 0 && closings.length === 0) return [productId, id];
  return [
    productId,
    id,
    ended ? 1 : 0,
    markMs,
    settlements.map(({ transaction, bets }) => [placeOf(transaction), bets.map(placeOf)]),
    closings.map(({ type, id, before, after, version }) => [CLOSINGS.indexOf(type), id, before, after, version]),
  ];
}

function writeFacts(round: Round, image: RoundImage, transactions: readonly Transaction[]): void {
  if (image.length === 2) return;
  const [, , isEnded, markMs, settlements, closings] = image;
  const at = (place: number) => must(transactions[place], 'a settlement names transactions of its wallet');
  if (isEnded === 1) round.end();
  if (markMs !== -1) round.mark(markMs);
  for (const [transaction, bets] of settlements) {
    round.addSettlement({ transaction: at(transaction), bets: bets.map(at) });
  }
  for (const [code, id, before, after, version] of closings) {
    const type = must(CLOSINGS[code], 'a round is closed by a cancel or a void');
    round.addClosing({ type, id, before, after, version });
  }
}

function operationImage({ type, id, amount, after, timeMs, by, reason }: OperationFacts): OperationImage {
  const code = OPERATION_NUMBER[type];
  const signature = by && ([by.name, by.address] as const);
  if (reason !== undefined) return [code, id, amount, after, timeMs, signature ?? null, reason];
  return signature === undefined ? [code, id, amount, after, timeMs] : [code, id, amount, after, timeMs, signature];
}

function operationFrom([code, id, amount, after, timeMs, signature, reason]: OperationImage): OperationFacts {
  const type = OPERATION_BY_NUMBER.get(code);
  assert(type !== undefined, 'an operation has a known type');
  const by = signature ? { name: signature[0], address: signature[1] } : undefined;
  return { type, id, amount, after, timeMs, by, reason };
}
