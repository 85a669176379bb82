import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.js';
import { IS_TICKING, WAITS_AT } from './ticker.js';

interface Ticks {
  readonly ms: number;
  readonly firstAtMs: number;
  readonly shared: Int32Array;
}

const { ms, firstAtMs, shared } = workerData as Ticks;

for (let tick = 0; ; tick++) {
  const waitMs = firstAtMs + tick * ms - systemClock.monotonicMs();
  if (waitMs > 0) Atomics.wait(shared, WAITS_AT, 0, waitMs);
  if (waitMs > -ms && Atomics.exchange(shared, IS_TICKING, 1) === 0) parentPort?.postMessage(undefined);
}
