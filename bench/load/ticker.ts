import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.js';

/** Two places in shared memory: one that nobody changes, to wait at; and 1 while a tick has not been taken yet. */
export const WAITS_AT = 0;
export const IS_TICKING = 1;

/** From the thread's waking to the callback, on an idle machine with two cores: 0.1 ms, now and then 0.15. */
const LEAD_MS = 0.15;
/** A tick that came early is waited for at full speed, and the servers need the processor too. */
const LEAD_SHARE_MAX = 0.3;

/**
 * Calls back every so many milliseconds from now, which may be a fraction: Node's own timers know whole ones only. A
 * thread sleeps between the ticks, and wakes early enough for its message to be there in time: a tick may come up to
 * the returned lead too early, and its receiver looks at the clock. Those that come while the last one waits are left
 * out.
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
