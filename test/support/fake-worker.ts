import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { silentLogger } from '../../src/base/logger.js';
import type { FromWorker, ToWorker } from '../../src/threads/protocol.js';
import { type PoolDeps, WorkerPool } from '../../src/threads/worker-pool.js';

/** The other end of a worker's channel, with the test acting as the worker. */
export class FakeWorker extends EventEmitter {
  readonly received: ToWorker[] = [];
  isTerminated = false;

  postMessage(message: ToWorker): void {
    this.received.push(structuredClone(message));
  }

  terminate(): void {
    this.isTerminated = true;
  }

  tell(message: FromWorker): void {
    this.emit('message', structuredClone(message));
  }

  take<T extends ToWorker['type']>(type: T): Extract<ToWorker, { type: T }> {
    const at = this.received.findIndex((message) => message.type === type);
    assert.ok(at >= 0, `no ${type}`);
    return this.received.splice(at, 1)[0] as Extract<ToWorker, { type: T }>;
  }
}

/** A pool of fake workers with one shard each, in start order. */
export class FakePool {
  readonly workers: FakeWorker[] = [];
  readonly pool: WorkerPool;
  nowMs = 0;

  constructor(count: number, addressOf: PoolDeps['codec']['addressOf'], isShared = false) {
    this.pool = new WorkerPool(count, count, {
      codec: { addressOf },
      clock: { now: () => this.nowMs, monotonicMs: () => this.nowMs },
      log: silentLogger,
      spawn: () => {
        const worker = new FakeWorker();
        this.workers.push(worker);
        return worker as unknown as Worker;
      },
      isShared,
      onFenced: () => {},
    });
  }

  /** Resolves to the pool itself once all workers have reported that they serve. */
  async open(): Promise<this> {
    const started = this.pool.start([]);
    for (const worker of this.workers) worker.tell({ type: 'shards-opened' });
    await started;
    return this;
  }
}
