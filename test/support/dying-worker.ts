import { parentPort } from 'node:worker_threads';
import type { ToWorker } from '../../src/worker/protocol.js';

/** A worker like every other, but for a bug: a callback of the product DIE ends the thread. */
parentPort?.on('message', (message: ToWorker) => {
  if (message.type !== 'submit-requests') return;
  const isDeadly = message.requests.some(
    (one) => 'command' in one && 'productId' in one.command && one.command.productId === 'DIE',
  );
  if (isDeadly) {
    setImmediate(() => {
      throw new Error('injected bug');
    });
  }
});
await import('../../src/cli/worker-entry.js');
