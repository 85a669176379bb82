import type { Archive } from '../shard/archive/archive.js';
import { decodeMeta, withArchive } from '../store/meta.js';
import type { Store } from '../store/store.js';
import type { TargetStore } from '../tools/copy-ports.js';

/** The place for closed rounds of a store that is restored. */
export interface RestoredArchive {
  /** Undefined where there is none. */
  readonly open: (storeId: string) => Promise<Archive | undefined>;
  /** Makes another archive of it, once all is in it: resolves with its id. Undefined where there is none. */
  readonly renew: (storeId: string) => Promise<string | undefined>;
}

const NO_ARCHIVE: RestoredArchive = { open: async () => undefined, renew: async () => undefined };

/**
 * An empty store, which nothing else may use until the restore is complete. Its archive is a new one: a server on the store that was
 * copied must never take it for its own.
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
