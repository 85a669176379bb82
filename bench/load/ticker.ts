import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.js';

/**
 * The index in shared memory whose value never changes; the thread sleeps on it. The second index is 1 while a tick is
 * pending.
 */
export const WAITS_AT = 0;
export const IS_TICKING = 1;

/**
 * The time from the thread's wake-up to the callback, on an idle machine with two cores: 0.1 ms, occasionally 0.15 ms.
 */
const LEAD_MS = 0.15;
/**
 * Maximum lead. After an early tick, the receiver spins until the due time and takes processor time from the servers.
 */
const LEAD_SHARE_MAX = 0.3;

/**
 * Calls back every `ms` milliseconds. `ms` may be a fraction, unlike the intervals of Node's own timers. Resolves at the
 * first tick: by then the ticking thread has started, which takes processor time from the servers under test. The thread
 * sleeps between ticks and wakes early enough for its message to arrive in time. A tick may be early by up to the
 * returned lead, so its receiver must check the clock. Ticks that become due while one is pending are dropped.
 */
export async function tickEvery(ms: number, callback: () => void): Promise<{ readonly leadMs: number; end(): void }> {
  const leadMs = Math.min(LEAD_MS, ms * LEAD_SHARE_MAX);
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { ms, firstAtMs: systemClock.monotonicMs() + ms - leadMs, shared };
  const worker = new Worker(new URL('./ticker-thread.js', import.meta.url), { workerData });
  let onTick = () => {};
  const first = new Promise<void>((resolve) => {
    onTick = resolve;
  });
  worker.on('message', () => {
    Atomics.store(shared, IS_TICKING, 0);
    onTick();
  });
  await first;
  onTick = callback;
  return { leadMs, end: () => void worker.terminate() };
}
