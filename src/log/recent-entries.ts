import { type EncodedEntry, type Head, isSameHead } from '../ports/wal.js';

/** Maximum number of entries per append, because all kept entries together could exceed one call to the store. */
export const PIECE_ENTRIES = 1000;

/**
 * The newest entries that a log's store has confirmed. A store that replicates asynchronously can lose some of them in
 * a failover; they are then appended again, with the same LSNs and the same bytes. The newest entry is always kept.
 */
export class RecentEntries {
  private entries: EncodedEntry[] = [];
  /** The index of the oldest kept entry. Older ones are removed from the array in batches. */
  private start = 0;
  private bytes = 0;

  constructor(
    private before: Head,
    private readonly bytesMax: number,
  ) {}

  /** The head before the oldest kept entry. */
  get base(): Head {
    return this.before;
  }

  /** The head after the newest kept entry. */
  get newest(): Head {
    return this.entries.at(-1)?.head ?? this.before;
  }

  add(entry: EncodedEntry): void {
    this.entries.push(entry);
    this.bytes += entry.bytes.length;
    while (this.bytes > this.bytesMax && this.start < this.entries.length - 1) {
      const oldest = this.entries[this.start++] as EncodedEntry;
      this.before = oldest.head;
      this.bytes -= oldest.bytes.length;
    }
    if (this.start > this.entries.length / 2) {
      this.entries = this.entries.slice(this.start);
      this.start = 0;
    }
  }

  /** The entries after `head`, in order; undefined if `head` is unknown or too old. */
  findAfter(head: Head): readonly EncodedEntry[] | undefined {
    // Compute the index from the sequence, because a node keeps thousands of entries.
    const at = this.entries.length - 1 - (this.newest.lsn.sequence - head.lsn.sequence);
    const found = at < this.start ? undefined : this.entries[at];
    if (found !== undefined && isSameHead(found.head, head)) return this.entries.slice(at + 1);
    return isSameHead(this.before, head) ? this.all() : undefined;
  }

  /** All kept entries, oldest first. */
  all(): readonly EncodedEntry[] {
    return this.entries.slice(this.start);
  }
}
