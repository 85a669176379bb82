import type { OnProgress } from '../../base/progress.js';
import { type RecoveryDeps, rebuild } from '../../log/recovery.js';
import type { Head } from '../../ports/wal.js';
import { KnownSnapshots } from '../../snapshot/known-snapshots.js';
import { IMMEDIATE, type SnapshotResult, Snapshotter, type SnapshotterDeps } from '../../snapshot/snapshotter.js';

/* Takes snapshots of a store on which no server is running. snapshot-overview.ts lists them. */

interface TakeSnapshotsDeps extends RecoveryDeps, SnapshotterDeps {
  readonly genesis: (shard: number) => Head;
}

/** Takes a snapshot of each shard of a store on which no server is running. Rejects if a shard cannot be rebuilt. */
export async function takeSnapshots(
  shards: readonly number[],
  deps: TakeSnapshotsDeps,
  onProgress: OnProgress,
): Promise<readonly SnapshotResult[]> {
  const snapshotter = new Snapshotter(deps);
  const results: SnapshotResult[] = [];
  for (const [done, id] of shards.entries()) {
    onProgress(done, shards.length);
    const found = await deps.wal.head(id);
    const rebuilt = await rebuild({ shard: id, genesis: deps.genesis(id), found, target: found }, deps);
    const { wallets, totals, logBytes, timeMs, tailEntries } = rebuilt;
    const { sequence } = found.lsn;
    const place = { head: found, applied: sequence, timeMs, logBytes, entriesSinceSnapshot: tailEntries };
    const source = { wallets, totals, ...place };
    const known = new KnownSnapshots();
    known.recovered(rebuilt.marks, rebuilt.damaged);
    results.push(await snapshotter.take({ id, source, snapshotTaken() {} }, known, IMMEDIATE));
  }
  return results;
}
