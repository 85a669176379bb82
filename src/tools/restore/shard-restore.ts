import { assert, must } from '../../base/assert.js';
import { checkContinuity, checkNoLoss, decodeEntry, newestTimeOf } from '../../log/log-reader.js';
import { compareLsn, formatLsn, isSameLsn, LSN_ZERO, type Lsn } from '../../ports/lsn.js';
import type { RetryPolicy } from '../../ports/retry-policy.js';
import { type Append, type EncodedEntry, type Head, isSameHead } from '../../ports/wal.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import type { StoreFormats, TargetStore } from '../copy-ports.js';
import { type At, isEarlyEnough, isPast } from '../point-in-time.js';
import { requiredAfter } from '../required-mark.js';
import { ToolError } from '../store-reader.js';
import { SnapshotRestore } from './snapshot-restore.js';

/** Result of the restore of one shard. */
export interface RestoredShard {
  readonly shard: number;
  /** The end of the restored snapshot; undefined if the log is complete. */
  readonly snapshot: Lsn | undefined;
  readonly lsn: Lsn;
  /** The time of the newest event up to that entry in ms, by the shard's clock; undefined for an empty log. */
  readonly timeMs: number | undefined;
  readonly entries: number;
  /** Total bytes of chunks and entries. */
  readonly bytes: number;
}

/** Writes one shard into an empty log: first its snapshot, then the entries from the start of the snapshot on. */
export class ShardRestore {
  /** The newest entry in the target's log. It lags behind `last` by the entries that are waiting. */
  private head: Head;
  /** The newest entry that has been checked. */
  private last: Head | undefined = undefined;
  /** The newest time in that entry. */
  private lastMs: number | undefined = undefined;
  private waiting: EncodedEntry[] = [];
  private snapshot: SnapshotRestore | undefined = undefined;
  private isPast = false;
  /** The newest archive record on which the restored part of the log relies. */
  required: ArchiveMark | undefined = undefined;
  private entries = 0;
  private entryBytes = 0;

  constructor(
    readonly shard: number,
    private readonly target: TargetStore,
    private readonly formats: StoreFormats,
    private readonly at: At | undefined,
    private readonly retryPolicy: RetryPolicy,
  ) {
    this.head = formats.genesis(shard);
  }

  get hasWaiting(): boolean {
    return this.waiting.length > 0;
  }

  async beginSnapshot(bytes: Buffer): Promise<void> {
    const manifest = this.formats.snapshotFormat.openManifest(bytes);
    assert(
      manifest.shard === this.shard && this.last === undefined,
      'a snapshot comes before the entries of its shard',
    );
    this.snapshot = new SnapshotRestore(manifest, bytes, this.head.nonce, this.target, this.formats, this.retryPolicy);
    await this.snapshot.begin();
  }

  async writeChunk(index: number, bytes: Buffer): Promise<void> {
    await this.mustSnapshot().writeChunk(index, bytes);
  }

  async abandonSnapshot(): Promise<void> {
    await this.mustSnapshot().abandon();
    this.snapshot = undefined;
  }

  /**
   * Adds an entry, and returns the number of bytes added to the waiting entries. Throws a `RecoveryError` if the entry
   * is not the next one.
   */
  async addEntry(bytes: Buffer): Promise<number> {
    if (this.isPast) return 0;
    if (this.last === undefined) await this.publishSnapshot();
    const entry = decodeEntry(bytes, this.shard, this.formats.format);
    const start = this.snapshot?.manifest.start;
    if (this.last !== undefined || start === undefined) {
      checkContinuity(entry, this.shard, this.last ?? this.head);
      checkNoLoss(entry);
    } else assert(isSameHead(entry.head, start), 'the first entry is the one at the start of the snapshot');
    this.isPast = isPast(this.at, entry);
    if (this.isPast) return 0;
    if (this.last !== undefined || start === undefined) this.required = requiredAfter(this.required, entry.events);
    this.last = entry.head;
    this.lastMs = newestTimeOf(entry);
    this.waiting.push({ head: entry.head, bytes });
    this.entries++;
    this.entryBytes += bytes.length;
    return bytes.length;
  }

  /** True if the shard has been restored up to this LSN or beyond it. */
  reaches(lsn: Lsn): boolean {
    return compareLsn(lsn, this.lsn) <= 0;
  }

  waitingAppend(): Append {
    return { shard: this.shard, expected: this.head, entries: this.waiting };
  }

  appended(): void {
    this.head = must(this.last, 'something was waiting');
    this.waiting = [];
  }

  /** Checks that the shard has reached `head`, the newest entry that the source has announced for it. */
  checkEnd(head: Head): void {
    const { last, shard, at } = this;
    const end = this.snapshot?.manifest.end.lsn ?? LSN_ZERO;
    const isWhole = this.isPast || (last === undefined ? head.lsn.sequence === 0 : isSameHead(last, head));
    if (!isWhole || compareLsn(this.lsn, end) < 0) {
      throw new ToolError(`shard ${shard} ends at ${formatLsn(this.lsn)}, but should reach ${formatLsn(head.lsn)}`);
    }
    const wanted = at?.type === 'lsns' ? at.lsns.get(shard) : undefined;
    if (wanted !== undefined && !isSameLsn(this.lsn, wanted)) {
      const before = `the previous entry is ${formatLsn(this.lsn)}`;
      throw new ToolError(`shard ${shard} has no entry ${formatLsn(wanted)}: ${before}`);
    }
  }

  summary(): RestoredShard {
    const { shard, lsn, lastMs: timeMs, entries, entryBytes, snapshot } = this;
    const bytes = entryBytes + (snapshot?.bytes ?? 0);
    return { shard, snapshot: snapshot?.manifest.end.lsn, lsn, timeMs, entries, bytes };
  }

  private async publishSnapshot(): Promise<void> {
    if (this.snapshot === undefined) return;
    const { end, timeMs } = this.snapshot.manifest;
    // Check only now that the snapshot is not too late, because until now it could still have been abandoned. For a
    // backup file, this check runs before the end of the file is read.
    if (!isEarlyEnough(this.at, this.shard, { end: end.lsn, timeMs })) {
      const earliest = `${new Date(timeMs).toISOString()}, or ${this.shard}:${formatLsn(end.lsn)}`;
      throw new ToolError(`nothing that early is available: shard ${this.shard} begins at ${earliest}`);
    }
    await this.snapshot.publish();
    this.required = this.snapshot.manifest.tallies?.archived;
  }

  /** LSN of the newest entry received. */
  get lsn(): Lsn {
    return this.last?.lsn ?? LSN_ZERO;
  }

  private mustSnapshot(): SnapshotRestore {
    return must(this.snapshot, 'a snapshot has begun');
  }
}
