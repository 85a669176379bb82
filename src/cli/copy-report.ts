import Table from 'cli-table3';
import { formatLsn, type Lsn } from '../shard/lsn.js';

/** What was copied of one shard. */
export interface CopiedShard {
  readonly shard: number;
  /** The newest entry that its snapshot holds something of; undefined without a snapshot. */
  readonly snapshot: Lsn | undefined;
  readonly lsn: Lsn;
  readonly entries: number;
  readonly bytes: number;
}

/** For people. */
export function copyTable(shards: readonly CopiedShard[]): string {
  const table = new Table({
    head: ['shard', 'snapshot', 'up to', 'entries', 'bytes'],
    colAligns: ['right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const { shard, snapshot, lsn, entries, bytes } of shards) {
    table.push([shard, snapshot === undefined ? '' : formatLsn(snapshot), formatLsn(lsn), entries, bytes]);
  }
  return table.toString();
}

/** For scripts. */
export function copyJson(shards: readonly CopiedShard[]): object[] {
  return shards.map(({ snapshot, lsn, ...rest }) => ({
    ...rest,
    snapshot: snapshot === undefined ? null : formatLsn(snapshot),
    lsn: formatLsn(lsn),
  }));
}
