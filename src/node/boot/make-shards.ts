import { MessageChannel, Worker } from 'node:worker_threads';
import { missedTime, systemClock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { SteadyClock } from '../../base/steady-clock.js';
import type { CallbackCodec } from '../../callback/callback-codec.js';
import type { OnFenced } from '../../threads/host-observer.js';
import type { Shards } from '../../threads/shards.js';
import { type PoolDeps, WorkerPool } from '../../threads/worker-pool.js';
import { receiveNews } from '../jobs/store-news-port.js';
import { StoreWatch } from '../jobs/store-watch.js';
import { openShardThread, type ShardThreadSettings } from './shard-thread.js';
import type { WorkerSettings } from './worker-entry.js';

export const MAIN_THREAD = 'main';

export interface ShardsDeps {
  /**
   * Each new worker reads the time here, so that a replacement worker begins with the same time as the other threads.
   */
  readonly clock: SteadyClock;
  readonly codec: CallbackCodec;
  readonly log: Logger;
  readonly onFenced: OnFenced;
  /** The entry file of the worker threads. */
  readonly workerEntry: URL;
}

/**
 * Creates the shards, either in this thread or in `workers` worker threads. `all` contains the settings for a single
 * thread that has all shards.
 */
export async function makeShards(all: ShardThreadSettings, workers: number, deps: ShardsDeps): Promise<Shards> {
  const { clock, codec, log, onFenced, workerEntry } = deps;
  const watch = new StoreWatch(log);
  if (workers === 0) return await openShardThread(MAIN_THREAD, all, codec, log, watch, onFenced);
  const spawn: PoolDeps['spawn'] = (worker, shards, fences, acknowledgedHere) => {
    const clockOffsetMs = clock.believedOffsetMs;
    const { port1, port2: newsPort } = new MessageChannel();
    receiveNews(port1, `worker-${worker}`, watch);
    const workerData: WorkerSettings = {
      ...all,
      clockOffsetMs,
      worker,
      shards,
      fences,
      acknowledgedHere,
      newsPort,
      missed: missedTime(),
    };
    return new Worker(workerEntry, { workerData, transferList: [newsPort] });
  };
  return new WorkerPool(all.shards.length, workers, {
    clock: systemClock,
    log,
    spawn,
    onFenced,
    isShared: all.isShared,
    codec,
  });
}
