import { setTimeout as delay } from 'node:timers/promises';
import type { OnProgress } from '../../base/progress.js';
import { entryAt, firstEntry, readLog } from '../../log/log-reader.js';
import { checkAgainstLog, checkEnds, checkReached } from '../../log/snapshot-ends.js';
import { checkedChunks, DamagedSnapshotError, sortSnapshots } from '../../log/snapshot-reader.js';
import { mustReach } from '../../ports/archive-behind-error.js';
import { compareLsn, formatLsn, type Lsn } from '../../ports/lsn.js';
import { AcceptedLossError, RecoveryError } from '../../ports/recovery-error.js';
import type { Manifest } from '../../ports/snapshot-store.js';
import { type Entry, type Head, isSameHead } from '../../ports/wal.js';
import { type ArchiveMark, compareMarks, formatMark, newestMark } from '../../wallet/archive-mark.js';
import type { SourceStore } from '../copy-ports.js';
import type { ShardCoverage, SnapshotEnd } from '../coverage.js';
import type { Frame } from '../frame.js';
import { type At, checkReach, isEarlyEnough, isPast, type Reach } from '../point-in-time.js';
import { requiredAfter } from '../required-mark.js';
import { ToolError } from '../store-reader.js';
import { orTrimmed, TrimmedError } from '../trimmed-error.js';

export interface StoreFramesOptions {
  /** The meta record, exactly as the store has it. */
  readonly meta: Buffer;
  readonly now: () => number;
  /** Receives human-readable warnings about skipped parts, with the reasons. */
  readonly warn: (sentence: string) => void;
  readonly onProgress?: OnProgress;
  /** Waits between retries while a replica of the archive lags. */
  readonly delay?: (ms: number) => Promise<unknown>;
  /** Entries later than this point are not copied. */
  readonly at?: At | undefined;
}

/** Number of retries, one second apart, while a replica of the archive lags. */
const LATE_MAX = 3;
const PAUSE_MS = 1000;

/**
 * All frames of a store, which may be serving meanwhile: the newest complete snapshot of each shard, and its log from
 * the start of that snapshot to the head. Everything is checked as it is read. Throws a `ToolError` or a
 * `RecoveryError` if a shard has neither a complete snapshot nor a complete log, or if its log is broken. Outage errors
 * are passed on.
 */
export async function* framesOfStore(store: SourceStore, options: StoreFramesOptions): AsyncGenerator<Frame, void> {
  const { meta, at, now } = options;
  const progress = new Progress(options.onProgress);
  const shards = Array.from(
    { length: store.shards },
    (_, shard) => new ShardSource(shard, store, options, () => progress.step()),
  );
  const reaches: Reach[] = [];
  for (const shard of shards) reaches.push(await shard.reach());
  checkReach(at, reaches);
  for (const shard of shards) progress.total += await shard.size();
  yield { type: 'meta', bytes: meta };
  for (const shard of shards) {
    yield* shard.beginning();
    yield* shard.more();
  }
  // Read the logs again, because the first ones have grown while the others were read.
  for (const shard of shards) {
    yield* shard.news();
    shard.checkReached();
  }
  // Read the archive after the logs, because it then contains every round that left memory up to the copied heads.
  for (const shard of shards) yield* shard.archived();
  yield { type: 'end', coverage: { timeMs: now(), shards: shards.map((shard) => shard.coverage()) } };
}

class Progress {
  total = 0;
  private done = 0;

  constructor(private readonly onProgress: OnProgress = () => {}) {}

  /**
   * Counts one chunk or entry. In a store large enough for progress to matter, chunks and entries are of similar size.
   */
  step(): void {
    this.done++;
    this.onProgress(this.done, Math.max(this.done, this.total));
  }
}

