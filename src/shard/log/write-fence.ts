import { PIECE_ENTRIES } from './recent-entries.js';
import { RecoveryError } from './recovery-error.js';
import type { RetryPolicy } from './retry-policy.js';
import { appendWithRetries, FencedError } from './take-over.js';
import { type Append, appendOf, type EncodedEntry, type Head, isSameHead, type Takeover, type Wal } from './wal.js';

/** The newest entries of a log, as its owner has them. */
export interface OwnTail {
  /** The entries after `head`; undefined when `head` is not among them. */
  findEntriesAfter(head: Head): readonly EncodedEntry[] | undefined;
}

/** Attempts before giving up: an operator must look at a store that keeps losing its tail. */
export const ATTEMPTS_MAX = 5;

/**
 * Writes a fence of this very owner over its own log. First puts back the entries of `tail` that a failover has lost
 * meanwhile: identical bytes, until the log ends in the fence. Resolves to the number of lost entries. Throws a
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
    const missing = maybeMissing(found, fenced, tail);
    if (missing === undefined) throw new FencedError(fenced.shard, found);
    append = missing.length === 0 ? appendOf(fenced) : { ...append, expected: found, entries: missing };
  }
  throw new RecoveryError(`the log of shard ${fenced.shard} loses its newest entries again and again`);
}

/**
 * Entries missing between `head`, where the log ends, and the fence, including the fence. Undefined when `head` is not
 * ours, or too old.
 */
export function maybeMissing(head: Head, fenced: Takeover, tail: OwnTail): readonly EncodedEntry[] | undefined {
  const { previous, entry } = fenced;
  if (isSameHead(head, entry.head)) return [];
  if (isSameHead(head, previous)) return [entry];
  const lost = tail.findEntriesAfter(head);
  const newest = lost?.at(-1);
  // The fence may stand on an entry that was durable before its owner knew.
  return lost !== undefined && newest !== undefined && isSameHead(newest.head, previous) ? [...lost, entry] : undefined;
}

/** The log's head if it is not `expected`; undefined when all entries are in the log. */
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
