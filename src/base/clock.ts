export interface Clock {
  /** Milliseconds since 1970; a whole number. */
  now(): number;
  /**
   * Milliseconds since some fixed moment, with fractions. The value never goes back and is the same in all threads. For
   * durations.
   */
  monotonicMs(): number;
}

const READINGS = 10;

/** Each thread counts `performance.now` from its own start. The system clock behind it is the same for all threads. */
const THREAD_STARTED_MS = threadStartedMs();

/** Uses the fastest pair of readings: a busy machine can delay a thread by milliseconds between the two. */
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

/** Time that the system's monotonic clock has missed, shared by all threads. */
let missed = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));

/** Buffer for a new thread, whose clock must jump together with the others. */
export function missedTime(): SharedArrayBuffer {
  return missed.buffer as SharedArrayBuffer;
}

/** Adopts the shared buffer. A new thread calls this first. */
export function shareMissedTime(buffer: SharedArrayBuffer): void {
  missed = new Float64Array(buffer);
}

/** Records that the machine was suspended for `ms`: monotonic time jumps, so every deadline in that span has passed. */
export function addMissedTime(ms: number): void {
  missed[0] = (missed[0] as number) + ms;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => THREAD_STARTED_MS + performance.now() + (missed[0] as number),
};
