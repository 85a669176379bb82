import type { MessagePort } from 'node:worker_threads';
import type { StoreNews, StoreWatch } from './store-watch.js';

type Told =
  | { readonly type: 'failed'; readonly shard: number; readonly error: string; readonly nowMs: number }
  | { readonly type: 'answered'; readonly shard: number; readonly server: string | undefined; readonly nowMs: number };

/** For a worker: tells the main thread, so that an outage is one piece of news and not one per thread. */
export function newsTo(port: MessagePort): StoreNews {
  const tell = (told: Told) => port.postMessage(told);
  return {
    failed: (shard, error, nowMs) => tell({ type: 'failed', shard, error, nowMs }),
    answered: (shard, server, nowMs) => tell({ type: 'answered', shard, server, nowMs }),
  };
}

/** For the main thread: hears a worker that has these shards, until it ends. */
export function hearNews(port: MessagePort, shards: readonly number[], watch: StoreWatch): void {
  port.on('message', (told: Told) => {
    if (told.type === 'failed') watch.failed(told.shard, told.error, told.nowMs);
    else watch.answered(told.shard, told.server, told.nowMs);
  });
  port.on('close', () => watch.forget(shards));
  // To listen must not keep the process from ending.
  port.unref();
}
