export interface Clock {
  /** Milliseconds since 1970; a whole number. */
  now(): number;
  /** Milliseconds since some moment, with fractions; never goes back, and is the same in all threads. For durations. */
  monotonicMs(): number;
}

const READINGS = 10;

/** Each thread counts `performance.now` from a moment of its own; the system clock behind it is the same for all. */
const THREAD_STARTED_MS = threadStartedMs();

/** Taken from the fastest pair of readings: a busy machine can hold a thread up for milliseconds between the two. */
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

/** Time that the system's monotonic clock has missed, in all threads. */
let missed = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));

/** For a new thread, whose clock is to leap with those of the others. */
export function missedTime(): SharedArrayBuffer {
  return missed.buffer as SharedArrayBuffer;
}

/** To be called first in a new thread. */
export function shareMissedTime(buffer: SharedArrayBuffer): void {
  missed = new Float64Array(buffer);
}

/** The machine was suspended for so long: monotonic time leaps, so that what was to end meanwhile has ended. */
export function addMissedTime(ms: number): void {
  missed[0] = (missed[0] as number) + ms;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => THREAD_STARTED_MS + performance.now() + (missed[0] as number),
};
