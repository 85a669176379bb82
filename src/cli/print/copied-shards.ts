import { formatLsn, type Lsn } from '../../ports/lsn.js';
import { formatBytes, isoTime } from './format.js';
import { formatTable } from './table.js';

/** One shard's part of a backup. */
export interface CopiedShard {
  readonly shard: number;
  /** The newest entry that the snapshot covers; undefined without a snapshot. */
  readonly snapshot: Lsn | undefined;
  readonly lsn: Lsn;
  /** The time of the newest entry in ms, if known; undefined for an empty log. */
  readonly timeMs?: number | undefined;
  readonly entries: number;
  /** Uncompressed size of the snapshot and the entries. */
  readonly bytes: number;
}

export function copyTable(shards: readonly CopiedShard[]): string {
  const hasTimes = shards.some(({ timeMs }) => timeMs !== undefined);
  const columns = ['snapshot', 'up to', ...(hasTimes ? ['as of'] : [])];
  const rows = shards.map(({ shard, snapshot, lsn, timeMs, entries, bytes }) => {
    const place = snapshot === undefined ? '-' : formatLsn(snapshot);
    const time = timeMs === undefined ? '-' : isoTime(timeMs);
    return [String(shard), place, formatLsn(lsn), ...(hasTimes ? [time] : []), String(entries), formatBytes(bytes)];
  });
  return formatTable([{ right: 'shard' }, ...columns, { right: 'entries' }, { right: 'size' }], rows);
}

/** The newest time in any shard; undefined if no shard has one. */
export function newestTime(shards: readonly CopiedShard[]): number | undefined {
  const times = shards.flatMap(({ timeMs }) => timeMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

export function copyJson(shards: readonly CopiedShard[]): object[] {
  return shards.map(({ shard, snapshot, lsn, timeMs, entries, bytes }) => ({
    shard,
    snapshot: snapshot === undefined ? null : formatLsn(snapshot),
    lsn: formatLsn(lsn),
    time: timeMs === undefined ? undefined : isoTime(timeMs),
    entries,
    bytes,
  }));
}
