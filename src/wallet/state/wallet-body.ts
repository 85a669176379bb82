import { must } from '../../base/assert.js';
import type { Steps } from '../../base/steps.js';
import type { ByteWriter } from '../records/byte-writer.js';
import { type Cursor, textEnd } from '../records/bytes.js';
import { Operation, type OperationFacts, type OperationType } from './operation.js';
import type { Round, RoundClosing, Transaction } from './round.js';
import type { Session } from './session.js';
import { isNamedById, namespaceIn, numberOf } from './transaction-kind.js';
import type { RareFields, Wallet } from './wallet.js';

/*
 * The packed record of a hibernated wallet: everything except its row, in memory and in snapshots of format 2. For
 * numbers, signed numbers and texts, see src/wallet/records/bytes.ts. A name is a recurring text, written as its number
 * among the names that occur earlier in this record, from 1, or as 0 and then the text. A time is written as 1 + 2 *
 * its distance in milliseconds from a reference time, + 1 if it is earlier, or as 0 and then a double.
 *
 *   flags (byte): 1 rare fields, 2 session
 *   rare fields: day of tips (signed), tips credited (number), carried (text, decimal digits)
 *   session: digest (text), end (double, infinite if the session has no end)
 *   operations (number), oldest first:
 *     byte: type (3 bits), 8 with an operator, 16 with a reason
 *     time (after 0), id (text), amount (signed), balance after (signed), operator (name), reason (text)
 *   transactions (number), oldest first:
 *     round: its number among the rounds that occur earlier, from 1; or 0, product (name) and id (text)
 *     flags (number), created (time after 0), updated (time after it), amount (signed)
 *     bytes that follow (number): id (text) and effects, see transaction-record.ts
 *   rounds with further data (number):
 *     round (number), flags (byte): 1 ended, 2 has undone messages, 4 remembers messages; mark (double, little-endian)
 *     settlements (number): transaction (number, from 0 on), bets (number), each of them (number)
 *     closings (number): type (byte), id (text), balance before, after (signed), version (number);
 *       for type 3, which is also a cancel, the hash of its request (number)
 *     undone (number, if flagged): for each, the hash of its request (number)
 *     remembered (number, if flagged): for each, its hash (number), balance before, after (signed)
 */
const HAS_RARE_FIELDS = 1;
const HAS_SESSION = 2;
const HAS_PENDING = 4;
/** This value of the three type bits means that the actual type follows, with the fields that only approvals have. */
const OF_APPROVAL = 7;
const HAS_APPROVER = 1;
const HAS_TERMS = 2;
const ALLOWS_DEBT = 4;
const HAS_OPERATOR = 8;
const HAS_REASON = 16;
const ENDED = 1;
const HAS_UNDONE = 2;
const HAS_REMEMBERED = 4;
const NO_MARK = -1;
const BETS = numberOf('bet');
const REWARDS = numberOf('reward');

/** The order is stored permanently, so no type may change its position. */
const OPERATIONS: readonly OperationType[] = [
  'create',
  'import',
  'deposit',
  'withdrawal',
  'correction',
  'block',
  'unblock',
  'request',
  'refusal',
  'expiry',
];
const CLOSINGS: readonly RoundClosing['type'][] = ['cancel', 'void', 'rollback', 'cancel'];
const HASHED_CANCEL = 3;

/** Number of items processed in one step. */
const STEP = 64;

/** Writes a wallet's packed record in steps. The wallet must not change between the steps. */
export function* writeBody(bytes: ByteWriter, wallet: Wallet): Steps<void> {
  const writeName = nameWriter(bytes);
  writeRareFields(bytes, wallet);
  const operations = yield* oldestFirst(wallet.allOperations());
  bytes.number(operations.length);
  let gone = 0;
  for (const operation of operations) {
    writeOperation(bytes, operation, writeName);
    if (++gone % STEP === 0) yield;
  }
  yield* writeRounds(bytes, yield* oldestFirst(wallet.transactions()), writeName);
}

/**
 * Writes the rounds of these transactions, oldest first. For each of these rounds, `transactions` must contain all of
 * its transactions.
 */
