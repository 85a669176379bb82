import type { RawStore } from './raw-store.js';

/** Settings that take a snapshot of each shard every second, and trim the log up to the older one of two. */
export const EAGER = {
  WALLETD_SHARDS: '2',
  WALLETD_SNAPSHOTS_EVERY_SECONDS: '1',
  WALLETD_SNAPSHOTS_KEEP: '2',
  WALLETD_HISTORY_MAX_BYTES: '0',
};

/** Ids of snapshots that were begun and not published. */
export async function unfinishedIn(raw: RawStore): Promise<string[]> {
  return (await snapshotsIn(raw)).filter(([, manifest]) => manifest.length === 0).map(([id]) => id);
}

/** Ids of those that were. */
export async function wholeIn(raw: RawStore): Promise<string[]> {
  return (await snapshotsIn(raw)).filter(([, manifest]) => manifest.length > 0).map(([id]) => id);
}

async function snapshotsIn(raw: RawStore): Promise<[id: string, manifest: Buffer][]> {
  const { shards } = await raw.meta();
  const found = await Promise.all(Array.from({ length: shards }, (_, shard) => raw.manifests(shard)));
  return found.flatMap((manifests) => [...manifests]);
}
