import { EvictedKeys } from '../archive/evicted-keys.js';
import { must } from '../base/assert.js';
import { formatLsn, LSN_ZERO, type Lsn } from '../ports/lsn.js';
import type { LogMark, Manifest } from '../ports/snapshot-store.js';
import { type Entry, type Head, isSameHead } from '../ports/wal.js';
import { apply } from '../wallet/apply.js';
import { emptyAudit } from '../wallet/audit-chain.js';
import type { Event } from '../wallet/event.js';
import { LedgerTotals } from '../wallet/ledger-totals.js';
import type { TableSizes } from '../wallet/state/tables.js';
import { Wallets } from '../wallet/state/wallets.js';
import type { ReadEntry } from './log-reader.js';
import { logTimeAfter } from './log-time.js';
import { DamagedSnapshotError, readSnapshot, type SnapshotReaderDeps } from './snapshot-reader.js';

/** The state of a shard after replaying its log up to `head`. */
export interface Reached {
  readonly wallets: Wallets;
  readonly totals: LedgerTotals;
  readonly head: Head;
  /** The upper bound of all entry timestamps, in ms. */
  readonly timeMs: number;
  /** Size of the log in bytes, from its first entry. */
  readonly logBytes: number;
  /** Number of entries whose events are in no snapshot, or were replayed after one. */
  readonly tailEntries: number;
  /** Keys of the rounds that left memory during the replay; undefined unless the caller requested them. */
  readonly left: EvictedKeys | undefined;
}

/**
 * A shard's wallets, built from a snapshot (or from nothing) and the entries after it. All readers of a log use it:
 * recovery, tools and standbys.
 *
 *   log       ... s | s+1 .................... e | e+1 ................ h | h+1 ...
 *                 ^start                       ^end                     ^head
 *   events          skipped if the wallet in       all applied
 *                   the snapshot has them
 */
export class Replay {
  /** The newest applied entry; initially the position after which replay begins. */
  head: Head;
  /** Log time at the head, in ms: never goes back unless a fence sets it back (log-time.ts). */
  timeMs: number;
  /** Size of the log in bytes, from its first entry up to the head. */
  logBytes: number;
  /** Number of entries taken so far, without fences. */
  batches = 0;
  /** Number of events in the entries taken so far, including skipped events. */
  events = 0;
  /** Keys of the rounds that left memory during replay; undefined unless the caller requested them. */
  left: EvictedKeys | undefined = undefined;

  private constructor(
    /** Manifest of the snapshot; undefined if the replay begins before the log's first entry. */
    readonly manifest: Manifest | undefined,
    /** The wallets contain all events up to this head. The replay takes the entries after it. */
    readonly start: Head,
    /** The wallets may also contain some of the events after `start`, up to this entry. */
    readonly end: Lsn,
    readonly wallets: Wallets,
    readonly totals: LedgerTotals,
  ) {
    this.head = start;
    this.timeMs = manifest?.timeMs ?? 0;
    this.logBytes = this.marks.at(-1)?.bytes ?? 0;
  }

  static ofNothing(genesis: Head, sizes?: TableSizes): Replay {
    return new Replay(undefined, genesis, LSN_ZERO, new Wallets(sizes), LedgerTotals.ofNothing());
  }

  /** Continues from a known state at `head`. */
  static from({ wallets, totals, head, timeMs, logBytes, tailEntries, left }: Reached): Replay {
    const replay = new Replay(undefined, head, LSN_ZERO, wallets, totals);
    replay.timeMs = timeMs;
    replay.logBytes = logBytes;
    replay.batches = tailEntries;
    replay.left = left;
    return replay;
  }

  /** Starts from a stored snapshot. Throws a `DamagedSnapshotError` if it is damaged. */
  static async ofSnapshot(manifest: Manifest, deps: SnapshotReaderDeps): Promise<Replay> {
    return Replay.ofWallets(manifest, await readSnapshot(manifest, deps));
  }

  /** Starts from a snapshot that the caller has already read. */
  static ofWallets(manifest: Manifest, wallets: Wallets): Replay {
    const { tallies, timeMs } = manifest;
    const since = formatLsn(manifest.start.lsn);
    const begun =
      tallies === undefined ? new LedgerTotals(timeMs, emptyAudit(since)) : LedgerTotals.from(tallies, since);
    return new Replay(manifest, manifest.start, manifest.end.lsn, wallets, begun);
  }