function* writeRounds(
  bytes: ByteWriter,
  transactions: readonly Transaction[],
  writeName: (text: string) => void,
): Steps<void> {
  let gone = 0;
  const numbers = new Map<number, number>();
  const finalRounds = new Map<number, Round>();
  bytes.number(transactions.length);
  for (const item of transactions) {
    const { round } = item;
    const known = numbers.get(round.row);
    bytes.number(known ?? 0);
    if (known === undefined) {
      writeName(round.productId);
      bytes.text(round.id);
      numbers.set(round.row, numbers.size + 1);
      if (round.ended || round.hasMessages) finalRounds.set(round.row, round);
    }
    writeTransaction(bytes, item);
    if (++gone % STEP === 0) yield;
  }
  bytes.number(finalRounds.size);
  if (finalRounds.size === 0) return;
  const places = new Map<number, number>();
  for (const [place, { row }] of transactions.entries()) {
    places.set(row, place);
    if (++gone % STEP === 0) yield;
  }
  const placeOf = ({ row }: Transaction) => must(places.get(row), "what a round names is on its wallet's list");
  for (const [row, round] of finalRounds) {
    bytes.number(must(numbers.get(row), 'a round has its number'));
    writeRound(bytes, round, placeOf);
    if (++gone % STEP === 0) yield;
  }
}

/** Like `writeRounds`, but for a single round with all its transactions. */
export function writeOneRound(bytes: ByteWriter, round: Round, members: readonly Transaction[]): void {
  bytes.number(members.length);
  let isNamed = false;
  for (const item of members) {
    bytes.number(isNamed ? 1 : 0);
    if (!isNamed) {
      bytes.number(0);
      bytes.text(round.productId);
      round.writeId(bytes);
      isNamed = true;
    }
    writeTransaction(bytes, item);
  }
  const isFinal = round.ended || round.hasMessages;
  bytes.number(isFinal ? 1 : 0);
  if (!isFinal) return;
  const places = new Map(members.map(({ row }, place) => [row, place]));
  bytes.number(1);
  writeRound(bytes, round, ({ row }) => must(places.get(row), 'what a round names is among its members'));
}

/**
 * Adds everything in a packed record to an empty wallet. Throws an `AssertionFailure` when the record contradicts
 * itself.
 */
export function* readBody(cursor: Cursor, wallet: Wallet): Steps<void> {
  const readName = nameReader(cursor);
  const rareFields = readRareFields(cursor);
  if (rareFields !== undefined) wallet.rareFields = rareFields;
  let gone = 0;
  for (let left = cursor.number(); left > 0; left--) {
    wallet.addOperation(readOperation(cursor, readName));
    if (++gone % STEP === 0) yield;
  }
  yield* readRounds(cursor, wallet, readName);
}

/** Adds rounds to a wallet that has none of them; returns their transactions, oldest first. */
export function* readRounds(
  cursor: Cursor,
  wallet: Wallet,
  readName = nameReader(cursor),
): Steps<readonly Transaction[]> {
  const { tables } = wallet;
  let gone = 0;
  const count = cursor.number();
  const rounds: Round[] = [];
  const transactions: Transaction[] = [];
  for (let i = 0; i < count; i++) {
    const number = cursor.number();
    if (number === 0) {
      const product = tables.products.take(readName());
      const end = textEnd(cursor.bytes, cursor.at);
      rounds.push(wallet.addRoundFrom(product, cursor.bytes, cursor.at, end));
      cursor.at = end;
    }
    const round = must(number === 0 ? rounds.at(-1) : rounds[number - 1], 'a transaction is of a round');
    transactions.push(readTransaction(cursor, wallet, round));
    if (++gone % STEP === 0) yield;
  }
  for (let left = cursor.number(); left > 0; left--) {
    readRound(cursor, rounds, transactions);
    if (++gone % STEP === 0) yield;
  }
  return transactions;
}

/**
 * Ids of transactions that can be found by id alone. Bets, tips and tombstones share one set; rewards have a separate
 * one.
 */
export interface NamedIds {
  readonly ids: ReadonlySet<string>;
  readonly rewardIds: ReadonlySet<string>;
}

export function idsOfRounds(cursor: Cursor): NamedIds {
  const readName = nameReader(cursor);
  const ids = new Set<string>();
  const rewardIds = new Set<string>();
  for (let left = cursor.number(); left > 0; left--) {
    if (cursor.number() === 0) {
      readName();
      cursor.skipText();
    }
    const facts = cursor.number();
    cursor.time(cursor.time(0));
    cursor.signed();
    const length = cursor.number();
    const end = cursor.at + length;
    if (isNamedById(facts)) {
      const namespace = namespaceIn(facts);
      if (namespace === BETS) ids.add(cursor.text());
      else if (namespace === REWARDS) rewardIds.add(cursor.text());
    }
    cursor.at = end;
  }
  return { ids, rewardIds };
}

/**
 * True if the single round in this record remembers messages. `cursor` is positioned after the round's transactions.
 */
export function roundRemembersMessages(cursor: Cursor): boolean {
  if (cursor.number() === 0) return false;
  cursor.number();
  return (cursor.byte() & HAS_REMEMBERED) !== 0;
}

