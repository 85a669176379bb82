import { formatLsn, type Lsn } from '../../shard/log/lsn.js';
import { formatBytes } from './format.js';
import { formatTable } from './table.js';

/** What was copied of one shard. */
export interface CopiedShard {
  readonly shard: number;
  /** The newest entry whose effects are in its snapshot; undefined without a snapshot. */
  readonly snapshot: Lsn | undefined;
  readonly lsn: Lsn;
  readonly entries: number;
  /** The size of snapshot and entries, uncompressed. */
  readonly bytes: number;
}

const COLUMNS = [{ right: 'shard' }, 'snapshot', 'up to', { right: 'entries' }, { right: 'size' }];

export function copyTable(shards: readonly CopiedShard[]): string {
  const rows = shards.map(({ shard, snapshot, lsn, entries, bytes }) => {
    const place = snapshot === undefined ? '-' : formatLsn(snapshot);
    return [String(shard), place, formatLsn(lsn), String(entries), formatBytes(bytes)];
  });
  return formatTable(COLUMNS, rows);
}

export function copyJson(shards: readonly CopiedShard[]): object[] {
  return shards.map(({ shard, snapshot, lsn, entries, bytes }) => ({
    shard,
    snapshot: snapshot === undefined ? null : formatLsn(snapshot),
    lsn: formatLsn(lsn),
    entries,
    bytes,
  }));
}
