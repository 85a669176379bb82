export interface Clock {
  /** The time in whole milliseconds since 1970. */
  now(): number;
  /**
   * Milliseconds since a fixed moment, with fractions, for measuring durations. The value never goes back, and all
   * threads see the same value.
   */
  monotonicMs(): number;
}

const READINGS = 10;

/**
 * `performance.now` counts from the start of each thread, but all threads use the same system clock, so this offset
 * makes their values comparable.
 */
const THREAD_STARTED_MS = threadStartedMs();

/**
 * Reads both clocks several times and uses the pair that was read fastest, because a busy machine can delay a thread by
 * milliseconds between two readings.
 */
function threadStartedMs(): number {
  let startedMs = 0;
  let leastNs = Number.POSITIVE_INFINITY;
  for (let n = 0; n < READINGS; n++) {
    const beforeNs = process.hrtime.bigint();
    const nowMs = performance.now();
    const tookNs = Number(process.hrtime.bigint() - beforeNs);
    if (tookNs < leastNs) [startedMs, leastNs] = [Number(beforeNs) / 1e6 - nowMs, tookNs];
  }
  return startedMs;
}

/** The time that the system's monotonic clock did not count while the machine was suspended. Shared by all threads. */
let missed = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));

/**
 * The buffer that all threads share. The process passes it to each new thread, so that the clocks of all threads jump
 * together.
 */
export function missedTime(): SharedArrayBuffer {
  return missed.buffer as SharedArrayBuffer;
}

/** Adopts the shared buffer. A new thread must call this first. */
export function shareMissedTime(buffer: SharedArrayBuffer): void {
  missed = new Float64Array(buffer);
}

/**
 * Records that the machine was suspended for `ms`. Monotonic time jumps by this span, so that every deadline within it
 * has passed.
 */
export function addMissedTime(ms: number): void {
  missed[0] = (missed[0] as number) + ms;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => THREAD_STARTED_MS + performance.now() + (missed[0] as number),
};