  /** Starts collecting keys of rounds that leave memory. Must be called before the first entry is taken. */
  collectLeft(): void {
    this.left = new EvictedKeys(this.manifest?.end ?? this.start, this.totals.neverArchived ? 'nothing' : 'snapshot');
  }

  /** The human-readable name of the starting point. */
  get name(): string {
    return this.manifest === undefined ? 'the first entry' : `snapshot ${this.manifest.id}`;
  }

  get marks(): readonly LogMark[] {
    return this.manifest?.marks ?? [];
  }

  /**
   * True if the snapshot may contain events of the entry with this LSN. A snapshot never contains entries of a later
   * owner. If the log has lost its tail, a later owner's entries may have replaced entries that the snapshot contains.
   */
  mayHold({ epoch, sequence }: Lsn): boolean {
    return sequence <= this.end.sequence && epoch <= this.end.epoch;
  }

  /** True if this entry has replaced an entry whose events are in the snapshot. */
  contradicts({ lsn, head }: Entry): boolean {
    const end = this.manifest?.end;
    if (end === undefined || lsn.sequence > end.lsn.sequence) return false;
    return lsn.epoch > end.lsn.epoch || (lsn.sequence === end.lsn.sequence && !isSameHead(head, end));
  }

  /**
   * Takes the entry that follows the head. An entry that contradicts the snapshot is not applied. In that case the log
   * has lost entries, which the caller must detect. Throws an `AssertionFailure` if an event does not fit.
   */
  take({ entry, bytes }: ReadEntry): void {
    if (entry.lsn.sequence > this.end.sequence) {
      for (const event of entry.events) {
        this.left?.note(event, this.wallets);
        this.totals.add(apply(this.wallets, event).currency, event);
      }
    } else if (!this.contradicts(entry)) {
      for (const event of entry.events) this.applyNew(event, entry.lsn);
    }
    this.events += entry.events.length;
    if (entry.owner === undefined) this.batches++;
    this.logBytes += bytes.length;
    this.timeMs = logTimeAfter(this.timeMs, entry);
    this.head = entry.head;
  }

  /**
   * Applies an event that the snapshot may already contain. The event always counts in the ledger totals, because the
   * snapshot's totals are those at its start.
   */
  private applyNew(event: Event, lsn: Lsn): void {
    this.apply(event, lsn);
    const wallet = must(this.wallets.get(event.username), 'an applied event has a wallet');
    this.totals.add(wallet.currency, event);
  }

  /**
   * Takes the entries of a page, up to `target` if the page contains it, and yields after each. Returns true once
   * `target` is reached. Calls `look` with each entry before taking it.
   */
  async takePage(
    page: Iterable<ReadEntry>,
    target: Head | undefined,
    yieldWhenDue: () => Promise<void>,
    look: (read: ReadEntry) => void,
  ): Promise<boolean> {
    for (const read of page) {
      look(read);
      this.take(read);
      if (target !== undefined && isSameHead(this.head, target)) return true;
      await yieldWhenDue();
    }
    return false;
  }

  /**
   * Applies one event of the entry `lsn`, which follows the start. Returns false if the snapshot's wallet already
   * contains the event, which is possible because the shard continues to serve while a snapshot is taken. Throws an
   * `AssertionFailure` if the event does not fit.
   */
  apply(event: Event, lsn: Lsn): boolean {
    if (this.mayHold(lsn)) {
      const wallet = this.wallets.get(event.username);
      if (wallet !== undefined && event.version <= wallet.version) {
        this.left?.skip(event);
        return false;
      }
    }
    this.left?.note(event, this.wallets);
    apply(this.wallets, event);
    return true;
  }
}

/** Opens a replay from this snapshot. If the snapshot is damaged, returns the error that describes the damage. */
export async function openReplay(manifest: Manifest, deps: SnapshotReaderDeps): Promise<Replay | DamagedSnapshotError> {
  try {
    return await Replay.ofSnapshot(manifest, deps);
  } catch (error) {
    if (error instanceof DamagedSnapshotError) return error;
    throw error;
  }
}

/**
 * Opens a replay from the first undamaged snapshot; undefined if all are damaged. Reports the damaged snapshots before
 * it to `onDamaged`.
 */
export async function firstReplay(
  manifests: readonly Manifest[],
  deps: SnapshotReaderDeps,
  onDamaged: (error: DamagedSnapshotError, manifest: Manifest) => void,
): Promise<Replay | undefined> {
  for (const manifest of manifests) {
    const opened = await openReplay(manifest, deps);
    if (opened instanceof Replay) return opened;
    onDamaged(opened, manifest);
  }
  return undefined;
}
