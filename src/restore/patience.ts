import { isFinal, type Patience, patiently } from '../shard/take-over.js';
import { BackupError } from './backup-error.js';
import type { SourceStore } from './ports.js';

/** Waits for better weather, and rejects with a `BackupError` when it does not come. */
export async function keepTrying<T>(what: string, patience: Patience, run: () => Promise<T>): Promise<T> {
  try {
    return await patiently(what, patience, run);
  } catch (error) {
    if (isFinal(error)) throw error;
    throw new BackupError(`cannot ${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** The same store for one who has time. */
export function patientSource(store: SourceStore, patience: Patience): SourceStore {
  return {
    head: (shard) => keepTrying('read the head of a log', patience, () => store.head(shard)),
    read: (shard, after, limit) => keepTrying('read the log', patience, () => store.read(shard, after, limit)),
    snapshots: (shard) => keepTrying('list the snapshots', patience, () => store.snapshots(shard)),
    readChunks: (shard, id, first, count) =>
      keepTrying('read a snapshot', patience, () => store.readChunks(shard, id, first, count)),
  };
}
