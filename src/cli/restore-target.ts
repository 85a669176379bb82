import type { Archive } from '../ports/archive.js';
import { decodeMeta, withArchive } from '../store/meta.js';
import type { Store } from '../store/store.js';
import type { TargetStore } from '../tools/copy-ports.js';

/** The archive for the closed rounds of a restored store. */
export interface RestoredArchive {
  /** Resolves to undefined if there is no archive. */
  readonly open: (storeId: string) => Promise<Archive | undefined>;
  /** Gives the complete archive a new identity and resolves to its id, or to undefined if there is no archive. */
  readonly renew: (storeId: string) => Promise<string | undefined>;
}

const NO_ARCHIVE: RestoredArchive = { open: async () => undefined, renew: async () => undefined };

/**
 * The target of a restore: an empty store that nothing else may use until the restore is complete. The archive gets a
 * new identity, so that a server on the original store never mistakes it for its own.
 */
export function restoreTargetOf(store: Store, { open, renew }: RestoredArchive = NO_ARCHIVE): TargetStore {
  return {
    openArchive: open,
    append: (appends) => store.wal.append(appends),
    read: (shard, after, limit) => store.wal.read(shard, after, limit),
    snapshots: (shard) => store.snapshots.snapshots(shard),
    beginSnapshot: (shard, nonce, id) => store.snapshots.beginSnapshot(shard, nonce, id),
    writeChunk: (shard, nonce, id, index, bytes) => store.snapshots.writeChunk(shard, nonce, id, index, bytes),
    publishSnapshot: (shard, nonce, id, manifest) => store.snapshots.publishSnapshot(shard, nonce, id, manifest),
    deleteSnapshot: (shard, nonce, kept, id) => store.snapshots.deleteSnapshot(shard, nonce, kept, id),
    createIncomplete: (meta) => store.meta.create({ ...withArchive(decodeMeta(meta), undefined), incomplete: true }),
    complete: async (bytes) => {
      const meta = decodeMeta(bytes);
      await store.meta.complete(withArchive(meta, await renew(meta.storeId)));
    },
  };
}
