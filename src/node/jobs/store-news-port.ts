import type { MessagePort } from 'node:worker_threads';
import type { StoreNews, StoreWatch } from './store-watch.js';

type StoreMessage =
  | { readonly type: 'failed'; readonly failing: readonly number[]; readonly error: string; readonly nowMs: number }
  | {
      readonly type: 'answered';
      readonly failing: readonly number[];
      readonly server: string | undefined;
      readonly nowMs: number;
    };

/**
 * The worker's side: forwards store reports to the main thread, so that an outage is logged once and not by every
 * thread.
 */
export function sendNewsTo(port: MessagePort): StoreNews {
  const send = (message: StoreMessage) => port.postMessage(message);
  return {
    failed: (_, failing, error, nowMs) => send({ type: 'failed', failing, error, nowMs }),
    answered: (_, failing, server, nowMs) => send({ type: 'answered', failing, server, nowMs }),
  };
}

/** The main thread's side: receives reports from this worker until it ends. */
export function receiveNews(port: MessagePort, thread: string, watch: StoreWatch): void {
  port.on('message', (message: StoreMessage) => {
    const { failing, nowMs } = message;
    if (message.type === 'failed') watch.failed(thread, failing, message.error, nowMs);
    else watch.answered(thread, failing, message.server, nowMs);
  });
  port.on('close', () => watch.forget(thread));
  // The port must not keep the process alive.
  port.unref();
}