function nameWriter(bytes: ByteWriter): (text: string) => void {
  const names = new Map<string, number>();
  return (text) => {
    const known = names.get(text);
    bytes.number(known ?? 0);
    if (known !== undefined) return;
    bytes.text(text);
    names.set(text, names.size + 1);
  };
}

function nameReader(cursor: Cursor): () => string {
  const names: string[] = [''];
  return () => {
    const number = cursor.number();
    if (number === 0) names.push(cursor.text());
    return must(number === 0 ? names.at(-1) : names[number], 'a name was met before');
  };
}

/** Number of operations in a packed record. */
export function operationsIn(cursor: Cursor): number {
  readRareFields(cursor);
  return cursor.number();
}

/** The session, read from a hibernated wallet without waking it. */
export function sessionOf(wallet: Wallet): Session | undefined {
  return wallet.isPacked ? readRareFields(wallet.body)?.session : wallet.session;
}

/** All operations, newest first, read from a hibernated wallet without waking it. */
export function operationsOf(wallet: Wallet): readonly OperationFacts[] {
  if (!wallet.isPacked) return [...wallet.allOperations()];
  const cursor = wallet.body;
  const readName = nameReader(cursor);
  readRareFields(cursor);
  return Array.from({ length: cursor.number() }, () => readOperation(cursor, readName)).reverse();
}

/** True if a packed record has a request that waits for a second operator. */
export function hasPending(body: Cursor): boolean {
  return (body.byte() & HAS_PENDING) !== 0;
}

function readRareFields(cursor: Cursor): RareFields | undefined {
  const flags = cursor.byte();
  if (flags === 0) return undefined;
  const hasRareFields = (flags & HAS_RARE_FIELDS) !== 0;
  const tipsDay = hasRareFields ? cursor.signed() : -1;
  const tipsCredited = hasRareFields ? cursor.number() : 0;
  const carried = hasRareFields ? BigInt(cursor.text()) : 0n;
  const session = (flags & HAS_SESSION) === 0 ? undefined : readSession(cursor);
  return { tipsDay, tipsCredited, carried, session };
}

function readSession(cursor: Cursor): Session {
  const digest = cursor.text();
  const endMs = cursor.double();
  return { digest, endMs: endMs === Number.POSITIVE_INFINITY ? null : endMs };
}

function* oldestFirst<T>(newestFirst: Iterable<T>): Steps<T[]> {
  const items: T[] = [];
  for (const item of newestFirst) {
    items.push(item);
    if (items.length % STEP === 0) yield;
  }
  return items.reverse();
}

function writeRareFields(bytes: ByteWriter, wallet: Wallet): void {
  const { tipsDay, tipsCredited, carried, session } = wallet.rareFields;
  const hasRareFields = tipsDay !== -1 || carried !== 0n;
  const hasPending = wallet.tables.pending.has(wallet.row);
  bytes.byte(
    (hasRareFields ? HAS_RARE_FIELDS : 0) | (session === undefined ? 0 : HAS_SESSION) | (hasPending ? HAS_PENDING : 0),
  );
  if (hasRareFields) {
    bytes.signed(tipsDay);
    bytes.number(tipsCredited);
    bytes.text(String(carried));
  }
  if (session !== undefined) {
    bytes.text(session.digest);
    bytes.double(session.endMs ?? Number.POSITIVE_INFINITY);
  }
}

function writeOperation(bytes: ByteWriter, operation: OperationFacts, writeName: (text: string) => void): void {
  const { type, id, amount, after, timeMs, by, reason, approver, request } = operation;
  const flags = (by === undefined ? 0 : HAS_OPERATOR) | (reason === undefined ? 0 : HAS_REASON);
  const number = OPERATIONS.indexOf(type);
  const isOfApproval = number >= OF_APPROVAL || approver !== undefined;
  bytes.byte((isOfApproval ? OF_APPROVAL : number) | flags);
  bytes.time(timeMs, 0);
  bytes.text(id);
  bytes.signed(amount);
  bytes.signed(after);
  if (by !== undefined) writeName(Operation.signatureOf(by));
  if (reason !== undefined) bytes.text(reason);
  if (!isOfApproval) return;
  const debt = request?.allowNegativeBalance === true ? ALLOWS_DEBT : 0;
  bytes.byte(number);
  bytes.byte((approver === undefined ? 0 : HAS_APPROVER) | (request === undefined ? 0 : HAS_TERMS) | debt);
  if (approver !== undefined) writeName(Operation.signatureOf(approver));
  if (request !== undefined) bytes.double(request.expiresMs);
}

