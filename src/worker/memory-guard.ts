import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/**
 * Share of the room above which nothing new is opened, and below which it is again. What is there can grow by a sixth
 * from one collection to the next: the tables of all wallets that have as many bets double at once.
 */
const FULL_SHARE = 0.75;
const FREE_SHARE = 0.7;
/** Above this share the heap counts as full whatever part of it is garbage: V8 would have collected it by now. */
const HARD_SHARE = 0.95;
const SAMPLE_MS = 100;

/**
 * Watches this thread's heap. Used bytes alone say little, because V8 lets garbage lie until it needs the room; so what
 * counts is what was left after the last major collection.
 *
 * The room is the limit without the two halves of the young generation: where the old one leaves no room for them, V8
 * does nothing but collect all of the heap, and ends the process when four collections in a row took most of the time
 * and have left more than 0.8 of the limit.
 */
export class MemoryGuard {
  isFull = false;
  private liveBytes = 0;
  private readonly roomBytes: number;
  private readonly timer: NodeJS.Timeout;
  private readonly observer: PerformanceObserver;

  /** `youngBytes`: V8's semi-space. */
  constructor(
    readonly maxBytes: number,
    youngBytes: number,
  ) {
    this.roomBytes = maxBytes - 2 * youngBytes;
    this.observer = new PerformanceObserver((list) => {
      const isMajor = list
        .getEntries()
        .some((entry) => (entry as { detail?: { kind: number } }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
      if (isMajor) this.liveBytes = oldBytes();
    });
    this.observer.observe({ entryTypes: ['gc'] });
    this.timer = setInterval(() => this.sample(), SAMPLE_MS);
    this.timer.unref();
  }

  usedBytes(): number {
    return getHeapStatistics().used_heap_size;
  }

  close(): void {
    clearInterval(this.timer);
    this.observer.disconnect();
  }

  private sample(): void {
    const used = oldBytes();
    const live = Math.min(this.liveBytes, used);
    const threshold = (this.isFull ? FREE_SHARE : FULL_SHARE) * this.roomBytes;
    this.isFull = live >= threshold || used >= HARD_SHARE * this.roomBytes;
  }
}

/** Used by all but the young generation. */
function oldBytes(): number {
  let bytes = 0;
  for (const space of getHeapSpaceStatistics()) {
    if (!space.space_name.startsWith('new_')) bytes += space.space_used_size;
  }
  return bytes;
}
