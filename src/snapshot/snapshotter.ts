import { must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import { atOnce, type Steps } from '../base/steps.js';
import { StoreFullError } from '../base/store-full-error.js';
import type { SnapshotSource } from '../engine/shard.js';
import { sortSnapshots } from '../log/snapshot-reader.js';
import type { LogConsumers } from '../ports/log-consumers.js';
import { formatLsn, type Lsn } from '../ports/lsn.js';
import { isPermanent, type RetryPolicy, withRetries } from '../ports/retry-policy.js';
import type { ChunkSummary, LogMark, Manifest, SnapshotFormat, SnapshotStore } from '../ports/snapshot-store.js';
import type { LedgerTotalsJson } from '../wallet/ledger-totals.js';
import type { KnownSnapshots } from './known-snapshots.js';
import { marksToKeep, nextMarks, type SnapshotPolicy, trimPoint } from './snapshot-policy.js';

export interface SnapshotterDeps extends RetryPolicy {
  readonly snapshots: SnapshotStore;
  readonly snapshotFormat: SnapshotFormat;
  readonly clock: Clock;
  readonly policy: SnapshotPolicy;
  /** 16 hexadecimal digits that distinguish this snapshot from every other. */
  readonly newId: () => string;
  /** Writes files of this node that must never be older than its snapshot. Does not reject. */
  readonly beforePublish?: (shard: number) => Promise<void>;
  /** Absent: only the snapshots and the history determine how much of the log is kept. */
  readonly consumers?: LogConsumers | undefined;
  /** Lets the thread's other work run. */
  readonly yieldTurn: () => Promise<void>;
}

export type SnapshotResult =
  | {
      readonly type: 'taken';
      readonly shard: number;
      readonly id: string;
      readonly lsn: string;
      readonly players: number;
      readonly bytes: number;
      readonly tookMs: number;
    }
  /** No snapshot is needed: the log contains no entry with events that is newer than the last one. */
  | { readonly type: 'unchanged'; readonly shard: number }
  | { readonly type: 'abandoned'; readonly shard: number; readonly reason: string };

/** The shard whose snapshot is taken. */
export interface SnapshotSubject {
  readonly id: number;
  readonly source: SnapshotSource | undefined;
  /** Records that the new snapshot contains all of the shard's entries except this many of the newest ones. */
  snapshotTaken(entries: number): void;
}

/** Determines how a snapshot shares its thread with commands. */
export interface Pace {
  /** Pause between two slices. */
  readonly restMs: number;
  /** Deadline on the monotonic clock, after which an unpublished snapshot is abandoned. */
  readonly deadlineMs: number;
}

/** Pace that uses a tenth of the thread's time. */
export const BACKGROUND: Pace = { restMs: 9, deadlineMs: Number.POSITIVE_INFINITY };
/** Pace for a thread that serves no requests, without pauses. */
export const IMMEDIATE: Pace = { restMs: 0, deadlineMs: Number.POSITIVE_INFINITY };
/** Length of a slice: time spent on wallets before other work can run. */
const SLICE_MS = 1;
/** The target size of a chunk. A chunk ends with the wallet that makes it exceed this size. */
export const CHUNK_BYTES = 128 * 1024;
/** Maximum number of attempts to add a wallet in steps while commands keep changing it. */
const ADD_ATTEMPTS = 3;
/**
 * Maximum time to wait until the chunks' events are durable. Normally this takes the pending append and the next one,
 * so a longer wait means an outage.
 */
const DURABLE_MAX_MS = 30_000;
const DURABLE_POLL_MS = 5;

const ANOTHER_OWNER =
  'the head of the log was not written by this owner: another owner took it over, or the store lost the log';

/**
 * Thrown when a snapshot is abandoned because its shard was dropped, another owner took over, or the deadline has
 * passed.
 */
class Abandoned extends Error {}

/**
 * Takes snapshots of serving shards. Also deletes old snapshots and the part of the log before them, and deletes
 * unfinished snapshots before it writes a new one.
 */
export class Snapshotter {
  private urgent: Pace | undefined = undefined;

  constructor(private readonly deps: SnapshotterDeps) {}

  /** The newest complete snapshot in the store. Rejects during an outage. */
  async findNewest(shard: number): Promise<Manifest | undefined> {
    const { snapshots, snapshotFormat } = this.deps;
    return sortSnapshots(shard, await snapshots.snapshots(shard), snapshotFormat).whole[0];
  }

  /** Sets the pace from now on, including that of the snapshot in progress. */
  hurry(pace: Pace): void {
    this.urgent = pace;
  }

  /** Takes a snapshot of the shard if its log has new entries. Does not reject. */
  async take(shard: SnapshotSubject, known: KnownSnapshots, pace: Pace): Promise<SnapshotResult> {
    const startedMs = this.deps.clock.monotonicMs();
    try {
      const begun = new Capture(shard, () => this.urgent ?? pace, this.deps);
      if (begun.first.entriesSinceSnapshot === 0) return { type: 'unchanged', shard: shard.id };
      const manifest = await begun.runOrUndo(known.marks);
      known.published(manifest.marks, manifest.timeMs);
      if (begun.current !== undefined) {
        await this.retire(shard.id, known, begun.first.head.nonce).catch((error: Error) => {
          this.deps.log.warn(
            { code: 'cleanup-failed', shard: shard.id, reason: error.message },
            'cannot delete old snapshots and log entries',
          );
        });
      }
      const { id, players, end } = manifest;
      const bytes = manifest.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
      const tookMs = Math.round(this.deps.clock.monotonicMs() - startedMs);
      known.taken = { bytes, tookMs };
      const taken = { shard: shard.id, id, lsn: formatLsn(end.lsn), players, bytes, tookMs };
      this.deps.log.info({ ...taken, audit: manifest.tallies?.audit }, 'snapshot taken');
      return { type: 'taken', ...taken };
    } catch (error) {
      const reason = (error as Error).message;
      this.deps.log.warn({ code: 'snapshot-abandoned', shard: shard.id, reason }, 'snapshot abandoned');
      return { type: 'abandoned', shard: shard.id, reason };
    }
  }

  /** Deletes superseded snapshots and trims the part of the log that is no longer needed. */
  private async retire(shard: number, known: KnownSnapshots, nonce: string): Promise<void> {
    const { snapshots, snapshotFormat, policy } = this.deps;
    const stored = await withRetries('list the snapshots', this.deps, () => snapshots.snapshots(shard));
    const list = sortSnapshots(shard, stored, snapshotFormat);
    const whole = list.whole.filter(({ id }) => !known.damaged.has(id)).slice(0, policy.keep);
    const keptIds = new Set(whole.map(({ id }) => id));
    const kept = stored.filter(({ id }) => keptIds.has(id));
    for (const { id } of stored.filter((one) => !keptIds.has(one.id))) {
      const deleted = await withRetries('delete a snapshot', this.deps, () =>
        snapshots.deleteSnapshot(shard, nonce, kept, id),
      );
      if (!deleted) return;
    }
    const unneeded = trimPoint(whole, policy);
    const before = unneeded && (await this.keepForConsumers(shard, whole, unneeded));
    if (before === undefined || before.sequence <= known.trimmedTo) return;
    if (await withRetries('trim the log', this.deps, () => snapshots.trimLog(shard, nonce, kept, before))) {
      known.trimmedTo = before.sequence;
    }
  }

  /** The point up to which the log may be trimmed, given a trim point that the snapshots permit. */
  private async keepForConsumers(shard: number, whole: readonly Manifest[], trim: Lsn): Promise<Lsn> {
    const { consumers, clock } = this.deps;
    const limits = this.deps.policy.forConsumers;
    if (consumers === undefined || limits === undefined) return trim;
    const read = await withRetries('read the positions of the feeds', this.deps, () => consumers.slowest(shard));
    if (read === undefined) return trim;
    const oldestMs = clock.now() - limits.ageMaxMs;
    const marks = marksToKeep(whole, trim, read, limits.bytesMax);
    // The entries after a mark are younger than those after the marks before it. Find the first mark that is young enough.
    let [low, high] = [0, marks.length - 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const mark = marks[middle] as Lsn;
      const timeMs = await withRetries('read the log', this.deps, () => consumers.timeAfter(shard, mark));
      if (timeMs !== undefined && timeMs < oldestMs) low = middle + 1;
      else high = middle;
    }
    return marks[low] as Lsn;
  }
}

/** A snapshot in progress. */
class Capture {
  readonly first: SnapshotSource;
  private readonly id: string;
  /** Ledger totals at `first.head`. */
  private readonly totals: LedgerTotalsJson;
  private isBegun = false;

  constructor(
    private readonly shard: SnapshotSubject,
    private readonly pace: () => Pace,
    private readonly deps: SnapshotterDeps,
  ) {
    const { source } = shard;
    if (source === undefined) throw new Abandoned('the shard is not serving');
    this.first = source;
    this.totals = source.totals.toJSON();
    this.id = deps.newId();
  }

  /**
   * Captures the wallets and publishes the snapshot. If the store refuses a write, deletes the unfinished snapshot,
   * because the store may be full and need the space for appends.
   */
  async runOrUndo(marks: readonly LogMark[]): Promise<Manifest> {
    try {
      return await this.run(marks);
    } catch (error) {
      if (this.isBegun && !(error instanceof Abandoned)) {
        await this.remove(this.id).catch(() => {});
      }
      throw error;
    }
  }

  private async run(marks: readonly LogMark[]): Promise<Manifest> {
    const { snapshots, snapshotFormat, policy } = this.deps;
    const { head: start, logBytes, entriesSinceSnapshot } = this.first;
    const shard = this.shard.id;
    await this.deleteUnfinished();
    await this.write('begin a snapshot', () => snapshots.beginSnapshot(shard, start.nonce, this.id));
    this.isBegun = true;
    const { chunks, applied, players } = await this.writeChunks();
    const { head: end, timeMs } = await this.durable(applied);
    const place = { lsn: start.lsn, bytes: logBytes };
    const marksNow = nextMarks(marks, place, policy);
    const { id, totals: tallies } = this;
    const manifest = { id, shard, start, end, timeMs, players, chunks, tallies, marks: marksNow };
    const bytes = snapshotFormat.sealManifest(manifest);
    await this.deps.beforePublish?.(shard);
    await this.attempt('publish a snapshot', () => snapshots.publishSnapshot(shard, start.nonce, this.id, bytes));
    const { current } = this;
    if (current) this.shard.snapshotTaken(Math.max(0, current.entriesSinceSnapshot - entriesSinceSnapshot));
    return manifest;
  }

  /**
   * Deletes unfinished snapshots before writing a new one. Otherwise a full store would stay full, because each attempt
   * would leave another one.
   */
  private async deleteUnfinished(): Promise<void> {
    const { snapshots } = this.deps;
    const shard = this.shard.id;
    for (const { id, manifest } of await withRetries('list the snapshots', this.deps, () =>
      snapshots.snapshots(shard),
    )) {
      if (manifest !== undefined) continue;
      this.alive();
      if (!(await this.remove(id))) throw new Abandoned(ANOTHER_OWNER);
    }
  }

  /** Deletes an unfinished snapshot. Retries even if the store is full, because the deletion frees space. */
  private remove(id: string): Promise<boolean> {
    const { nonce } = this.first.head;
    const remove = () => this.deps.snapshots.deleteSnapshot(this.shard.id, nonce, [], id);
    return withRetries('delete a snapshot', this.deps, remove);
  }

  private async writeChunks(): Promise<{ chunks: ChunkSummary[]; applied: number; players: number }> {
    const { snapshots, snapshotFormat, clock } = this.deps;
    const { wallets, head } = this.first;
    const shard = this.shard.id;
    const chunks: ChunkSummary[] = [];
    let chunk = snapshotFormat.beginChunk(shard, this.id, 0);
    let position = 0;
    let adding: Steps<boolean> | undefined;
    let attempts = 0;
    for (;;) {
      const sliceEndsMs = clock.monotonicMs() + SLICE_MS;
      const hasRoom = () => position < wallets.count && (adding !== undefined || chunk.byteLength < CHUNK_BYTES);
      while (hasRoom() && clock.monotonicMs() < sliceEndsMs) {
        const wallet = must(wallets.peekAt(position), 'every position has its wallet');
        adding ??= chunk.add(wallet);
        const step = adding.next();
        if (!step.done) continue;
        adding = undefined;
        if (!step.value && ++attempts < ADD_ATTEMPTS) continue;
        // The wallet changed during every attempt, so write it in one step.
        if (!step.value) atOnce(chunk.add(wallet));
        position++;
        attempts = 0;
      }
      // All events that the chunks contain have been applied to the wallets, but some may not be in the log yet.
      const { applied } = this.alive();
      const isLast = position === wallets.count;
      if (isLast || (adding === undefined && chunk.byteLength >= CHUNK_BYTES)) {
        const { bytes, summary } = chunk.seal();
        const index = chunks.length;
        if (summary.players > 0) {
          await this.write('write a chunk', () => snapshots.writeChunk(shard, head.nonce, this.id, index, bytes));
          chunks.push(summary);
        }
        if (isLast) return { chunks, applied, players: position };
        chunk = snapshotFormat.beginChunk(shard, this.id, chunks.length);
      }
      await this.rest();
    }
  }

  /**
   * Pauses between two slices. If the pause is 0, it only yields, because a timer would take at least a millisecond,
   * which is as long as a slice.
   */
  private async rest(): Promise<void> {
    const { restMs } = this.pace();
    await (restMs === 0 ? this.deps.yieldTurn() : this.deps.delay(restMs));
  }

  /** Waits until all events that the chunks may contain are durable; resolves to the shard's state at that point. */
  private async durable(sequence: number): Promise<SnapshotSource> {
    const endMs = this.deps.clock.monotonicMs() + DURABLE_MAX_MS;
    for (;;) {
      const source = this.alive();
      if (source.head.lsn.sequence >= sequence) return source;
      if (this.deps.clock.monotonicMs() > endMs) throw new Abandoned('its entries do not become durable');
      await this.deps.delay(DURABLE_POLL_MS);
    }
  }

  private async write(what: string, run: () => Promise<boolean>): Promise<void> {
    await this.attempt(what, run);
    this.alive();
  }

  /**
   * Runs a write with retry, but does not wait for free space, because the unfinished snapshot occupies space that
   * appends need. Each try first checks the shard: while a shard that failed an assertion loads again, the store still
   * accepts writes with its nonce.
   */
  private async attempt(what: string, write: () => Promise<boolean>): Promise<void> {
    const run = () => {
      this.alive();
      return write();
    };
    const isHopeless = (error: unknown) =>
      error instanceof StoreFullError || error instanceof Abandoned || isPermanent(error);
    if (!(await withRetries(what, this.deps, run, isHopeless))) throw new Abandoned(ANOTHER_OWNER);
  }

  /**
   * The shard's current state. Undefined once the shard has dropped the wallets that this snapshot captures; superseded
   * snapshots are then kept.
   */
  get current(): SnapshotSource | undefined {
    const { source } = this.shard;
    return source?.wallets === this.first.wallets ? source : undefined;
  }

  /**
   * The shard's current state. Throws unless the shard still has the same wallets and owner as when the snapshot began.
   */
  private alive(): SnapshotSource {
    const { current } = this;
    if (current === undefined || current.head.nonce !== this.first.head.nonce) {
      throw new Abandoned('the shard was unloaded in the meantime');
    }
    if (this.deps.clock.monotonicMs() > this.pace().deadlineMs) throw new Abandoned('there is no time left');
    return current;
  }
}
