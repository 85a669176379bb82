import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.js';

/** Index in shared memory that never changes, to sleep on. The second index is 1 while a tick is pending. */
export const WAITS_AT = 0;
export const IS_TICKING = 1;

/** Time from the thread's wake-up to the callback, on an idle machine with two cores: 0.1 ms, now and then 0.15. */
const LEAD_MS = 0.15;
/** Early ticks are awaited by spinning, and the servers need the processor too. */
const LEAD_SHARE_MAX = 0.3;

/**
 * Calls back every `ms` milliseconds from now. `ms` may be a fraction, unlike the periods of Node's own timers. A
 * thread sleeps between the ticks, and wakes early enough for its message to arrive in time. A tick may come up to the
 * returned lead too early, so its receiver looks at the clock. Ticks that become due while one is pending are dropped.
 */
export function tickEvery(ms: number, callback: () => void): { readonly leadMs: number; end(): void } {
  const leadMs = Math.min(LEAD_MS, ms * LEAD_SHARE_MAX);
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { ms, firstAtMs: systemClock.monotonicMs() + ms - leadMs, shared };
  const worker = new Worker(new URL('./ticker-thread.js', import.meta.url), { workerData });
  worker.on('message', () => {
    Atomics.store(shared, IS_TICKING, 0);
    callback();
  });
  return { leadMs, end: () => void worker.terminate() };
}
