import { assert, must } from '../../base/assert.js';
import { textBytesMax, writeText } from '../records/bytes.js';
import type { OperationFacts, OperationType } from './operation.js';
import type { Round, RoundClosing, Transaction } from './round.js';
import { scratchOf } from './tables.js';
import { effectBytesMax, effectFrom, effectHead, isAdjustment, writeEffect } from './transaction-record.js';
import type { Wallet } from './wallet.js';
import type { Wallets } from './wallets.js';

/**
 * One wallet as plain arrays, used to compare two wallets and as the content of snapshots of format 1. Transactions and
 * rounds are referred to by their index in `transactions` and `rounds`. Everything else in a wallet is derived from
 * this, except request hashes, which are missing for effects written by an older walletd.
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
  rareFields: RareFieldsImage | null,
];

/** `carried` is a string of decimal digits because, unlike a balance, it has no upper limit. */
type RareFieldsImage = readonly [
  tipsDay: number,
  tipsCredited: number,
  carried: string,
  /** Absent in snapshots of format 1. */
  session?: readonly [digest: string, endMs: number | null],
];

/** `facts` are the transaction's flags. Each effect takes four numbers, as described in transaction-record.ts. */
type TransactionImage = readonly [
  /** The index in the wallet's rounds. */
  round: number,
  id: string,
  facts: number,
  /** Request ids of adjustments and rollbacks. */
  requestIds: readonly string[] | null,
  createdMs: number,
  /** The time of the last change, in milliseconds after `createdMs`. */
  updated: number,
  amount: number,
  ...effects: number[],
];

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
/** Absent fields at the end are omitted. */
type OperationImage = readonly [
  type: number,
  id: string,
  amount: number,
  after: number,
  timeMs: number,
  by?: readonly [name: string, address: string] | null,
  reason?: string | null,
  /** Absent in snapshots of format 1. */
  approver?: readonly [name: string, address: string] | null,
  request?: readonly [expiresMs: number, allowNegativeBalance: boolean],
];

/**
 * Numbers of the operation types in snapshots. They are stored permanently, so a number must never change or be reused.
 */
const OPERATION_NUMBER: Readonly<Record<OperationType, number>> = {
  deposit: 0,
  withdrawal: 1,
  import: 2,
  correction: 3,
  create: 4,
  block: 5,
  unblock: 6,
  request: 7,
  refusal: 8,
  expiry: 9,
};
const OPERATION_BY_NUMBER = new Map(
  Object.entries(OPERATION_NUMBER).map(([type, number]) => [number, type as OperationType]),
);
const CLOSINGS: readonly RoundClosing['type'][] = ['cancel', 'void', 'rollback'];

const EFFECTS_START = 7;
const EFFECT_LENGTH = 4;

export function imageOf(wallet: Wallet): WalletImage {
  const { username, currency, balance, version, blocked } = wallet;
  const rounds = new Map<number, number>();
  const roundList: Round[] = [];
  const places = new Map<number, number>();
  const transactions = [...wallet.transactions()].reverse().map((item, place) => {
    places.set(item.row, place);
    const { round } = item;
    if (!rounds.has(round.row)) {
      rounds.set(round.row, rounds.size);
      roundList.push(round);
    }
    return transactionImage(item, rounds.get(round.row) as number);
  });
  const placeOf = ({ row }: Transaction) => must(places.get(row), "what a round names is on its wallet's list");
  return [
    ...([username, currency, balance, version, blocked ? 1 : 0, rareFieldsImage(wallet)] as const),
    roundList.map((round) => roundImage(round, placeOf)),
    transactions,
    [...wallet.allOperations()].reverse().map(operationImage),
  ];
}

/** Creates the wallet from its image. Throws an `AssertionFailure` if the image is inconsistent. */
export function addImage(wallets: Wallets, image: WalletImage): Wallet {
  const [username, currency, balance, version, isBlocked, rareFields, roundImages, transactionImages, operations] =
    image;
  const wallet = wallets.create(username, currency);
  wallet.balance = balance;
  wallet.version = version;
  wallet.blocked = isBlocked === 1;
  const rounds = roundImages.map(([productId, id]) => wallet.addRound(wallet.tables.products.take(productId), id));
  const transactions = transactionImages.map((item) => {
    const transaction = addTransaction(wallet, must(rounds[item[0]], 'a transaction is of a round'), item);
    return transaction;
  });
  roundImages.forEach((facts, i) => {
    writeFacts(rounds[i] as Round, facts, transactions);
  });
  if (rareFields !== null) {
    const [tipsDay, tipsCredited, carried, stored] = rareFields;
    const session = stored && { digest: stored[0], endMs: stored[1] };
    wallet.rareFields = { tipsDay, tipsCredited, carried: BigInt(carried), session };
  }
  for (const operation of operations) wallet.addOperation(operationFrom(operation));
  wallet.noteClosed(0);
  return wallet;
}

