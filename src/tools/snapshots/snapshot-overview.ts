import { sortAnySnapshots } from '../../log/snapshot-reader.js';
import { formatLsn } from '../../ports/lsn.js';
import type { Manifest } from '../../ports/snapshot-store.js';
import { type StoreReader, shardsOf } from '../store-reader.js';

/** A snapshot as described by its manifest. If the manifest is not readable, only shard and id are known. */
export interface SnapshotLine {
  readonly shard: number;
  readonly id: string;
  /** `damaged` means that the manifest is damaged, or that a newer walletd wrote it. Only `walletd verify` reads the chunks. */
  readonly state: 'whole' | 'damaged' | 'unfinished';
  /** The fault that makes the manifest unusable. */
  readonly reason?: string;
  readonly start?: string;
  readonly end?: string;
  /** The time of the snapshot, in ms. */
  readonly timeMs?: number;
  readonly players?: number;
  /** Total bytes of all chunks. */
  readonly bytes?: number;
  readonly chunks?: number;
}

/** Lists the snapshots by shard: complete ones first, newest first, then the others. */
export async function snapshotLines(
  reader: Pick<StoreReader, 'shards' | 'snapshots' | 'snapshotFormat'>,
): Promise<readonly SnapshotLine[]> {
  const lines: SnapshotLine[] = [];
  for (const shard of shardsOf(reader)) {
    const { whole, damaged, unfinished } = sortAnySnapshots(
      shard,
      await reader.snapshots.snapshots(shard),
      reader.snapshotFormat,
    );
    for (const manifest of whole) lines.push(lineOf(manifest));
    for (const { id, reason } of damaged) lines.push({ shard, id, state: 'damaged', reason });
    for (const id of unfinished) lines.push({ shard, id, state: 'unfinished' });
  }
  return lines;
}

function lineOf({ shard, id, start, end, timeMs, players, chunks }: Manifest): SnapshotLine {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  return {
    shard,
    id,
    state: 'whole',
    start: formatLsn(start.lsn),
    end: formatLsn(end.lsn),
    timeMs,
    players,
    bytes,
    chunks: chunks.length,
  };
}
