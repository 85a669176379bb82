import { type Head, isSameHead, type SealedEntry } from './wal.js';

/** All that is kept of a log could be too much for one call to the store. */
export const PIECE_ENTRIES = 1000;

/**
 * The newest entries of a log that its store has confirmed. A store that replicates asynchronously can lose some of
 * them in a failover; then they go in again, with the same LSNs and the same bytes. The newest one is always kept.
 */
export class RecentEntries {
  private entries: SealedEntry[] = [];
  /** Entries before this place are not kept any more; they leave the array by and by. */
  private start = 0;
  private bytes = 0;

  constructor(
    private before: Head,
    private readonly bytesMax: number,
  ) {}

  /** The head before the oldest of them. */
  get base(): Head {
    return this.before;
  }

  /** The head after all of them. */
  get newest(): Head {
    return this.entries.at(-1)?.head ?? this.before;
  }

  add(entry: SealedEntry): void {
    this.entries.push(entry);
    this.bytes += entry.bytes.length;
    while (this.bytes > this.bytesMax && this.start < this.entries.length - 1) {
      const oldest = this.entries[this.start++] as SealedEntry;
      this.before = oldest.head;
      this.bytes -= oldest.bytes.length;
    }
    if (this.start > this.entries.length / 2) {
      this.entries = this.entries.slice(this.start);
      this.start = 0;
    }
  }

  /** The entries after `head`, in order; undefined when `head` is none of ours, or too old. */
  maybeAfter(head: Head): readonly SealedEntry[] | undefined {
    // A sequence says where its entry is. To look for it took who holds copies longer than all else: thousands are kept.
    const at = this.entries.length - 1 - (this.newest.lsn.sequence - head.lsn.sequence);
    const found = at < this.start ? undefined : this.entries[at];
    if (found !== undefined && isSameHead(found.head, head)) return this.entries.slice(at + 1);
    return isSameHead(this.before, head) ? this.all() : undefined;
  }

  /** Oldest first. */
  all(): readonly SealedEntry[] {
    return this.entries.slice(this.start);
  }
}
