import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { Logger } from '../base/logger.js';
import { type Cancel, systemTimers } from '../base/timers.js';

/**
 * Shares of the record limit and of the usable heap. Once usage exceeds FULL, nothing new is opened until it falls
 * below FREE. The remaining space for records is used to close open rounds.
 */
const RECORDS_FULL_SHARE = 0.9;
const RECORDS_FREE_SHARE = 0.88;
const RECORDS_HALF_SHARE = 0.5;
const FULL_SHARE = 0.75;
const FREE_SHARE = 0.7;
/**
 * Above this share, the heap counts as full even if it might contain garbage: V8 would have collected the garbage
 * already.
 */
const HARD_SHARE = 0.95;
const SAMPLE_MS = 100;
/** Minimum interval between two warnings. A thread near its limit crosses the limit repeatedly. */
const SAY_MS = 10_000;

/** Limits of one thread, in bytes. */
export interface MemoryLimits {
  readonly heapMaxBytes: number;
  /** Size of V8's semi-space, which is half of the young generation. */
  readonly youngBytes: number;
  readonly recordsMaxBytes: number;
}

/**
 * Monitors this thread's records and heap. The used heap size alone says little, because V8 keeps garbage until it
 * needs the space. The guard therefore uses the size after the last major garbage collection.
 *
 * The usable heap is the limit minus both halves of the young generation. If the old generation leaves no space for
 * them, V8 runs full garbage collections continuously. V8 ends the process after four consecutive collections that took
 * most of the time and left more than 0.8 of the limit in use.
 */
export class MemoryGuard {
  isFull = false;
  /** True if the records take more than half of their limit. Rounds that can leave memory then do so at once. */
  isHalfFull = false;
  /**
   * Heap size after the last major garbage collection; less than a byte before the first one. V8 discards code that uses
   * this guard when a field first holds another kind of number, so this one is a fraction from the start.
   */
  private liveBytes = 0.5;
  private readonly roomBytes: number;
  private readonly stopSampling: Cancel;
  private readonly observer: PerformanceObserver;

  private recordBytes: () => number = () => 0;
  private saidMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly limits: MemoryLimits,
    private readonly log: Logger,
  ) {
    this.roomBytes = limits.heapMaxBytes - 2 * limits.youngBytes;
    this.observer = new PerformanceObserver((list) => {
      const isMajor = list
        .getEntries()
        .some((entry) => (entry as { detail?: { kind: number } }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
      if (isMajor) this.liveBytes = oldBytes();
    });
    this.observer.observe({ entryTypes: ['gc'] });
    this.stopSampling = systemTimers.every(SAMPLE_MS, () => this.sample());
  }

  get recordsMaxBytes(): number {
    return this.limits.recordsMaxBytes;
  }

  get heapMaxBytes(): number {
    return this.limits.heapMaxBytes;
  }

  /** `recordBytes` returns the number of bytes that the records use. */
  watch(recordBytes: () => number): void {
    this.recordBytes = recordBytes;
  }

  usedBytes(): number {
    return getHeapStatistics().used_heap_size;
  }

  close(): void {
    this.stopSampling();
    this.observer.disconnect();
  }

  private sample(): void {
    const used = oldBytes();
    const live = Math.min(this.liveBytes, used);
    const threshold = (this.isFull ? FREE_SHARE : FULL_SHARE) * this.roomBytes;
    const recordsMax = (this.isFull ? RECORDS_FREE_SHARE : RECORDS_FULL_SHARE) * this.limits.recordsMaxBytes;
    const records = this.recordBytes();
    const wasFull = this.isFull;
    this.isFull = live >= threshold || used >= HARD_SHARE * this.roomBytes || records >= recordsMax;
    if (this.isFull && !wasFull) this.warn({ recordBytes: records, heapBytes: used });
    this.isHalfFull = records >= RECORDS_HALF_SHARE * this.limits.recordsMaxBytes;
  }

  private warn(at: { readonly recordBytes: number; readonly heapBytes: number }): void {
    const nowMs = performance.now();
    if (nowMs - this.saidMs < SAY_MS) return;
    this.saidMs = nowMs;
    const { heapMaxBytes, recordsMaxBytes } = this.limits;
    this.log.warn(
      { code: 'memory-full', ...at, recordsMaxBytes, heapMaxBytes },
      'memory nearly full, new bets are refused',
    );
  }
}

/** Number of bytes used by all heap spaces except the young generation. */
function oldBytes(): number {
  let bytes = 0;
  for (const space of getHeapSpaceStatistics()) {
    if (!space.space_name.startsWith('new_')) bytes += space.space_used_size;
  }
  return bytes;
}
