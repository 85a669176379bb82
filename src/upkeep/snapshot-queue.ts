import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { delay, type Timers } from '../base/timers.js';
import type { Shard } from '../engine/shard.js';
import type { Recovered } from '../log/recovery.js';
import { isDue, type SnapshotPolicy } from '../snapshot/snapshot-policy.js';
import {
  BACKGROUND,
  type NewestSnapshot,
  type Pace,
  type SnapshotResult,
  type Snapshotter,
} from '../snapshot/snapshotter.js';

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
  /** By shard: the time, by the monotonic clock, of its recovery or of the last attempt to take its snapshot. */
  private readonly triedMs = new Map<number, number>();
  private readonly pausedUntilMs = new Map<number, number>();

  constructor(
    private readonly shards: ReadonlyMap<number, Shard>,
    private readonly deps: SnapshotQueueDeps,
  ) {}

  /** Records that a shard serves (for the first time or again), and which snapshots of it the store has. */
  recovered(shard: number, { marks, damaged, snapshotMs }: Recovered): void {
    this.deps.snapshotter.recovered(shard, marks, damaged, snapshotMs);
    this.triedMs.set(shard, this.deps.clock.monotonicMs());
  }

  /** Records a shard that came from another node, which may have taken newer snapshots. */
  async takenOver(shard: number, recovered: Recovered): Promise<void> {
    this.recovered(shard, recovered);
    const manifest = await this.deps.snapshotter.findNewest(shard).catch(() => undefined);
    if (manifest === undefined) return;
    this.recovered(shard, { ...recovered, marks: manifest.marks, snapshotMs: manifest.timeMs });
    // Count from the time of the newest snapshot. Otherwise a shard that moves often would never be due for a snapshot.
    const { clock } = this.deps;
    this.triedMs.set(shard, clock.monotonicMs() - Math.max(0, clock.now() - manifest.timeMs));
  }

  newestOf(shard: number): NewestSnapshot | undefined {
    return this.deps.snapshotter.newestOf(shard);
  }

  /** Takes a snapshot of each serving shard that has changed. The pace also applies to the snapshot in progress. */
  async takeAll(pace: Pace): Promise<readonly SnapshotResult[]> {
    const { memory, log, snapshotter } = this.deps;
    const shards = [...this.shards.values()].filter(({ isElsewhere }) => !isElsewhere);
    if (!Number.isFinite(pace.deadlineMs)) return await this.queued(shards, pace);
    if (memory.isFull) {
      // When the heap is nearly full, snapshots without pauses would make V8 collect garbage continuously, and V8 might
      // end the process. Skipping them loses nothing, because the log has all the data.
      log.warn({ code: 'urgent-snapshots-skipped' }, 'memory is nearly full, skipped urgent snapshots');
      return [];
    }
    snapshotter.hurry(pace);
    // A shard that does not serve has no current state to capture.
    const serving = shards.filter(({ source }) => source !== undefined);
    return await this.queued(serving, pace);
  }

  /**
   * Takes all snapshots that are due as one batch. If they were started one by one, the first shard would be due again
   * before the others had their turn.
   */
  takeDue(): void {
    if (this.isTaking) return;
    const nowMs = this.deps.clock.monotonicMs();
    const due = [...this.shards.values()].filter(({ id, source }) => {
      const sinceMs = nowMs - (this.triedMs.get(id) ?? nowMs);
      if ((this.pausedUntilMs.get(id) ?? 0) > nowMs) return false;
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

  private queued(shards: readonly Shard[], pace: Pace): Promise<SnapshotResult[]> {
    const results = this.last.then(async () => {
      this.isTaking = true;
      const results: SnapshotResult[] = [];
      for (const shard of shards) {
        const result = await this.deps.snapshotter.take(shard, pace);
        results.push(result);
        this.deps.observer.snapshotEnded(result);
        const nowMs = this.deps.clock.monotonicMs();
        this.triedMs.set(shard.id, nowMs);
        this.pausedUntilMs.set(shard.id, result.type === 'abandoned' ? nowMs + REST_MS : nowMs);
      }
      this.isTaking = false;
      return results;
    });
    this.last = results;
    return results;
  }
}
