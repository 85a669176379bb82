import { describeMissingDay } from '../../shard/archive/archive-behind-error.js';
import type { StoreArchiveMarks } from '../../tools/inspect/store-archive-marks.js';
import { formatMark } from '../../wallet/archive-mark.js';
import { formatTable } from './table.js';

/** Formats the marks of logs and archive for people. */
export function archiveMarksText({ shards, missingDays }: StoreArchiveMarks): string {
  const rows = shards.map(({ shard, required, mark, isBehind }) => [
    String(shard),
    formatMark(required),
    formatMark(mark),
    isBehind ? 'BEHIND: not believed' : 'believed',
  ]);
  const table = formatTable([{ right: 'shard' }, 'log relies on', 'archive has', ''], rows);
  return [table, ...missingDays.map((day) => `${describeMissingDay(day)}.`)].join('\n');
}

/** Formats the marks as one object per shard. */
export function archiveMarksLines({ shards, missingDays }: StoreArchiveMarks): object[] {
  return [
    ...shards.map(({ shard, required, mark, isBehind }) => ({
      shard,
      logMark: required === undefined ? null : formatMark(required),
      archiveMark: mark === undefined ? null : formatMark(mark),
      behind: isBehind,
    })),
    ...missingDays,
  ];
}
