import { isPermanent, type RetryPolicy, withRetries } from '../ports/retry-policy.js';
import type { SourceStore } from './copy-ports.js';
import { ToolError } from './store-reader.js';

/** Retries `run` during an outage. Rejects with a `ToolError` if the outage does not end in time. */
export async function keepTrying<T>(what: string, patience: RetryPolicy, run: () => Promise<T>): Promise<T> {
  try {
    return await withRetries(what, patience, run);
  } catch (error) {
    if (isPermanent(error)) throw error;
    throw new ToolError(`cannot ${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** The same store, but its reads are retried during an outage. */
export function sourceWithRetry<T extends SourceStore>(store: T, patience: RetryPolicy): T {
  const { wal, snapshots } = store;
  return {
    ...store,
    wal: {
      head: (shard) => keepTrying('read the head of a log', patience, () => wal.head(shard)),
      read: (shard, after, limit) => keepTrying('read the log', patience, () => wal.read(shard, after, limit)),
    },
    snapshots: {
      snapshots: (shard) => keepTrying('list the snapshots', patience, () => snapshots.snapshots(shard)),
      readChunks: (shard, id, first, count) =>
        keepTrying('read a snapshot', patience, () => snapshots.readChunks(shard, id, first, count)),
    },
  };
}
