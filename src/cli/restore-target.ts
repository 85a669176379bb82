import { randomBytes } from 'node:crypto';
import type { Archive } from '../ports/archive.js';
import { formatLsn } from '../ports/lsn.js';
import type { Timeline } from '../ports/timeline.js';
import { decodeMeta, type StoreMeta, withArchive } from '../store/meta.js';
import type { Store } from '../store/store.js';
import type { TargetStore } from '../tools/copy-ports.js';

/** The archive for the closed rounds of a restored store. */
export interface RestoredArchive {
  /** Resolves to undefined if there is no archive. */
  readonly open: (storeId: string) => Promise<Archive | undefined>;
  /** Gives the complete archive a new identity and resolves to its id, or to undefined if there is no archive. */
  readonly renew: (storeId: string) => Promise<string | undefined>;
}

const TIMELINE_BYTES = 4;
/** Limits the meta record of a store that is restored again and again. No log reaches back over that many restores. */
const TIMELINES_MAX = 64;

const NO_ARCHIVE: RestoredArchive = { open: async () => undefined, renew: async () => undefined };

/**
 * The target of a restore: an empty store that nothing else may use until the restore is complete. The archive gets a
 * new identity, so that a server on the original store never mistakes it for its own.
 */
export function restoreTargetOf(store: Store, { open, renew }: RestoredArchive = NO_ARCHIVE): TargetStore {
  let timeline: Promise<Timeline> | undefined;
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
      // The call may be repeated. Only a timeline that could not be made is made again.
      timeline ??= newTimeline(store, meta).catch((error: unknown) => {
        timeline = undefined;
        throw error;
      });
      const timelines = [...(meta.timelines ?? []), await timeline].slice(-TIMELINES_MAX);
      await store.meta.complete({ ...withArchive(meta, await renew(meta.storeId)), timelines });
    },
  };
}

/** The timeline of a restored store: it begins after the newest entries. */
async function newTimeline({ wal }: Store, { shards }: StoreMeta): Promise<Timeline> {
  const heads = await Promise.all(Array.from({ length: shards }, (_, shard) => wal.head(shard)));
  const after = heads.map(({ lsn }) => formatLsn(lsn));
  return { id: randomBytes(TIMELINE_BYTES).toString('hex'), createdMs: Date.now(), after };
}
