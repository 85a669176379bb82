import { parentPort, workerData } from 'node:worker_threads';
import { IS_TICKING, WAITS_AT } from './ticker.js';

const { ms, shared } = workerData as { readonly ms: number; readonly shared: Int32Array };

for (;;) {
  Atomics.wait(shared, WAITS_AT, 0, ms);
  if (Atomics.exchange(shared, IS_TICKING, 1) === 0) parentPort?.postMessage(undefined);
}
