import type { ArchiveKey } from '../ports/archive.js';
import type { TransactionKind } from '../wallet/state/transaction-kind.js';

const PRIME = 0x01000193;
const BASIS = 0x811c9dc5;

/*
 * Hashes of keys in archives: FNV-1a over UTF-16 code units, then MurmurHash3's finalizer. The hashes are stored
 * permanently, so they must never change.
 */

/** The stored hash of a username. */
export function hashOfPlayer(username: string): number {
  return finish(mixed(BASIS, username));
}

/** The stored hash of a round or transaction id within one product. */
export function hashOfName(productId: string, id: string): number {
  // No code unit equals the separator, so ("a", "bc") and ("ab", "c") hash differently.
  return finish(mixed(Math.imul(mixed(BASIS, productId) ^ 0x10000, PRIME), id));
}

/**
 * The stored hash of a transaction's id. Settlement ids are unique only within their round; rewards, debits and credits
 * have separate namespaces.
 */
export function hashOfTransaction(kind: TransactionKind, productId: string, roundId: string, id: string): number {
  switch (kind) {
    case 'settlement':
      return hashOfName(`${productId}\n${roundId}`, id);
    case 'reward':
    case 'debit':
    case 'credit':
      return hashOfName(`${productId}\n\n${kind}`, id);
    default:
      return hashOfName(productId, id);
  }
}

export function nameOfRound(username: string, productId: string, roundId: string): ArchiveKey {
  return { player: hashOfPlayer(username), kind: 'round', hash: hashOfName(productId, roundId) };
}

function mixed(start: number, text: string): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash;
}

/** Makes every bit depend on every code unit. */
export function finish(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
