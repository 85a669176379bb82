import type { EncodedEntry, Head } from '../ports/wal.js';

/** Entries that another node must hold before this node releases their replies. */
export interface Copy {
  readonly shard: number;
  /** The head that precedes the first entry. */
  readonly base: Head;
  /** Entries in order; empty if the receiver need only compare heads. */
  readonly entries: readonly EncodedEntry[];
  /**
   * True if these are all the entries that this node keeps. The receiver then discards any other entries that it holds
   * for this log.
   */
  readonly isWhole: boolean;
}

/**
 * held   another node has the complete copy and keeps it for the next owner
 * gap    the other node lacks earlier entries, so all kept entries must be sent
 * none   this node does not know whether any node holds the copy
 */
export type CopyOutcome = 'held' | 'gap' | 'none';

/** Sends copies to another node. Does not reject. */
export type PutCopies = (copies: readonly Copy[]) => Promise<readonly CopyOutcome[]>;
