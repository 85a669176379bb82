import type { ShardPlace } from '../../feed/position.js';
import type { LostEntries } from '../../feed/request.js';
import { checkContinuity, decodeEntry } from '../../log/log-reader.js';
import { formatLsn, isSameLsn } from '../../ports/lsn.js';
import { type Entry, type Head, isAt } from '../../ports/wal.js';
import { predecessorOf, type StoreReader } from '../store-reader.js';

const PAGE_ENTRIES = 32;

/** Thrown if the log does not have the entry of a position: it lost entries, or the store was restored. */
export class ForeignPositionError extends Error {
  override readonly name = 'ForeignPositionError';
}

/** Reads one shard's log after a place, and reports the entries that the log no longer has. */
export class ShardCursor {
  /** The entry after `head`, if it has been read. */
  waiting: Entry | undefined = undefined;
  readonly lost: LostEntries[] = [];
  /** The newest entry whose items were all taken; undefined until the log has been read. */
  head: Head | undefined = undefined;
  /** Number of items of the waiting entry that have been taken. */
  items: number;
  private page: readonly Buffer[] = [];
  private index = 0;
  private isAtEnd = false;

  constructor(
    readonly shard: number,
    private readonly start: ShardPlace,
    private readonly reader: StoreReader,
  ) {
    this.items = start.items;
  }

  get place(): ShardPlace {
    const { head, items } = this;
    return head === undefined ? this.start : { lsn: head.lsn, checksum: head.checksum, items };
  }

  /** The newest entry of which items were taken; undefined until the log has been read. */
  get newest(): Head | undefined {
    return this.items > 0 ? this.waiting?.head : this.head;
  }

  /** Reads the next entry, unless one is waiting. If none is waiting afterwards, the log has no more. */
  async fill(): Promise<void> {
    if (this.waiting !== undefined || this.isAtEnd) return;
    if (this.index === this.page.length && !(await this.turnPage())) return;
    const entry = decodeEntry(this.page[this.index++] as Buffer, this.shard, this.reader.format);
    if (this.head === undefined && this.findStart(entry) === 'is the start') return await this.fill();
    const head = this.head as unknown as Head;
    checkContinuity(entry, this.shard, head);
    if (entry.owner?.afterLoss) this.noteLost(head, entry.head, 'accepted-loss');
    this.waiting = entry;
  }

  /** Notes that all items of the waiting entry are taken. */
  pass(): void {
    this.head = this.waiting?.head;
    this.waiting = undefined;
    this.items = 0;
  }

  private async turnPage(): Promise<boolean> {
    if (this.page.length > 0 && this.page.length < PAGE_ENTRIES) this.isAtEnd = true;
    if (this.isAtEnd) return false;
    const { epoch, sequence } = this.head?.lsn ?? this.start.lsn;
    // The first page begins with the entry at the place itself, which proves that it is the same history.
    const after = { epoch, sequence: this.head === undefined ? Math.max(0, sequence - 1) : sequence };
    this.page = await this.reader.wal.read(this.shard, after, PAGE_ENTRIES);
    this.index = 0;
    if (this.page.length > 0) return true;
    this.isAtEnd = true;
    if (this.head === undefined && sequence > 0) await this.checkEmpty();
    return false;
  }

  /** Finds the head of the start in the first entry that was read. */
  private findStart(first: Entry): 'is the start' | 'follows the start' {
    const { lsn, checksum } = this.start;
    if (lsn.sequence > 0 && isSameLsn(first.lsn, lsn)) {
      if (!isAt(first.head, { lsn, checksum })) throw this.foreign();
      this.head = first.head;
      return 'is the start';
    }
    this.head = first.previousLsn.sequence === 0 ? this.reader.genesis(this.shard) : predecessorOf(first);
    if (isSameLsn(first.previousLsn, lsn)) {
      if (lsn.sequence > 0 && !isAt(this.head, { lsn, checksum })) throw this.foreign();
    } else if (first.previousLsn.sequence > lsn.sequence) {
      this.noteLost({ ...this.head, lsn }, this.head, 'trimmed');
      this.items = 0;
    } else throw this.foreign();
    return 'follows the start';
  }

  /** Handles a log that has no entry from the place on. */
  private async checkEmpty(): Promise<void> {
    const { lsn, checksum } = this.start;
    const head = await this.reader.wal.head(this.shard);
    if (isAt(head, { lsn, checksum })) return;
    if (head.lsn.sequence <= lsn.sequence) throw this.foreign();
    this.noteLost({ ...head, lsn }, head, 'trimmed');
    this.head = head;
    this.items = 0;
  }

  private noteLost(from: Head, to: Head, reason: LostEntries['reason']): void {
    this.lost.push({ shard: this.shard, from: formatLsn(from.lsn), to: formatLsn(to.lsn), reason });
  }

  private foreign(): Error {
    return new ForeignPositionError(`the log of shard ${this.shard} has no entry ${formatLsn(this.start.lsn)}`);
  }
}
