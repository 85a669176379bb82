import type { Head, SealedEntry } from './wal.js';

/** What another node is to hold of a log before anything of it is told. */
export interface Copy {
  readonly shard: number;
  /** The head before the first of the entries. */
  readonly base: Head;
  /** In order; none where only the head is asked for. */
  readonly entries: readonly SealedEntry[];
  /** All that is kept here: whoever holds something else of this log forgets that. */
  readonly isWhole: boolean;
}

/**
 * held   another node has all of it, and holds it for whoever takes the shard over
 * gap    it lacks what comes before; all that is kept has to go
 * none   nobody holds it, or not known whether
 */
export type CopyOutcome = 'held' | 'gap' | 'none';

/** Does not reject. */
export type PutCopies = (copies: readonly Copy[]) => Promise<readonly CopyOutcome[]>;
