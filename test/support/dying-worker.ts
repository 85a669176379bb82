import { parentPort } from 'node:worker_threads';
import type { ToWorker } from '../../src/threads/protocol.js';

/** A normal worker with one bug: a callback for the product DIE ends the thread. */
parentPort?.on('message', (message: ToWorker) => {
  if (message.type !== 'submit-callbacks') return;
  const isDeadly = message.callbacks.texts.some((text) => text.includes('"productId":"DIE"'));
  if (isDeadly) {
    setImmediate(() => {
      throw new Error('injected bug');
    });
  }
});
await import('../../src/node/boot/worker-entry.js');
