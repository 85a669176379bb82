import type { Patience } from './patience.js';
import { PIECE_ENTRIES } from './recent-entries.js';
import { RecoveryError } from './recovery-error.js';
import { appendPatiently, FencedError } from './take-over.js';
import { type Append, appendOf, type Head, isSameHead, type SealedEntry, type Takeover, type Wal } from './wal.js';

/** The newest entries of a log, as its owner has them. */
export interface OwnTail {
  /** The entries after `head`; undefined when `head` is none of them. */
  maybeEntriesAfter(head: Head): readonly SealedEntry[] | undefined;
}

/** A store that loses its tail again and again is left to people. */
export const ATTEMPTS_MAX = 5;

/**
 * Writes a fence of this very owner over its own log, and before it what a store that failed over has lost meanwhile of
 * `tail`: the identical bytes, until the log ends in the fence. Resolves to how many entries had been lost. Throws a
 * `FencedError` where the log ends in what this owner does not have.
 */
export async function writeFence(
  fenced: Takeover,
  tail: OwnTail,
  deps: Patience & { readonly wal: Pick<Wal, 'append'> },
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
 * What a log that ends in `head` lacks up to the fence, the fence included; undefined when `head` is none of ours, or
 * too old.
 */
export function maybeMissing(head: Head, fenced: Takeover, tail: OwnTail): readonly SealedEntry[] | undefined {
  const { previous, entry } = fenced;
  if (isSameHead(head, entry.head)) return [];
  if (isSameHead(head, previous)) return [entry];
  const lost = tail.maybeEntriesAfter(head);
  const newest = lost?.at(-1);
  // The fence can stand on an entry that was durable before its owner knew.
  return lost !== undefined && newest !== undefined && isSameHead(newest.head, previous) ? [...lost, entry] : undefined;
}

/** The head that the log has instead of `expected`; undefined when all entries are there. */
async function conflictOf(
  { shard, expected, entries }: Append,
  deps: Patience & { readonly wal: Pick<Wal, 'append'> },
): Promise<Head | undefined> {
  let before = expected;
  for (let first = 0; first < entries.length; first += PIECE_ENTRIES) {
    const piece = entries.slice(first, first + PIECE_ENTRIES);
    const [outcome] = await appendPatiently([{ shard, expected: before, entries: piece }], deps);
    if (outcome?.type === 'conflict') return outcome.head;
    before = (piece.at(-1) as SealedEntry).head;
  }
  return undefined;
}
