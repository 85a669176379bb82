import { decodeMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import type { TargetStore } from '../tools/ports.js';

/** An empty store, which nothing else may use until the restore is complete. */
export function restoreTargetOf(store: Store): TargetStore {
  return {
    append: (appends) => store.append(appends),
    read: (shard, after, limit) => store.read(shard, after, limit),
    snapshots: (shard) => store.snapshots(shard),
    beginSnapshot: (shard, nonce, id) => store.beginSnapshot(shard, nonce, id),
    writeChunk: (shard, nonce, id, index, bytes) => store.writeChunk(shard, nonce, id, index, bytes),
    publishSnapshot: (shard, nonce, id, manifest) => store.publishSnapshot(shard, nonce, id, manifest),
    deleteSnapshot: (shard, nonce, kept, id) => store.deleteSnapshot(shard, nonce, kept, id),
    createIncomplete: (meta) => store.create({ ...decodeMeta(meta), incomplete: true }),
    complete: (meta) => store.complete(decodeMeta(meta)),
  };
}
