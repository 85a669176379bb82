import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { must } from '../../base/assert.js';
import { shareMissedTime } from '../../base/clock.js';
import type { Lsn } from '../../ports/lsn.js';
import type { Takeover } from '../../ports/wal.js';
import { createLogger } from '../../telemetry/logger.js';
import type { ToWorker } from '../../threads/protocol.js';
import { ShardServer } from '../../threads/shard-server.js';
import { sendNewsTo } from '../jobs/store-news-port.js';
import { drawHashKey } from '../settings/draw-hash-key.js';
import { rehearseThread } from './rehearsal/rehearse-thread.js';
import { codecOf, openShardThread, type ShardThreadSettings } from './shard-thread.js';

export interface WorkerSettings extends ShardThreadSettings {
  readonly worker: number;
  /** Fences that the process has written for the shards. Undefined if this thread replaces one that died. */
  readonly fences: readonly Takeover[] | undefined;
  /** The newest entries that the thread which died had acknowledged. */
  readonly acknowledgedHere: ReadonlyMap<number, Lsn>;
  /** See `missedTime`. */
  readonly missed: SharedArrayBuffer;
  /** The port for reports of store outages. */
  readonly newsPort: MessagePort;
}

/** A worker thread: its shards, and the channel to the main thread. */
drawHashKey();
const port = must(parentPort ?? undefined, 'this file runs as a worker thread');
const { worker, fences, acknowledgedHere, newsPort, missed, ...options } = workerData as WorkerSettings;

shareMissedTime(missed);
const log = createLogger(options.settings.log.level, { worker });
const news = sendNewsTo(newsPort);
const codec = codecOf(options);
// Without fences, this thread replaces one that died, and callbacks are waiting for it.
if (fences !== undefined) await rehearseThread(options, codec, log);
const shards = await openShardThread(`worker-${worker}`, options, codec, log, news, (shard, takenBy, head) =>
  port.postMessage({ type: 'fenced', shard, takenBy, head }),
);
const server = new ShardServer(shards, port, async () => {
  await shards.close();
  process.exit();
});
port.on('message', (message: ToWorker) => server.receive(message));
await server.start(fences, acknowledgedHere);
