import { parentPort } from 'node:worker_threads';
import type { ToWorker } from '../../src/worker/protocol.js';
import '../../src/cli/worker-entry.js';

/** A worker like any other, but for this: a bet on the product DIE kills it, by an error that nobody catches. */
export const DEADLY = 'DIE';

parentPort?.on('message', (message: ToWorker) => {
  if (message.type !== 'submit-requests') return;
  const isDeadly = message.requests.some((request) => 'command' in request && productOf(request.command) === DEADLY);
  if (!isDeadly) return;
  setImmediate(() => {
    throw new Error('injected: this worker dies');
  });
});

function productOf(command: object): unknown {
  return 'productId' in command ? command.productId : undefined;
}
