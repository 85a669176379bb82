import type { MessagePort } from 'node:worker_threads';
import type { StoreNews, StoreWatch } from './store-watch.js';

type StoreMessage =
  | { readonly type: 'failed'; readonly shard: number; readonly error: string; readonly nowMs: number }
  | { readonly type: 'answered'; readonly shard: number; readonly server: string | undefined; readonly nowMs: number };

/**
 * The worker's side: forwards store reports to the main thread, so that an outage is logged once and not by every
 * thread.
 */
export function sendNewsTo(port: MessagePort): StoreNews {
  const send = (message: StoreMessage) => port.postMessage(message);
  return {
    failed: (shard, error, nowMs) => send({ type: 'failed', shard, error, nowMs }),
    answered: (shard, server, nowMs) => send({ type: 'answered', shard, server, nowMs }),
  };
}

/** The main thread's side: receives reports from the worker with these shards until the worker ends. */
export function receiveNews(port: MessagePort, shards: readonly number[], watch: StoreWatch): void {
  port.on('message', (message: StoreMessage) => {
    if (message.type === 'failed') watch.failed(message.shard, message.error, message.nowMs);
    else watch.answered(message.shard, message.server, message.nowMs);
  });
  port.on('close', () => watch.forget(shards));
  // The port must not keep the process alive.
  port.unref();
}
