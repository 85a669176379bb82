import type { ShardPlace } from '../../feed/position.js';
import type { LostEntries } from '../../feed/request.js';
import { checkContinuity, decodeEntry } from '../../log/log-reader.js';
import { formatLsn, isSameLsn, type Lsn } from '../../ports/lsn.js';
import { NewerFormatError, RecoveryError } from '../../ports/recovery-error.js';
import { type Entry, type Head, isAt } from '../../ports/wal.js';
import { findAcceptedLoss } from '../accepted-loss.js';
import { predecessorOf, type StoreReader, ToolError } from '../store-reader.js';

const PAGE_ENTRIES = 32;

/** Thrown if the log does not have the entry of a position: it lost entries, or the store was restored. */
export class ForeignPositionError extends Error {
  override readonly name = 'ForeignPositionError';
}

/**
 * Reads one shard's log after a place, and reports the entries that the log no longer has. At a damaged entry, the log
 * continues with the next fence of an accepted loss. Without one, it ends there.
 */
export class ShardCursor {
  /** The entry after `head`, if it has been read. */
  waiting: Entry | undefined = undefined;
  readonly lost: LostEntries[] = [];
  /** The reason why the log ends before its end; undefined if it does not. */
  damage: string | undefined = undefined;
  /** The newest entry whose items were all taken; undefined until the log has been read. */
  head: Head | undefined = undefined;
  /** Number of items of the waiting entry that have been taken. */
  items: number;
  private page: readonly Buffer[] = [];
  private index = 0;
  private isAtEnd = false;
  /** The reason why the entry at the place cannot be read. */
  private startDamage: unknown = undefined;

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

  /**
   * Reads the next entry, unless one is waiting. If none is waiting afterwards, the log has no more. Throws a
   * `ForeignPositionError`, and any other error during an outage.
   */
  async fill(): Promise<void> {
    if (this.waiting !== undefined || this.isAtEnd) return;
    try {
      this.waiting = await this.next();
    } catch (error) {
      await this.skipDamage(error);
    }
  }

  /**
   * Continues with the next fence of an accepted loss, and reports the entries before it. Without such a fence, the log
   * ends at the place. Throws an error that is not about damage again.
   */
  async skipDamage(error: unknown): Promise<void> {
    if (!(error instanceof RecoveryError || error instanceof ToolError)) throw error;
    const { shard, reader } = this;
    const { lsn } = this.place;
    // A newer release can read the entry.
    const fence = error instanceof NewerFormatError ? undefined : await findAcceptedLoss(shard, lsn, reader);
    this.waiting = fence;
    if (fence === undefined) {
      this.damage = error instanceof RecoveryError ? error.fact : error.message;
      this.isAtEnd = true;
      return;
    }
    if (fence.lsn.sequence <= lsn.sequence) throw this.foreign();
    this.noteLost(lsn, fence.lsn, 'accepted-loss');
    this.page = [];
    this.index = 0;
  }

  /** Notes that all items of the waiting entry are taken. */
  pass(): void {
    this.head = this.waiting?.head;
    this.waiting = undefined;
    this.items = 0;
  }

  private async next(): Promise<Entry | undefined> {
    const { shard, reader } = this;
    if (this.index === this.page.length && !(await this.turnPage())) return undefined;
    const bytes = this.page[this.index++] as Buffer;
    let entry: Entry;
    try {
      entry = decodeEntry(bytes, shard, reader.format);
    } catch (error) {
      if (!this.isStart(bytes)) throw error;
      // The entry at the place was delivered before, and the next one names its checksum.
      this.startDamage = error;
      return await this.next();
    }
    if (this.head === undefined && this.findStart(entry) === 'is the start') return await this.next();
    const head = this.head as unknown as Head;
    checkContinuity(entry, shard, head);
    if (entry.owner?.afterLoss) this.noteLost(head.lsn, entry.lsn, 'accepted-loss');
    return entry;
  }

  private isStart(bytes: Buffer): boolean {
    const lsn = this.reader.format.tryLsn(bytes);
    return this.head === undefined && lsn !== undefined && lsn.sequence > 0 && isSameLsn(lsn, this.start.lsn);
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

  /** Finds the head of the start in the first entry that can be read. */
  private findStart(first: Entry): 'is the start' | 'follows the start' {
    const { lsn, checksum } = this.start;
    if (lsn.sequence > 0 && isSameLsn(first.lsn, lsn)) {
      if (!isAt(first.head, { lsn, checksum })) throw this.foreign();
      this.head = first.head;
      return 'is the start';
    }
    if (this.startDamage !== undefined && !isSameLsn(first.previousLsn, lsn)) throw this.startDamage;
    this.head = first.previousLsn.sequence === 0 ? this.reader.genesis(this.shard) : predecessorOf(first);
    if (isSameLsn(first.previousLsn, lsn)) {
      if (lsn.sequence > 0 && !isAt(this.head, { lsn, checksum })) throw this.foreign();
    } else if (first.previousLsn.sequence > lsn.sequence) {
      this.noteLost(lsn, this.head.lsn, 'trimmed');
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
    this.noteLost(lsn, head.lsn, 'trimmed');
    this.head = head;
    this.items = 0;
  }

  private noteLost(from: Lsn, to: Lsn, reason: LostEntries['reason']): void {
    this.lost.push({ shard: this.shard, from: formatLsn(from), to: formatLsn(to), reason });
  }

  private foreign(): Error {
    return new ForeignPositionError(`the log of shard ${this.shard} has no entry ${formatLsn(this.start.lsn)}`);
  }
}
