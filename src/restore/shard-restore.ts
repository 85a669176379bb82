import { assert, must } from '../base/assert.js';
import { checkContinuity, decodeEntry, newestTimeOf } from '../shard/log-reader.js';
import { compareLsn, formatLsn, isSameLsn, LSN_ZERO, type Lsn } from '../shard/lsn.js';
import { type Append, type Head, isSameHead, type SealedEntry } from '../shard/ports.js';
import type { Manifest } from '../shard/snapshot-ports.js';
import type { Patience } from '../shard/take-over.js';
import { keepTrying } from './patience.js';
import { type At, isEarlyEnough, isPast } from './point-in-time.js';
import type { StoreFormats, TargetStore } from './ports.js';
import { ToolError } from './store-reader.js';

/** What has been restored of one shard. */
export interface RestoredShard {
  readonly shard: number;
  /** The newest entry that its snapshot holds something of; undefined when its log is complete. */
  readonly snapshot: Lsn | undefined;
  readonly lsn: Lsn;
  readonly entries: number;
  /** Of chunks and entries. */
  readonly bytes: number;
  /** Of the newest event or fence; undefined when there is none. Milliseconds. */
  readonly timeMs: number | undefined;
}

export class SomebodyElseError extends ToolError {
  constructor() {
    super('somebody else has written to the store that is being restored: empty it and restore again');
  }
}

/** Chunks that are on their way at once. */
const CHUNKS_MAX = 8;

/** Writes one shard into an empty log: its snapshot first, then the entries from the snapshot's start on. */
export class ShardRestore {
  /** The newest entry in the target's log; it lags behind `last` by what is waiting. */
  private head: Head;
  /** The newest entry that has been checked. */
  private last: Head | undefined = undefined;
  private waiting: SealedEntry[] = [];
  private snapshot: SnapshotRestore | undefined = undefined;
  private isPast = false;
  private entries = 0;
  private entryBytes = 0;
  private timeMs: number | undefined = undefined;

  constructor(
    readonly shard: number,
    private readonly target: TargetStore,
    private readonly formats: StoreFormats,
    private readonly at: At | undefined,
    private readonly patience: Patience,
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
    this.snapshot = new SnapshotRestore(manifest, bytes, this.head.nonce, this.target, this.formats, this.patience);
    await this.snapshot.begin();
  }

  async writeChunk(index: number, bytes: Buffer): Promise<void> {
    await this.mustSnapshot().writeChunk(index, bytes);
  }

  async abandonSnapshot(): Promise<void> {
    await this.mustSnapshot().abandon();
    this.snapshot = undefined;
  }

  /** Returns the bytes that are waiting now because of it. Throws a `RecoveryError` when it is not the next one. */
  async addEntry(bytes: Buffer): Promise<number> {
    if (this.isPast) return 0;
    if (this.last === undefined) await this.publishSnapshot();
    const entry = decodeEntry(bytes, this.shard, this.formats.format);
    const start = this.snapshot?.manifest.start;
    if (this.last !== undefined || start === undefined) checkContinuity(entry, this.shard, this.last ?? this.head);
    else assert(isSameHead(entry.head, start), 'the first entry is the one at the start of the snapshot');
    this.isPast = isPast(this.at, entry);
    if (this.isPast) return 0;
    this.last = entry.head;
    this.timeMs = newestTimeOf(entry);
    this.waiting.push({ head: entry.head, bytes });
    this.entries++;
    this.entryBytes += bytes.length;
    return bytes.length;
  }

  waitingAppend(): Append {
    return { shard: this.shard, expected: this.head, entries: this.waiting };
  }

  appended(): void {
    this.head = must(this.last, 'something was waiting');
    this.waiting = [];
  }

  /** `head`: up to where all of the shard was said to come. */
  checkEnd(head: Head): void {
    const { last, shard, at } = this;
    const end = this.snapshot?.manifest.end.lsn ?? LSN_ZERO;
    const isWhole = this.isPast || (last === undefined ? head.lsn.sequence === 0 : isSameHead(last, head));
    if (!isWhole || compareLsn(this.lsn, end) < 0) {
      throw new ToolError(`shard ${shard} ends at ${formatLsn(this.lsn)}, and should go to ${formatLsn(head.lsn)}`);
    }
    const wanted = at?.type === 'places' ? at.lsns.get(shard) : undefined;
    if (wanted !== undefined && !isSameLsn(this.lsn, wanted)) {
      const before = `the one before is ${formatLsn(this.lsn)}`;
      throw new ToolError(`shard ${shard} has no entry ${formatLsn(wanted)}: ${before}`);
    }
  }

  summary(): RestoredShard {
    const { shard, lsn, entries, entryBytes, timeMs, snapshot } = this;
    const bytes = entryBytes + (snapshot?.bytes ?? 0);
    return { shard, snapshot: snapshot?.manifest.end.lsn, lsn, entries, bytes, timeMs };
  }

  private async publishSnapshot(): Promise<void> {
    if (this.snapshot === undefined) return;
    const { end, timeMs } = this.snapshot.manifest;
    // One that was abandoned may have been too late; this one is the one that stays.
    assert(isEarlyEnough(this.at, this.shard, { end: end.lsn, timeMs }), 'nothing in the snapshot is too late');
    await this.snapshot.publish();
  }

  private get lsn(): Lsn {
    return this.last?.lsn ?? LSN_ZERO;
  }

  private mustSnapshot(): SnapshotRestore {
    return must(this.snapshot, 'a snapshot has begun');
  }
}

class SnapshotRestore {
  bytes = 0;
  private chunks = 0;
  private writing: Promise<void>[] = [];

  constructor(
    readonly manifest: Manifest,
    private readonly manifestBytes: Buffer,
    /** Of the head that the target's log has. */
    private readonly nonce: string,
    private readonly target: TargetStore,
    private readonly formats: StoreFormats,
    private readonly patience: Patience,
  ) {}

  async begin(): Promise<void> {
    const { shard, id } = this.manifest;
    await this.write('begin a snapshot', () => this.target.beginSnapshot(shard, this.nonce, id));
  }

  /** Throws a `FormatError` when it is not the one that the manifest names. */
  async writeChunk(index: number, bytes: Buffer): Promise<void> {
    const { shard, id } = this.manifest;
    assert(index === this.chunks++, 'chunks come in order');
    this.formats.snapshotFormat.checkChunk(this.manifest, index, bytes);
    this.bytes += bytes.length;
    const write = this.write('write a chunk', () => this.target.writeChunk(shard, this.nonce, id, index, bytes));
    // It is awaited later; that it failed may be known before.
    write.catch(() => {});
    this.writing.push(write);
    if (this.writing.length >= CHUNKS_MAX) await this.written();
  }

  async publish(): Promise<void> {
    const { shard, id, chunks } = this.manifest;
    assert(this.chunks === chunks.length, 'a snapshot has all its chunks');
    await this.written();
    await this.write('publish a snapshot', () =>
      this.target.publishSnapshot(shard, this.nonce, id, this.manifestBytes),
    );
  }

  async abandon(): Promise<void> {
    const { shard, id } = this.manifest;
    await this.written();
    await this.write('delete a snapshot', () => this.target.deleteSnapshot(shard, this.nonce, [], id));
  }

  private async written(): Promise<void> {
    const writing = this.writing;
    this.writing = [];
    await Promise.all(writing);
  }

  private async write(what: string, run: () => Promise<boolean>): Promise<void> {
    if (!(await keepTrying(what, this.patience, run))) throw new SomebodyElseError();
  }
}
