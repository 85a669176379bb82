import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../base/assert.js';
import type { Lsn } from '../shard/log/lsn.js';
import type { Takeover } from '../shard/log/wal.js';
import { createLogger } from '../telemetry/logger.js';
import type { ToWorker } from '../worker/protocol.js';
import { ShardServer } from '../worker/shard-server.js';
import { codecOf, openShardThread, type ShardThreadSettings } from './shard-thread.js';

export interface WorkerSettings extends ShardThreadSettings {
  readonly worker: number;
  /** Undefined when this thread takes the place of one that died. */
  readonly fences: readonly Takeover[] | undefined;
  /** The newest entries of that thread whose answers have left. */
  readonly acknowledgedHere: ReadonlyMap<number, Lsn>;
}

/** A worker thread: its shards, and the wire to the main thread. */
const port = must(parentPort ?? undefined, 'this file runs as a worker thread');
const { worker, fences, acknowledgedHere, ...options } = workerData as WorkerSettings;
const log = createLogger(options.settings.log.level, { worker });
const shards = await openShardThread(`worker-${worker}`, options, codecOf(options), log, (shard, takenBy, head) =>
  port.postMessage({ type: 'fenced', shard, takenBy, head }),
);
const server = new ShardServer(shards, port, async () => {
  await shards.close();
  process.exit();
});
port.on('message', (message: ToWorker) => server.receive(message));
await server.start(fences, acknowledgedHere);
