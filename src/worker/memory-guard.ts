import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/**
 * Share of the limit above which nothing new is opened, and below which it is again. V8 gives up, and ends the process,
 * when four major collections in a row leave more than 0.8 of the limit and have taken most of the time.
 */
const FULL_SHARE = 0.75;
const FREE_SHARE = 0.7;
/** Above this share the heap counts as full whatever part of it is garbage: V8 would have collected it by now. */
const HARD_SHARE = 0.95;
const SAMPLE_MS = 100;

/**
 * Watches this thread's heap. Used bytes alone say little, because V8 lets garbage lie until it needs the room; so what
 * counts is what was left after the last major collection.
 */
export class MemoryGuard {
  isFull = false;
  private liveBytes = 0;
  private readonly timer: NodeJS.Timeout;
  private readonly observer: PerformanceObserver;

  constructor(readonly maxBytes: number) {
    this.observer = new PerformanceObserver((list) => {
      const isMajor = list
        .getEntries()
        .some((entry) => (entry as { detail?: { kind: number } }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
      if (isMajor) this.liveBytes = this.usedBytes();
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
    const used = this.usedBytes();
    const live = Math.min(this.liveBytes, used);
    const threshold = (this.isFull ? FREE_SHARE : FULL_SHARE) * this.maxBytes;
    this.isFull = live >= threshold || used >= HARD_SHARE * this.maxBytes;
  }
}
