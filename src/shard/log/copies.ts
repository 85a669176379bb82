import type { EncodedEntry, Head } from './wal.js';

/** Entries that another node must hold before this node releases their replies. */
export interface Copy {
  readonly shard: number;
  /** The head before the first entry. */
  readonly base: Head;
  /** Entries in order; empty if only the head is to be compared. */
  readonly entries: readonly EncodedEntry[];
  /**
   * True if these are all the entries that this node keeps. The receiver then discards all other entries of this log.
   */
  readonly isWhole: boolean;
}

/**
 * held   another node has the complete copy and keeps it for the next owner
 * gap    the other node lacks earlier entries, so all kept entries must be sent
 * none   no node is known to hold the copy
 */
export type CopyOutcome = 'held' | 'gap' | 'none';

/** Does not reject. */
export type PutCopies = (copies: readonly Copy[]) => Promise<readonly CopyOutcome[]>;
