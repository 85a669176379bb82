import { openReplay, Replay } from '../log/replay.js';
import { type DamagedSnapshotError, listSnapshots } from '../log/snapshot-reader.js';
import type { Manifest } from '../ports/snapshot-store.js';
import type { StoreReader } from './store-reader.js';

const ATTEMPTS_MAX = 3;

/**
 * Replay from the first undamaged snapshot in this order; undefined if there is none. If a listed snapshot has
 * disappeared because a running server deleted it, the list is reloaded. `onDamaged` is called for each damaged
 * snapshot.
 */
export async function snapshotReplay(
  shard: number,
  reader: StoreReader,
  order: 'newest-first' | 'oldest-first',
  onDamaged: (error: DamagedSnapshotError) => void = () => {},
): Promise<Replay | undefined> {
  for (let attempt = 1; ; attempt++) {
    const { whole } = await listSnapshots(shard, reader);
    let isGone = false;
    for (const manifest of order === 'newest-first' ? whole : [...whole].reverse()) {
      const opened = await openReplay(manifest, reader);
      if (opened instanceof Replay) return opened;
      isGone = attempt < ATTEMPTS_MAX && !(await isListed(manifest, reader));
      if (isGone) break;
      onDamaged(opened);
    }
    if (!isGone) return undefined;
  }
}

/** Replay from the newest undamaged snapshot, or from before the very first entry if there is none. */
export async function newestReplay(shard: number, reader: StoreReader): Promise<Replay> {
  return (await snapshotReplay(shard, reader, 'newest-first')) ?? Replay.ofNothing(reader.genesis(shard));
}

async function isListed({ shard, id }: Manifest, { snapshots }: StoreReader): Promise<boolean> {
  return (await snapshots.snapshots(shard)).some((stored) => stored.id === id);
}
