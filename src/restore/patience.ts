import { AssertionFailure } from '../base/assert.js';
import { RecoveryError } from '../shard/log-reader.js';
import { DamagedSnapshotError } from '../shard/snapshot-reader.js';
import { BackupError } from './backup-error.js';
import type { SourceStore } from './ports.js';

const ATTEMPTS_MAX = 10;
const RETRY_MS = 200;

/** True when no other attempt can end otherwise; everything else that a store throws is weather. */
export function isFinal(error: unknown): boolean {
  return [RecoveryError, DamagedSnapshotError, BackupError, AssertionFailure].some((type) => error instanceof type);
}

/** In bad weather it tries again, less and less often, and gives up after about ten seconds, with a `BackupError`. */
export async function patiently<T>(delay: (ms: number) => Promise<unknown>, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (isFinal(error)) throw error;
      if (attempt === ATTEMPTS_MAX) {
        throw new BackupError(`the store cannot be used: ${(error as Error).message}`, { cause: error });
      }
      await delay(RETRY_MS * attempt);
    }
  }
}

/** The same store for one who has time. */
export function patientSource(store: SourceStore, delay: (ms: number) => Promise<unknown>): SourceStore {
  return {
    head: (shard) => patiently(delay, () => store.head(shard)),
    read: (shard, after, limit) => patiently(delay, () => store.read(shard, after, limit)),
    snapshots: (shard) => patiently(delay, () => store.snapshots(shard)),
    readChunks: (shard, id, first, count) => patiently(delay, () => store.readChunks(shard, id, first, count)),
  };
}
