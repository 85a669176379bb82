import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { delay, type Timers } from '../base/timers.js';
import type { Recovered } from '../shard/log/recovery.js';
import type { Shard } from '../shard/shard.js';
import { isDue, type SnapshotPolicy } from '../shard/snapshot/snapshot-policy.js';
import {
  BACKGROUND,
  type NewestSnapshot,
  type Pace,
  type SnapshotResult,
  type Snapshotter,
} from '../shard/snapshot/snapshotter.js';

export interface SnapshotQueueDeps {
  readonly snapshotter: Snapshotter;
  readonly policy: SnapshotPolicy;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly memory: { readonly isFull: boolean };
  readonly observer: { snapshotEnded(result: SnapshotResult): void };
}

/** After one that failed, whatever is due: what failed then will mostly fail now. */
const REST_MS = 10_000;
const END_MS = 500;

/** The snapshots of one thread's shards, one after the other: when they are due, or on demand. */
export class SnapshotQueue {
  private last: Promise<unknown> = Promise.resolve();
  private isTaking = false;
  /** When each shard was recovered, or a snapshot of it tried last. Of the monotonic clock. */
  private readonly triedMs = new Map<number, number>();
  private readonly restsUntilMs = new Map<number, number>();

  constructor(
    private readonly shards: ReadonlyMap<number, Shard>,
    private readonly deps: SnapshotQueueDeps,
  ) {}

  /** A shard serves (again); its log has these snapshots. */
  recovered(shard: number, { marks, damaged, snapshotMs }: Recovered): void {
    this.deps.snapshotter.recovered(shard, marks, damaged, snapshotMs);
    this.triedMs.set(shard, this.deps.clock.monotonicMs());
  }

  /** A shard that came from another node, which may have taken newer ones. */
  async takenOver(shard: number, recovered: Recovered): Promise<void> {
    this.recovered(shard, recovered);
    const manifest = await this.deps.snapshotter.maybeNewest(shard).catch(() => undefined);
    if (manifest === undefined) return;
    this.recovered(shard, { ...recovered, marks: manifest.marks, snapshotMs: manifest.timeMs });
    // By its age: a shard that moves now and then would never have one.
    const { clock } = this.deps;
    this.triedMs.set(shard, clock.monotonicMs() - Math.max(0, clock.now() - manifest.timeMs));
  }

  newestOf(shard: number): NewestSnapshot | undefined {
    return this.deps.snapshotter.newestOf(shard);
  }

  /** Takes one of each shard that serves and has changed. A deadline also speeds up the one being taken. */
  async takeAll(pace: Pace): Promise<readonly SnapshotResult[]> {
    const { memory, log, snapshotter } = this.deps;
    const shards = [...this.shards.values()].filter(({ isElsewhere }) => !isElsewhere);
    if (!Number.isFinite(pace.deadlineMs)) return await this.queued(shards, pace);
    if (memory.isFull) {
      // Without pauses V8 collects such a heap all the time, and may end the process for it. The log has all of it.
      log.warn({ code: 'urgent-snapshots-skipped' }, 'memory is nearly full, skipped urgent snapshots');
      return [];
    }
    snapshotter.hurry(pace);
    // Snapshots in a hurry leave out shards that do not serve.
    const serving = shards.filter(({ source }) => source !== undefined);
    return await this.queued(serving, pace);
  }

  /** All that are due: the first of them alone would be due again before the others had their turn. */
  takeDue(): void {
    if (this.isTaking) return;
    const nowMs = this.deps.clock.monotonicMs();
    const due = [...this.shards.values()].filter(({ id, source }) => {
      const sinceMs = nowMs - (this.triedMs.get(id) ?? nowMs);
      if ((this.restsUntilMs.get(id) ?? 0) > nowMs) return false;
      return source !== undefined && isDue(this.deps.policy, source.entriesSinceSnapshot, sinceMs);
    });
    if (due.length > 0) void this.queued(due, BACKGROUND);
  }

  /** A snapshot that is still being taken ends at its next step, before its store is closed; unless the store is away. */
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
        this.restsUntilMs.set(shard.id, result.type === 'abandoned' ? nowMs + REST_MS : nowMs);
      }
      this.isTaking = false;
      return results;
    });
    this.last = results;
    return results;
  }
}