function transactionImage(item: Transaction, round: number): TransactionImage {
  const { id, facts, createdMs, updatedMs, stake } = item;
  const effects = item.effects();
  const numbers = effects.flatMap((effect) => [effectHead(effect), effect.amount, effect.before, effect.after]);
  const ids = effects.flatMap(({ requestId }) => (requestId === '' ? [] : requestId));
  return [round, id, facts, ids.length === 0 ? null : ids, createdMs, updatedMs - createdMs, stake, ...numbers];
}

function addTransaction(wallet: Wallet, round: Round, image: TransactionImage): Transaction {
  const [, id, facts, ids, createdMs, updated, amount] = image;
  assert((image.length - EFFECTS_START) % EFFECT_LENGTH === 0, 'an effect is four numbers');
  const requestIds = [...(ids ?? [])];
  const effectCount = (image.length - EFFECTS_START) / EFFECT_LENGTH;
  const idBytes = requestIds.reduce((sum, requestId) => sum + textBytesMax(requestId), textBytesMax(id));
  const blob = scratchOf(idBytes + effectCount * effectBytesMax(''));
  let end = writeText(blob, 0, id);
  for (let at = EFFECTS_START; at < image.length; at += EFFECT_LENGTH) {
    const [head, moved, before, after] = image.slice(at, at + EFFECT_LENGTH) as [number, number, number, number];
    const requestId = isAdjustment(head) ? must(requestIds.shift(), 'an adjustment has its request') : '';
    end = writeEffect(blob, end, effectFrom(head, moved, before, after, requestId));
  }
  return wallet.addRecord(round, facts, createdMs, createdMs + updated, amount, blob, 0, end);
}

function rareFieldsImage({ rareFields }: Wallet): RareFieldsImage | null {
  const { tipsDay, tipsCredited, carried, session } = rareFields;
  if (session !== undefined) return [tipsDay, tipsCredited, String(carried), [session.digest, session.endMs]];
  return tipsDay === -1 && carried === 0n ? null : [tipsDay, tipsCredited, String(carried)];
}

function roundImage(round: Round, placeOf: (item: Transaction) => number): RoundImage {
  const { productId, id, ended, markMs, settlements, closings } = round;
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
    const type = must(CLOSINGS[code], 'the message about a round has a known type');
    round.addClosing({ type, id, before, after, version });
  }
}

function operationImage(operation: OperationFacts): OperationImage {
  const { type, id, amount, after, timeMs, by, reason, approver, request } = operation;
  const code = OPERATION_NUMBER[type];
  const signature = by && ([by.name, by.address] as const);
  if (approver !== undefined || request !== undefined) {
    const decided = approver === undefined ? null : ([approver.name, approver.address] as const);
    const image = [code, id, amount, after, timeMs, signature ?? null, reason ?? null, decided] as const;
    return request === undefined ? image : [...image, [request.expiresMs, request.allowNegativeBalance]];
  }
  if (reason !== undefined) return [code, id, amount, after, timeMs, signature ?? null, reason];
  return signature === undefined ? [code, id, amount, after, timeMs] : [code, id, amount, after, timeMs, signature];
}

function operationFrom(image: OperationImage): OperationFacts {
  const [code, id, amount, after, timeMs, signature, reason, decided, terms] = image;
  const type = OPERATION_BY_NUMBER.get(code);
  assert(type !== undefined, 'an operation has a known type');
  const operator = (pair: typeof decided) => (pair ? { name: pair[0], address: pair[1] } : undefined);
  const request = terms && { expiresMs: terms[0], allowNegativeBalance: terms[1] };
  const facts = { type, id, amount, after, timeMs, by: operator(signature), reason: reason ?? undefined };
  return { ...facts, approver: operator(decided), request };
}
