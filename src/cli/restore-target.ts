import type { Archive } from '../shard/archive/archive.js';
import { decodeMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import type { TargetStore } from '../tools/copy-ports.js';

/** An empty store, which nothing else may use until the restore is complete. */
export function restoreTargetOf(
  store: Store,
  openArchive: (storeId: string) => Promise<Archive | undefined> = async () => undefined,
): TargetStore {
  return {
    openArchive,
    append: (appends) => store.wal.append(appends),
    read: (shard, after, limit) => store.wal.read(shard, after, limit),
    snapshots: (shard) => store.snapshots.snapshots(shard),
    beginSnapshot: (shard, nonce, id) => store.snapshots.beginSnapshot(shard, nonce, id),
    writeChunk: (shard, nonce, id, index, bytes) => store.snapshots.writeChunk(shard, nonce, id, index, bytes),
    publishSnapshot: (shard, nonce, id, manifest) => store.snapshots.publishSnapshot(shard, nonce, id, manifest),
    deleteSnapshot: (shard, nonce, kept, id) => store.snapshots.deleteSnapshot(shard, nonce, kept, id),
    createIncomplete: (meta) => store.meta.create({ ...decodeMeta(meta), incomplete: true }),
    complete: (meta) => store.meta.complete(decodeMeta(meta)),
  };
}
