import { Worker } from 'node:worker_threads';

/** Two places in shared memory: one that nobody changes, to wait at; and 1 while a tick has not been taken yet. */
export const WAITS_AT = 0;
export const IS_TICKING = 1;

/**
 * Calls back every so many milliseconds, which may be a fraction: Node's own timers know whole ones only. A thread
 * sleeps between the ticks; those that come while the last one waits are left out. Returns how to end it.
 */
export function tickEvery(ms: number, callback: () => void): () => void {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL('./ticker-thread.js', import.meta.url), { workerData: { ms, shared } });
  worker.on('message', () => {
    Atomics.store(shared, IS_TICKING, 0);
    callback();
  });
  return () => void worker.terminate();
}
