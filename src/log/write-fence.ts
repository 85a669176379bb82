import { RecoveryError } from '../ports/recovery-error.js';
import type { RetryPolicy } from '../ports/retry-policy.js';
import {
  type Append,
  appendOf,
  type EncodedEntry,
  type Head,
  isSameHead,
  type Takeover,
  type Wal,
} from '../ports/wal.js';
import { PIECE_ENTRIES } from './recent-entries.js';
import { appendWithRetries, FencedError, headOf } from './take-over.js';

/** The newest entries of a log, as kept by its owner. */
export interface OwnTail {
  /** The entries after `head`; undefined if `head` is not one of the kept entries. */
  findEntriesAfter(head: Head): readonly EncodedEntry[] | undefined;
}

/** Maximum number of attempts. If a store loses the tail again and again, an operator must investigate. */
export const ATTEMPTS_MAX = 5;

/**
 * Writes this owner's fence to its own log. If a failover loses entries of `tail` in the meantime, appends them again
 * with the same bytes. Repeats this until the log ends in the fence. Resolves to the number of lost entries. Throws a
 * `FencedError` if the log ends in an entry unknown to this owner.
 */
export async function writeFence(
  fenced: Takeover,
  tail: OwnTail,
  deps: RetryPolicy & { readonly wal: Pick<Wal, 'append'> },
): Promise<number> {
  let append = appendOf(fenced);
  for (let round = 1; round <= ATTEMPTS_MAX; round++) {
    const found = await conflictOf(append, deps);
    if (found === undefined) return append.entries.length - 1;
    const missing = findMissing(found, fenced, tail);
    if (missing === undefined) throw new FencedError(fenced.shard, found);
    append = missing.length === 0 ? appendOf(fenced) : { ...append, expected: found, entries: missing };
  }
  throw keepsLosing(fenced.shard);
}

/** Appends entries of `tail` again that the log has lost, with the same bytes. Resolves to their number. */
export async function appendLost(
  shard: number,
  tail: OwnTail,
  deps: RetryPolicy & { readonly wal: Pick<Wal, 'append' | 'head'> },
): Promise<number> {
  let expected = await headOf(shard, deps);
  for (let round = 1; round <= ATTEMPTS_MAX; round++) {
    const entries = tail.findEntriesAfter(expected) ?? [];
    const found = await conflictOf({ shard, expected, entries }, deps);
    if (found === undefined) return entries.length;
    expected = found;
  }
  throw keepsLosing(shard);
}

/**
 * The entries to append after `head`, where the log ends, up to and including the fence. Undefined if `head` is unknown
 * or too old.
 */
export function findMissing(head: Head, fenced: Takeover, tail: OwnTail): readonly EncodedEntry[] | undefined {
  const { previous, entry } = fenced;
  if (isSameHead(head, entry.head)) return [];
  if (isSameHead(head, previous)) return [entry];
  const lost = tail.findEntriesAfter(head);
  const newest = lost?.at(-1)?.head;
  if (lost === undefined || newest === undefined) return undefined;
  if (isSameHead(newest, entry.head)) return lost;
  return isSameHead(newest, previous) ? [...lost, entry] : undefined;
}

/** The log's head if it differs from `expected`; undefined once all entries are in the log. */
async function conflictOf(
  { shard, expected, entries }: Append,
  deps: RetryPolicy & { readonly wal: Pick<Wal, 'append'> },
): Promise<Head | undefined> {
  let before = expected;
  for (let first = 0; first < entries.length; first += PIECE_ENTRIES) {
    const piece = entries.slice(first, first + PIECE_ENTRIES);
    const [outcome] = await appendWithRetries([{ shard, expected: before, entries: piece }], deps);
    if (outcome?.type === 'conflict') return outcome.head;
    before = (piece.at(-1) as EncodedEntry).head;
  }
  return undefined;
}

function keepsLosing(shard: number): RecoveryError {
  return new RecoveryError(`the log of shard ${shard} keeps losing its newest entries`);
}
