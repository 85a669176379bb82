import type { EncodedEntry, Head } from './wal.js';

/** Entries of a log that another node must hold before their replies are released. */
export interface Copy {
  readonly shard: number;
  /** The head before the first of the entries. */
  readonly base: Head;
  /** In order; empty if only the head is asked for. */
  readonly entries: readonly EncodedEntry[];
  /** True if these are all the entries this node keeps: the receiver forgets any other entries of this log. */
  readonly isWhole: boolean;
}

/**
 * held   another node has all of the copy, and holds it for the next owner
 * gap    the other node lacks earlier entries; all kept entries must be sent
 * none   no node is known to hold the copy
 */
export type CopyOutcome = 'held' | 'gap' | 'none';

/** Does not reject. */
export type PutCopies = (copies: readonly Copy[]) => Promise<readonly CopyOutcome[]>;
