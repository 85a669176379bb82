import { must } from '../../base/assert.js';
import { apply } from '../../wallet/apply.js';
import type { Event } from '../../wallet/event.js';
import type { TableSizes } from '../../wallet/state/tables.js';
import { Wallets } from '../../wallet/state/wallets.js';
import { Tallies } from '../../wallet/tallies.js';
import { LeftNames } from '../archive/left-names.js';
import { DamagedSnapshotError, readSnapshot, type SnapshotReaderDeps } from '../snapshot/snapshot-reader.js';
import type { LogMark, Manifest } from '../snapshot/snapshot-store.js';
import type { ReadEntry } from './log-reader.js';
import { logTimeAfter } from './log-time.js';
import { LSN_ZERO, type Lsn } from './lsn.js';
import { type Entry, type Head, isSameHead } from './wal.js';

/** What a log makes up to `head`. */
export interface Reached {
  readonly wallets: Wallets;
  readonly tallies: Tallies;
  readonly head: Head;
  /** No entry is newer. Milliseconds. */
  readonly timeMs: number;
  /** Bytes of the log from its first entry of all. */
  readonly logBytes: number;
  /** Entries with events that no snapshot holds, or that have been replayed on top of one. */
  readonly tailEntries: number;
  /** Undefined where nobody asked for it. */
  readonly left: LeftNames | undefined;
}

/**
 * A shard's wallets as they grow out of a snapshot, or out of nothing, and the entries after it. Whatever reads
 * a log feeds it: recovery, the tools, a follower of a log that goes on.
 *
 *   log       ... s | s+1 .................... e | e+1 ................ h | h+1 ...
 *                 ^start                       ^end                     ^head
 *   events          left out where the wallet      all applied
 *                   of the snapshot has them
 */
export class Replay {
  /** The newest entry that was taken; at first the place after which replay begins. */
  head: Head;
  /** Log time at the head: never goes back, unless a fence sets it back (log-time.ts). Milliseconds. */
  timeMs: number;
  /** Bytes of the log from its first entry of all up to the head. */
  logBytes: number;
  /** Entries that were taken, without fences. */
  batches = 0;
  /** Events of these, with those that were left out. */
  events = 0;
  /** Names of the rounds that leave memory on the way; undefined where nobody asks for them. */
  left: LeftNames | undefined = undefined;

  private constructor(
    /** Undefined when the replay begins before the first entry of all. */
    readonly manifest: Manifest | undefined,
    /** Everything up to here is in the wallets: entries after it are taken. */
    readonly start: Head,
    /** Events up to here may be in the wallets already. */
    readonly end: Lsn,
    readonly wallets: Wallets,
    readonly tallies: Tallies,
  ) {
    this.head = start;
    this.timeMs = manifest?.timeMs ?? 0;
    this.logBytes = this.marks.at(-1)?.bytes ?? 0;
  }

  static ofNothing(genesis: Head, sizes?: TableSizes): Replay {
    return new Replay(undefined, genesis, LSN_ZERO, new Wallets(sizes), Tallies.ofNothing());
  }

  /** Goes on from a state that is known up to `head`. */
  static from({ wallets, tallies, head, timeMs, logBytes, tailEntries, left }: Reached): Replay {
    const replay = new Replay(undefined, head, LSN_ZERO, wallets, tallies);
    replay.timeMs = timeMs;
    replay.logBytes = logBytes;
    replay.batches = tailEntries;
    replay.left = left;
    return replay;
  }

  /** Throws a `DamagedSnapshotError`. */
  static async ofSnapshot(manifest: Manifest, deps: SnapshotReaderDeps): Promise<Replay> {
    return Replay.ofWallets(manifest, await readSnapshot(manifest, deps));
  }

  /** From a snapshot that has been read. */
  static ofWallets(manifest: Manifest, wallets: Wallets): Replay {
    const { tallies, timeMs } = manifest;
    const begun = tallies === undefined ? new Tallies(timeMs) : Tallies.from(tallies);
    return new Replay(manifest, manifest.start, manifest.end.lsn, wallets, begun);
  }

  /** To be called before the first entry is taken. */
  collectLeft(): void {
    this.left = new LeftNames(this.manifest?.end ?? this.start, this.tallies.neverArchived ? 'nothing' : 'snapshot');
  }

  /** For people: what it begins with. */
  get name(): string {
    return this.manifest === undefined ? 'the first entry' : `snapshot ${this.manifest.id}`;
  }

  get marks(): readonly LogMark[] {
    return this.manifest?.marks ?? [];
  }

  /**
   * True when the snapshot may hold events of the entry with this LSN. It does not hold those of a later owner, which
   * stand in the place of its own where a log has lost its tail and gone on.
   */
  mayHold({ epoch, sequence }: Lsn): boolean {
    return sequence <= this.end.sequence && epoch <= this.end.epoch;
  }

  /** True when the entry stands in the place of another one that the snapshot holds. */
  contradicts({ lsn, head }: Entry): boolean {
    const end = this.manifest?.end;
    if (end === undefined || lsn.sequence > end.lsn.sequence) return false;
    return lsn.epoch > end.lsn.epoch || (lsn.sequence === end.lsn.sequence && !isSameHead(head, end));
  }

  /**
   * Takes the entry that follows the head. Of one that contradicts the snapshot nothing is applied: the log has lost
   * something, and it is up to the caller to find that. Throws an `AssertionFailure` when an event does not fit.
   */
  take({ entry, bytes }: ReadEntry): void {
    if (entry.lsn.sequence > this.end.sequence) {
      for (const event of entry.events) {
        this.left?.note(event, this.wallets);
        this.tallies.add(apply(this.wallets, event).currency, event);
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

  /** A snapshot has the tallies of its start, and no event of the entries after it. */
  private applyNew(event: Event, lsn: Lsn): void {
    this.apply(event, lsn);
    const wallet = must(this.wallets.get(event.username), 'an event leaves a wallet');
    this.tallies.add(wallet.currency, event);
  }

  /**
   * Takes the entries of a page up to `target`, if it has that, and gives way after each; true when it has come there.
   * `look` sees each entry before it is taken.
   */
  async takePage(
    page: Iterable<ReadEntry>,
    target: Head | undefined,
    maybeYield: () => Promise<void>,
    look: (read: ReadEntry) => void,
  ): Promise<boolean> {
    for (const read of page) {
      look(read);
      this.take(read);
      if (target !== undefined && isSameHead(this.head, target)) return true;
      await maybeYield();
    }
    return false;
  }

  /**
   * Applies one event of the entry `lsn`, which comes after the start; false when the wallet of the snapshot has it
   * already: while a snapshot is taken the shard goes on. Throws an `AssertionFailure` when the event does not fit.
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

/** From this snapshot; or the error that says how it is damaged. */
export async function openReplay(manifest: Manifest, deps: SnapshotReaderDeps): Promise<Replay | DamagedSnapshotError> {
  try {
    return await Replay.ofSnapshot(manifest, deps);
  } catch (error) {
    if (error instanceof DamagedSnapshotError) return error;
    throw error;
  }
}

/** From the first of these snapshots that is not damaged; undefined when all are. `onDamaged` gets those before it. */
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
