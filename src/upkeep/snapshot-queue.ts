import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { delay, type Timers } from '../base/timers.js';
import type { Shard } from '../engine/shard.js';
import type { Recovered } from '../log/recovery.js';
import type { KnownSnapshots } from '../snapshot/known-snapshots.js';
import { isDue, type SnapshotPolicy } from '../snapshot/snapshot-policy.js';
import { BACKGROUND, type Pace, type SnapshotResult, type Snapshotter } from '../snapshot/snapshotter.js';

/** A shard of the thread, with its snapshots. */
interface SnapshottedShard {
  readonly shard: Shard;
  readonly snapshots: KnownSnapshots;
}

export interface SnapshotQueueDeps {
  readonly snapshotter: Snapshotter;
  readonly policy: SnapshotPolicy;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly memory: { readonly isFull: boolean };
  readonly observer: { snapshotEnded(result: SnapshotResult): void };
}

/**
 * Pause after a failed snapshot, even if snapshots of other shards are due, because those would probably fail as well.
 */
const REST_MS = 10_000;
const END_MS = 500;

/** Takes snapshots of one thread's shards, one at a time, when they are due or on demand. */
export class SnapshotQueue {
  private last: Promise<unknown> = Promise.resolve();
  private isTaking = false;

  constructor(
    private readonly shards: ReadonlyMap<number, SnapshottedShard>,
    private readonly deps: SnapshotQueueDeps,
  ) {}

  /** Records that a shard serves (for the first time or again), and which snapshots of it the store has. */
  recovered({ snapshots }: SnapshottedShard, { marks, damaged, snapshotMs }: Recovered): void {
    snapshots.recovered(marks, damaged, snapshotMs);
    snapshots.triedMs = this.deps.clock.monotonicMs();
  }

  /** Records a shard that came from another node, which may have taken newer snapshots. */
  async takenOver(hosted: SnapshottedShard, recovered: Recovered): Promise<void> {
    this.recovered(hosted, recovered);
    const manifest = await this.deps.snapshotter.findNewest(hosted.shard.id).catch(() => undefined);
    if (manifest === undefined) return;
    this.recovered(hosted, { ...recovered, marks: manifest.marks, snapshotMs: manifest.timeMs });
    // Count from the time of the newest snapshot. Otherwise a shard that moves often would never be due for a snapshot.
    const { clock } = this.deps;
    hosted.snapshots.triedMs = clock.monotonicMs() - Math.max(0, clock.now() - manifest.timeMs);
  }

  /** Takes a snapshot of each serving shard that has changed. The pace also applies to the snapshot in progress. */
  async takeAll(pace: Pace): Promise<readonly SnapshotResult[]> {
    const { memory, log, snapshotter } = this.deps;
    const shards = [...this.shards.values()].filter(({ shard }) => !shard.isElsewhere);
    if (!Number.isFinite(pace.deadlineMs)) return await this.queued(shards, pace);
    if (memory.isFull) {
      // When the heap is nearly full, snapshots without pauses would make V8 collect garbage continuously, and V8 might
      // end the process. Skipping them loses nothing, because the log has all the data.
      log.warn({ code: 'urgent-snapshots-skipped' }, 'memory is nearly full, skipped urgent snapshots');
      return [];
    }
    snapshotter.hurry(pace);
    // A shard that does not serve has no current state to capture.
    const serving = shards.filter(({ shard }) => shard.source !== undefined);
    return await this.queued(serving, pace);
  }

  /**
   * Takes all snapshots that are due as one batch. If they were started one by one, the first shard would be due again
   * before the others had their turn.
   */
  takeDue(): void {
    if (this.isTaking) return;
    const nowMs = this.deps.clock.monotonicMs();
    const due = [...this.shards.values()].filter(({ shard: { source }, snapshots }) => {
      const sinceMs = nowMs - snapshots.triedMs;
      if (snapshots.restUntilMs > nowMs) return false;
      return source !== undefined && isDue(this.deps.policy, source.entriesSinceSnapshot, sinceMs);
    });
    if (due.length > 0) void this.queued(due, BACKGROUND);
  }

  /**
   * Stops the snapshot in progress at its next step, before the store is closed. Waits only briefly for an unreachable
   * store.
   */
  async close(): Promise<void> {
    this.deps.snapshotter.hurry({ restMs: 0, deadlineMs: Number.NEGATIVE_INFINITY });
    if (!this.isTaking) return;
    await Promise.race([this.last, delay(this.deps.timers, END_MS)]);
  }

  private queued(shards: readonly SnapshottedShard[], pace: Pace): Promise<SnapshotResult[]> {
    const results = this.last.then(async () => {
      this.isTaking = true;
      const results: SnapshotResult[] = [];
      for (const { shard, snapshots } of shards) {
        const result = await this.deps.snapshotter.take(shard, snapshots, pace);
        results.push(result);
        this.deps.observer.snapshotEnded(result);
        const nowMs = this.deps.clock.monotonicMs();
        snapshots.triedMs = nowMs;
        snapshots.restUntilMs = result.type === 'abandoned' ? nowMs + REST_MS : nowMs;
      }
      this.isTaking = false;
      return results;
    });
    this.last = results;
    return results;
  }
}
