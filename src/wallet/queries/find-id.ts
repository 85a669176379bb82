import type { Operation } from '../state/operation.js';
import type { Round, Transaction } from '../state/round.js';
import { writtenText } from '../state/tables.js';
import type { Wallet } from '../state/wallet.js';
import type { Wallets } from '../state/wallets.js';

/** One match in a search for an id. */
export interface IdHit {
  readonly username: string;
  readonly kind: 'transaction' | 'round' | 'request' | 'operation';
  /** The kind of the transaction, the type of the message or operation, or `round`. */
  readonly what: string;
  readonly productId: string | undefined;
  readonly roundId: string | undefined;
  /** The id of the transaction or operation. */
  readonly id: string | undefined;
  /** The state of the transaction; `open` or `closed` for a round. */
  readonly state: string | undefined;
  /** Creation time by the shard's clock, in milliseconds. */
  readonly timeMs: number | undefined;
}

/**
 * Maximum number of items examined in one turn, which takes about half a millisecond. A hibernated wallet counts as one
 * item, and so does each transaction of a wallet in use.
 */
const LOOKS_MAX = 1000;

/** Searches the players from this position on, until the limit for one turn is reached. */
export function findIds(
  wallets: Wallets,
  id: string,
  from: number,
  limit: number,
): { hits: IdHit[]; next: number | undefined; players: number } {
  const { count: players } = wallets;
  const written = writtenBytes(id);
  const hits: IdHit[] = [];
  let position = from;
  for (let looks = 0; position < players && looks < LOOKS_MAX && hits.length < limit; position++) {
    looks++;
    const peeked = wallets.peekAt(position);
    if (peeked?.isPacked && !isInBody(peeked, written)) continue;
    const wallet = wallets.lookAt(position) as Wallet;
    looks += wallet.transactionCount;
    for (const hit of hitsIn(wallet, id, written)) if (hits.length < limit) hits.push(hit);
  }
  return { hits, next: position < players && hits.length < limit ? position : undefined, players };
}

/** The id as stored in hibernated wallets, blobs and serialized rounds. Each text has exactly one stored form. */
export function writtenBytes(id: string): Buffer {
  const { bytes, length } = writtenText(id);
  return Buffer.from(bytes.subarray(0, length));
}

/** All items in a wallet that have the id. Only adjustments and rollbacks store their request ids. */
export function* hitsIn(wallet: Wallet, id: string, written = writtenBytes(id)): Generator<IdHit> {
  const { username } = wallet;
  const rounds = new Set<number>();
  for (const item of wallet.transactions()) {
    const { round } = item;
    if (!rounds.has(round.row)) {
      rounds.add(round.row);
      yield* hitsInRound(username, round, id);
    }
    if (isInBlob(item, written)) yield* hitsInTransaction(username, item, id);
  }
  for (const operation of wallet.allOperations()) if (operation.id === id) yield operationHit(username, operation);
}

function* hitsInRound(username: string, round: Round, id: string): Generator<IdHit> {
  const { id: roundId, productId, closings } = round;
  const place = { username, productId, roundId };
  if (roundId === id) {
    const members = round.members();
    const state = members.some(({ isOpen }) => isOpen) ? 'open' : 'closed';
    yield { ...place, kind: 'round', what: 'round', id: undefined, state, timeMs: members[0]?.createdMs };
  }
  for (const { type, id: closingId } of closings) {
    if (closingId !== id) continue;
    // A BY_ROUND rollback has no id of its own; the recorded id is the id of its request.
    const kind = type === 'rollback' ? 'request' : 'transaction';
    yield { ...place, kind, what: `${type} of the round`, id: undefined, state: undefined, timeMs: undefined };
  }
}

function* hitsInTransaction(username: string, item: Transaction, id: string): Generator<IdHit> {
  const { kind, state, createdMs: timeMs, round } = item;
  const hit = { username, productId: round.productId, roundId: round.id, id: item.id, state, timeMs };
  if (kind !== 'mark' && item.id === id) {
    yield { ...hit, kind: 'transaction', what: kind === 'tombstone' ? 'cancel of an unknown id' : kind };
  }
  for (const { type, requestId } of item.effects()) {
    if (requestId === id) yield { ...hit, kind: 'request', what: type, timeMs: undefined };
  }
}

function operationHit(username: string, { type, id, timeMs }: Operation): IdHit {
  const nowhere = { productId: undefined, roundId: undefined, state: undefined };
  return { username, kind: 'operation', what: type, id, timeMs, ...nowhere };
}

/** Searches a hibernated wallet without waking it. */
function isInBody(wallet: Wallet, written: Buffer): boolean {
  const { bytes, at } = wallet.body;
  return bytes.subarray(at, wallet.bodyEnd).includes(written);
}

function isInBlob(item: Transaction, written: Buffer): boolean {
  const { cursor, end } = item.blobCursor();
  return cursor.bytes.subarray(cursor.at, end).includes(written);
}