function readOperation(cursor: Cursor, readName: () => string): OperationFacts {
  const flags = cursor.byte();
  const number = flags & 0b111;
  const timeMs = cursor.time(0);
  const id = cursor.text();
  const amount = cursor.signed();
  const after = cursor.signed();
  const by = (flags & HAS_OPERATOR) === 0 ? undefined : Operation.operatorOf(readName());
  const reason = (flags & HAS_REASON) === 0 ? undefined : cursor.text();
  const facts = { id, amount, after, timeMs, by, reason };
  if (number !== OF_APPROVAL) return { type: typeOf(number), ...facts };
  const type = typeOf(cursor.byte());
  const more = cursor.byte();
  const approver = (more & HAS_APPROVER) === 0 ? undefined : Operation.operatorOf(readName());
  if ((more & HAS_TERMS) === 0) return { type, ...facts, approver };
  const request = { expiresMs: cursor.double(), allowNegativeBalance: (more & ALLOWS_DEBT) !== 0 };
  return { type, ...facts, approver, request };
}

function typeOf(number: number): OperationType {
  return must(OPERATIONS[number], 'an operation has a known type');
}

function writeTransaction(bytes: ByteWriter, item: Transaction): void {
  const { createdMs } = item;
  bytes.number(item.facts);
  bytes.time(createdMs, 0);
  bytes.time(item.updatedMs, createdMs);
  bytes.signed(item.stake);
  const { cursor, end } = item.blobCursor();
  bytes.number(end - cursor.at);
  bytes.copy(cursor.bytes, cursor.at, end);
}

function readTransaction(cursor: Cursor, wallet: Wallet, round: Round): Transaction {
  const facts = cursor.number();
  const createdMs = cursor.time(0);
  const updatedMs = cursor.time(createdMs);
  const amount = cursor.signed();
  const length = cursor.number();
  const item = wallet.addRecord(round, facts, createdMs, updatedMs, amount, cursor.bytes, cursor.at, length);
  cursor.at += length;
  return item;
}

function writeRound(bytes: ByteWriter, round: Round, placeOf: (item: Transaction) => number): void {
  const { settlements, closings, undoneHashes, remembered } = round;
  const hasUndone = undoneHashes.length > 0 ? HAS_UNDONE : 0;
  bytes.byte((round.ended ? ENDED : 0) | hasUndone | (remembered.length > 0 ? HAS_REMEMBERED : 0));
  bytes.double(round.markMs);
  bytes.number(settlements.length);
  for (const { transaction, bets } of settlements) {
    bytes.number(placeOf(transaction));
    bytes.number(bets.length);
    for (const bet of bets) bytes.number(placeOf(bet));
  }
  bytes.number(closings.length);
  for (const { type, id, before, after, version, requestHash } of closings) {
    bytes.byte(requestHash === undefined ? CLOSINGS.indexOf(type) : HASHED_CANCEL);
    bytes.text(id);
    bytes.signed(before);
    bytes.signed(after);
    bytes.number(version);
    if (requestHash !== undefined) bytes.number(requestHash);
  }
  if (hasUndone !== 0) {
    bytes.number(undoneHashes.length);
    for (const hash of undoneHashes) bytes.number(hash);
  }
  if (remembered.length === 0) return;
  bytes.number(remembered.length);
  for (const { hash, before, after } of remembered) {
    bytes.number(hash);
    bytes.signed(before);
    bytes.signed(after);
  }
}

function readRound(cursor: Cursor, rounds: readonly Round[], transactions: readonly Transaction[]): void {
  const round = must(rounds[cursor.number() - 1], 'a round is of its wallet');
  const at = (place: number) => must(transactions[place], 'a settlement names transactions of its wallet');
  const flags = cursor.byte();
  if ((flags & ENDED) !== 0) round.end();
  const markMs = cursor.double();
  if (markMs !== NO_MARK) round.mark(markMs);
  for (let left = cursor.number(); left > 0; left--) {
    const transaction = at(cursor.number());
    const bets = Array.from({ length: cursor.number() }, () => at(cursor.number()));
    round.addSettlement({ transaction, bets });
  }
  for (let left = cursor.number(); left > 0; left--) {
    const number = cursor.byte();
    const type = must(CLOSINGS[number], 'the message about a round has a known type');
    const id = cursor.text();
    const answer = { before: cursor.signed(), after: cursor.signed(), version: cursor.number() };
    round.addClosing({ type, id, ...answer, requestHash: number === HASHED_CANCEL ? cursor.number() : undefined });
  }
  if ((flags & HAS_UNDONE) !== 0) {
    for (let left = cursor.number(); left > 0; left--) round.addUndone(cursor.number());
  }
  if ((flags & HAS_REMEMBERED) === 0) return;
  for (let left = cursor.number(); left > 0; left--) {
    round.addRemembered({ hash: cursor.number(), before: cursor.signed(), after: cursor.signed() });
  }
}