class ShardSource {
  /** The newest entry read so far. */
  head: Head;
  private manifest: Manifest | undefined = undefined;
  /** The newest archive record on which the log up to `head` relies. */
  private required: ArchiveMark | undefined = undefined;
  /** The newest record in the archive. */
  private mark: ArchiveMark | undefined = undefined;
  /**
   * Ends of the snapshot, and of newer snapshots that are damaged or missing. The log has reached all these ends, so it
   * must still reach them.
   */
  readonly ends: Head[] = [];
  private isPast = false;
  /** Ids of the snapshots tried so far. */
  private readonly tried = new Set<string>();

  constructor(
    private readonly shard: number,
    private readonly store: SourceStore,
    private readonly options: StoreFramesOptions,
    private readonly onStep: () => void,
  ) {
    this.head = store.genesis(shard);
  }

  coverage(): ShardCoverage {
    const { head, manifest, mark } = this;
    const snapshot = manifest && placeOf(manifest);
    return mark === undefined ? { head, snapshot } : { head, snapshot, archived: mark };
  }

  async reach(): Promise<Reach> {
    const { whole } = await this.list();
    const first = await firstEntry(this.shard, this.store);
    const end = (await this.store.wal.head(this.shard)).lsn;
    return { isComplete: isComplete(first, end), snapshots: whole.map(placeOf), end };
  }

  /** The estimated number of chunks and entries to read. */
  async size(): Promise<number> {
    const found = await this.newest();
    const { lsn } = await this.store.wal.head(this.shard);
    return lsn.sequence - (found?.manifest.start.lsn.sequence ?? 0) + (found?.manifest.chunks.length ?? 0);
  }

  /**
   * The newest snapshot that can be read completely, and the entry at its start. Yields nothing if the log is complete.
   */
  async *beginning(): AsyncGenerator<Frame, void> {
    const { shard } = this;
    for (;;) {
      const found = await this.newest();
      if (found === undefined) return await this.checkBeginning();
      const { manifest, bytes } = found;
      this.tried.add(manifest.id);
      this.ends.push(manifest.end);
      checkAgainstLog(manifest, await this.store.wal.head(shard));
      yield { type: 'snapshot-begun', shard, manifest: bytes };
      const problem = yield* this.chunks(manifest);
      const first = problem === undefined ? await entryAt(shard, manifest.start.lsn, this.store) : undefined;
      if (first !== undefined && isSameHead(first.entry.head, manifest.start)) {
        this.head = manifest.start;
        this.manifest = manifest;
        this.required = manifest.tallies?.archived;
        yield { type: 'entry', shard, bytes: first.bytes };
        return;
      }
      yield { type: 'snapshot-abandoned', shard };
      await this.explain(manifest.id, problem ?? `the log no longer has ${formatLsn(manifest.start.lsn)} any more`);
    }
  }

  /** The entries of the log after `head`. */
  async *more(): AsyncGenerator<Frame, void> {
    const { shard } = this;
    if (this.isPast) return;
    try {
      for await (const page of readLog(shard, this.head, this.store)) {
        for (const { entry, bytes } of page) {
          this.isPast = isPast(this.options.at, entry);
          if (this.isPast) return;
          checkEnds(this.ends, entry);
          this.head = entry.head;
          this.required = requiredAfter(this.required, entry.events);
          this.onStep();
          yield { type: 'entry', shard, bytes };
        }
      }
    } catch (error) {
      if (!(error instanceof RecoveryError)) throw error;
      this.isPast = error instanceof AcceptedLossError && isPast(this.options.at, error.fence);
      if (!this.isPast) throw await orTrimmed(error, shard, this.head, 'copied', this.store);
    }
  }

  /**
   * Entries that were appended since the first pass. If they have been trimmed in the meantime, the copy is complete
   * without them.
   */
  async *news(): AsyncGenerator<Frame, void> {
    try {
      yield* this.more();
    } catch (error) {
      if (!(error instanceof TrimmedError)) throw error;
      this.options.warn(`shard ${this.shard} is copied up to ${formatLsn(this.head.lsn)}: ${error.message}`);
    }
  }

