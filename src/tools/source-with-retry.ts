import { isPermanent, type RetryPolicy, withRetries } from '../ports/retry-policy.js';
import type { SourceStore } from './copy-ports.js';
import { ToolError } from './store-reader.js';

/** Retries `run` during an outage. Rejects with a `ToolError` if the outage does not end in time. */
export async function keepTrying<T>(what: string, policy: RetryPolicy, run: () => Promise<T>): Promise<T> {
  try {
    return await withRetries(what, policy, run);
  } catch (error) {
    if (isPermanent(error)) throw error;
    throw new ToolError(`cannot ${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** The same store, but its reads are retried during an outage. */
export function sourceWithRetry<T extends SourceStore>(store: T, policy: RetryPolicy): T {
  const { wal, snapshots } = store;
  return {
    ...store,
    wal: {
      head: (shard) => keepTrying('read the head of a log', policy, () => wal.head(shard)),
      read: (shard, after, limit) => keepTrying('read the log', policy, () => wal.read(shard, after, limit)),
    },
    snapshots: {
      snapshots: (shard) => keepTrying('list the snapshots', policy, () => snapshots.snapshots(shard)),
      readChunks: (shard, id, first, count) =>
        keepTrying('read a snapshot', policy, () => snapshots.readChunks(shard, id, first, count)),
    },
  };
}
