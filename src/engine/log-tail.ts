import { EvictedKeys } from '../archive/evicted-keys.js';
import { assert, must, unreachable } from '../base/assert.js';
import { PIECE_ENTRIES, type RecentEntries } from '../log/recent-entries.js';
import type { Recovered } from '../log/recovery.js';
import { type Append, type AppendOutcome, type EncodedEntry, type Head, isSameHead } from '../ports/wal.js';
import type { LedgerTotals } from '../wallet/ledger-totals.js';
import { type Batch, newBatch } from './batch.js';
import { Watermarks } from './watermarks.js';

/** A batch that is being appended to the store. */
export interface PendingAppend extends Batch {
  /**
   * The batch's entry. Undefined if the batch has no events, so that its answers only need confirmation of the log's
   * head.
   */
  readonly entry: EncodedEntry | undefined;
  readonly append: Append;
  /**
   * Entries to be sent after `append`, up to and including `entry`. Not empty only if the store has lost entries, which
   * are appended again piece by piece.
   */
  readonly toFollow: readonly EncodedEntry[];
  /** Number of entries that the store had lost and that are appended again. */
  readonly lost: number;
}

/**
 * arrived  the batch is durable
 * again    the batch stays pending. Either the outcome is unknown (`error`) and the same bytes are sent again, or its
 *          next entries are sent. `lost` is the number of acknowledged entries just found missing from the store
 * foreign  the log ends in a head that this owner does not know
 */
export type AppendResult =
  | { readonly type: 'arrived'; readonly append: PendingAppend }
  | { readonly type: 'again'; readonly error?: Error; readonly found?: Head; readonly lost?: number }
  | { readonly type: 'foreign'; readonly append: PendingAppend; readonly head: Head };

const NOTHING: readonly EncodedEntry[] = [];
const AGAIN: AppendResult = { type: 'again' };

/**
 * The end of a shard's log, as its owner knows it: the head that is known to be durable, and at most one pending append
 * after it. Entries lost by the store are appended again with the same bytes.
 */
export class LogTail {
  flying: PendingAppend | undefined = undefined;
  readonly watermarks: Watermarks;
  /** Size of the log in bytes, from its first entry up to `head`. */
  logBytes: number;
  /** Number of durable entries with events that no snapshot contains yet. */
  entriesSinceSnapshot: number;
  /** The newest entry that this owner knows to be durable. */
  head: Head;
  readonly recent: RecentEntries;
  /** Ledger totals of the log up to `head`. */
  readonly totals: LedgerTotals;

  constructor(
    private readonly shard: number,
    private readonly from: Recovered,
  ) {
    const { head, recent, totals, logBytes, tailEntries } = from;
    this.totals = totals;
    this.head = head;
    this.recent = recent;
    this.logBytes = logBytes;
    this.entriesSinceSnapshot = tailEntries;
    this.watermarks = new Watermarks(head.lsn);
  }

  /** The newest durable entries. Their replies may have been released. */
  get recentEntries(): readonly EncodedEntry[] {
    return this.recent.all();
  }

  /** The kept entries after `head`; undefined if `head` is not one of the kept entries. */
  findEntriesAfter(head: Head): readonly EncodedEntry[] | undefined {
    return this.recent.findAfter(head);
  }

  /**
   * The state at the head, from which another part can continue. No append may be pending. `timeMs` is the shard's
   * time.
   */
  reached(timeMs: number): Recovered {
    assert(this.flying === undefined, 'no append is pending');
    const { from, head, logBytes, entriesSinceSnapshot: tailEntries } = this;
    // Collect only keys from here on: the filter already has the keys of the rounds that this node evicted.
    const left = from.left && new EvictedKeys(head, 'served');
    return { ...from, head, timeMs, logBytes, tailEntries, left };
  }

  /**
   * Detaches the waiting replies from the pending append and returns them, so that the caller can answer them. The
   * append continues without them.
   */
  silence(): Pick<Batch, 'commands' | 'queries'> | undefined {
    const pending = this.flying;
    if (pending === undefined) return undefined;
    const { commands, decidedMs, queries } = newBatch();
    this.flying = { ...pending, commands, decidedMs, queries };
    return pending;
  }

  /** Finalizes a batch and sends it. */
  formAppend(batch: Batch): Append {
    assert(this.flying === undefined, 'one append is pending at a time');
    const entry = this.seal(batch);
    const append = { shard: this.shard, expected: this.head, entries: entry === undefined ? NOTHING : [entry] };
    // Copy the fields one by one. V8 creates a spread object on a slow path, which took 2 % of the time of a single
    // callback.
    const { writer, commands, decidedMs, queries, events } = batch;
    this.flying = { writer, commands, decidedMs, queries, events, entry, append, toFollow: NOTHING, lost: 0 };
    return append;
  }

  complete(append: Append, outcome: AppendOutcome): AppendResult {
    const pending = this.flying;
    assert(pending !== undefined && pending.append === append, 'the completed append is the pending one');
    switch (outcome.type) {
      case 'ok':
      case 'duplicate':
        if (pending.toFollow.length > 0) {
          const last = must(append.entries.at(-1), 'a piece has entries');
          return this.sendAgain(pending, last.head, pending.toFollow);
        }
        this.arrive(pending);
        return { type: 'arrived', append: pending };
      case 'failed':
        return { type: 'again', error: outcome.error };
      case 'conflict':
        return this.conflicted(pending, outcome.head);
      default:
        return unreachable(outcome);
    }
  }

  private seal({ writer }: Batch): EncodedEntry | undefined {
    if (writer === undefined) return undefined;
    const previous = this.head;
    const lsn = { epoch: previous.lsn.epoch, sequence: previous.lsn.sequence + 1 };
    this.watermarks.appended = lsn.sequence;
    this.watermarks.check();
    return writer.seal({ shard: this.shard, lsn, nonce: previous.nonce, previous });
  }

  private arrive({ entry, events }: PendingAppend): void {
    this.flying = undefined;
    if (entry === undefined) return;
    for (const { currency, event } of events) this.totals.add(currency, event);
    this.head = entry.head;
    this.recent.add(entry);
    this.logBytes += entry.bytes.length;
    this.entriesSinceSnapshot++;
    this.watermarks.durable = entry.head.lsn.sequence;
    this.watermarks.check();
  }

  /** Handles a conflict: the log's head is not the last entry that this owner wrote. */
  private conflicted(pending: PendingAppend, head: Head): AppendResult {
    const { entry } = pending;
    // The log does end in our pending entry, for example because a former master is back. Sending the entry again makes
    // it durable, with the outcome `duplicate`.
    if (entry !== undefined && isSameHead(head, entry.head)) return this.sendAgain(pending, this.head, [entry]);
    const missing = this.recent.findAfter(head);
    if (missing === undefined) {
      this.flying = undefined;
      return { type: 'foreign', append: pending, head };
    }
    const lost = missing.length;
    this.sendAgain({ ...pending, lost }, head, entry === undefined ? missing : [...missing, entry]);
    return { type: 'again', found: head, lost };
  }

  /** Sends as many of these entries as fit into one append; the others follow it. */
  private sendAgain(pending: PendingAppend, expected: Head, entries: readonly EncodedEntry[]): AppendResult {
    const append = { shard: this.shard, expected, entries: entries.slice(0, PIECE_ENTRIES) };
    this.flying = { ...pending, append, toFollow: entries.slice(PIECE_ENTRIES) };
    return AGAIN;
  }
}
