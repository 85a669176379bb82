import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerSettings } from '../../src/node/boot/worker-entry.js';
import type { ToWorker } from '../../src/threads/protocol.js';

/** A normal worker, except that the second one never finishes recovery. */
const { worker } = workerData as WorkerSettings;
if (worker === 0) {
  await import('../../src/node/boot/worker-entry.js');
} else {
  parentPort?.on('message', ({ type }: ToWorker) => {
    if (type === 'drain-shards') parentPort?.postMessage({ type: 'drained', isEmpty: true });
    if (type === 'take-snapshots') parentPort?.postMessage({ type: 'snapshots-taken', results: [] });
    if (type === 'close-shards') process.exit();
  });
}
