import type { MessagePort } from 'node:worker_threads';
import type { StoreNews, StoreWatch } from './store-watch.js';

type Told =
  | { readonly type: 'failed'; readonly shard: number; readonly error: string; readonly nowMs: number }
  | { readonly type: 'answered'; readonly shard: number; readonly server: string | undefined; readonly nowMs: number };

/**
 * The worker's side: forwards store reports to the main thread, so that an outage is logged once and not by every
 * thread.
 */
export function sendNewsTo(port: MessagePort): StoreNews {
  const tell = (told: Told) => port.postMessage(told);
  return {
    failed: (shard, error, nowMs) => tell({ type: 'failed', shard, error, nowMs }),
    answered: (shard, server, nowMs) => tell({ type: 'answered', shard, server, nowMs }),
  };
}

/** The main thread's side: receives reports from the worker with these shards until the worker ends. */
export function receiveNews(port: MessagePort, shards: readonly number[], watch: StoreWatch): void {
  port.on('message', (told: Told) => {
    if (told.type === 'failed') watch.failed(told.shard, told.error, told.nowMs);
    else watch.answered(told.shard, told.server, told.nowMs);
  });
  port.on('close', () => watch.forget(shards));
  // The port must not keep the process alive.
  port.unref();
}
