import { type Head, isSameHead, type SealedEntry } from './ports.js';

const ENTRIES_MAX = 1024;

/**
 * The newest entries of a log that its store has confirmed. A store that replicates asynchronously can lose some of
 * them in a failover; then they go in again, with the same LSNs and the same bytes.
 */
export class RecentEntries {
  private readonly entries: SealedEntry[] = [];
  private bytes = 0;

  constructor(
    /** The head before the oldest of them. */
    private base: Head,
    private readonly bytesMax: number,
  ) {}

  add(entry: SealedEntry): void {
    this.entries.push(entry);
    this.bytes += entry.bytes.length;
    while (this.entries.length > ENTRIES_MAX || (this.bytes > this.bytesMax && this.entries.length > 1)) {
      const oldest = this.entries.shift() as SealedEntry;
      this.base = oldest.head;
      this.bytes -= oldest.bytes.length;
    }
  }

  /** Those after `head`, in order; undefined when `head` is none of ours, or too old. */
  maybeAfter(head: Head): readonly SealedEntry[] | undefined {
    for (let i = this.entries.length - 1; i >= 0; i--) {
      if (isSameHead((this.entries[i] as SealedEntry).head, head)) return this.entries.slice(i + 1);
    }
    return isSameHead(this.base, head) ? [...this.entries] : undefined;
  }

  all(): readonly SealedEntry[] {
    return this.entries;
  }
}