  /**
   * Archive records up to the end of the copied log. Throws a `ToolError` if the log relies on an archive but no
   * archive is configured. Throws an `ArchiveBehindError` if the archive lacks a record on which the log relies,
   * because the copy would seem complete when it is restored.
   */
  async *archived(): AsyncGenerator<Frame, void> {
    const { archive } = this.store;
    if (archive === undefined) return this.mustNeedNone();
    await this.checkArchive(archive);
    for (const day of await archive.days()) {
      for await (const records of archive.all(this.shard, day)) {
        for (const record of records) {
          if (compareLsn(record.lsn, this.head.lsn) <= 0) yield { type: 'archived', record };
        }
      }
    }
    // Check again, because some reads may have been answered by a different server, such as a lagging replica.
    await this.checkArchive(archive);
  }

  private mustNeedNone(): void {
    if (this.required === undefined) return;
    throw new ToolError(
      `closed rounds of shard ${this.shard} are in an archive, up to record ${formatMark(this.required)}, and there is none: ` +
        "set WALLETD_ARCHIVE, or bring the archive's folder back",
    );
  }

  private async checkArchive(archive: NonNullable<SourceStore['archive']>): Promise<void> {
    const required = newestMark(this.required, this.mark);
    let mark = await archive.mark(this.shard);
    for (let late = 0; late < LATE_MAX && compareMarks(mark, required) < 0; late++) {
      await (this.options.delay ?? delay)(PAUSE_MS);
      mark = await archive.mark(this.shard);
    }
    mustReach(this.shard, mark, required);
    this.mark = mark;
  }

  checkReached(): void {
    checkReached(this.ends, this.shard, this.head.lsn);
  }

  /** Yields the chunks. Returns a description of the damage; undefined if all chunks were read. */
  private async *chunks(manifest: Manifest): AsyncGenerator<Frame, string | undefined> {
    const { shard } = this;
    try {
      for await (const chunk of checkedChunks(manifest, this.store)) {
        this.onStep();
        yield { type: 'chunk', shard, ...chunk };
      }
      return undefined;
    } catch (error) {
      if (error instanceof DamagedSnapshotError) return error.reason;
      throw error;
    }
  }

  /** Warns about the problem, unless the snapshot is no longer listed, because a newer snapshot has replaced it. */
  private async explain(id: string, problem: string): Promise<void> {
    const { whole } = await this.list();
    if (whole.some((manifest) => manifest.id === id)) this.warn(id, problem);
  }

  private async newest(): Promise<{ manifest: Manifest; bytes: Buffer } | undefined> {
    const { whole, damaged, stored } = await this.list();
    for (const { id, reason } of damaged) {
      if (this.tried.has(id)) continue;
      this.tried.add(id);
      this.warn(id, reason);
    }
    const isUsable = (manifest: Manifest) =>
      !this.tried.has(manifest.id) && isEarlyEnough(this.options.at, this.shard, placeOf(manifest));
    const manifest = whole.find(isUsable);
    const bytes = stored.find(({ id }) => id === manifest?.id)?.manifest;
    return manifest === undefined || bytes === undefined ? undefined : { manifest, bytes };
  }

  private async list() {
    const stored = await this.store.snapshots.snapshots(this.shard);
    return { ...sortSnapshots(this.shard, stored, this.store.snapshotFormat), stored };
  }

  private warn(id: string, problem: string): void {
    this.options.warn(`snapshot ${id} of shard ${this.shard} is skipped: ${problem}`);
  }

  private async checkBeginning(): Promise<void> {
    const first = await firstEntry(this.shard, this.store);
    const { lsn } = await this.store.wal.head(this.shard);
    if (isComplete(first, lsn)) return;
    const found = first === undefined ? 'it has no entries' : `it begins at ${formatLsn(first.lsn)}`;
    throw new ToolError(`shard ${this.shard} has no complete snapshot, and its log is incomplete: ${found}`);
  }
}

/** True if the log still begins with its very first entry. */
function isComplete(first: Entry | undefined, end: Lsn): boolean {
  return first === undefined ? end.sequence === 0 : first.lsn.sequence === 1;
}

function placeOf({ end, timeMs }: Manifest): SnapshotEnd {
  return { end: end.lsn, timeMs };
}
