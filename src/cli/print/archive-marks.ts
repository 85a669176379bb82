import { describeMissingDay } from '../../ports/archive-behind-error.js';
import type { StoreArchiveMarks } from '../../tools/inspect/store-archive-marks.js';
import { formatMark } from '../../wallet/archive-mark.js';
import { formatTable } from './table.js';

/** Formats the archive marks of the logs and of the archive as human-readable text. */
export function archiveMarksText({ shards, missingDays }: StoreArchiveMarks): string {
  const rows = shards.map(({ shard, required, mark, isBehind }) => [
    String(shard),
    formatMark(required),
    formatMark(mark),
    isBehind ? 'BEHIND: not trusted' : 'believed',
  ]);
  const table = formatTable([{ right: 'shard' }, 'log relies on', 'archive has', ''], rows);
  return [table, ...missingDays.map((day) => `${describeMissingDay(day)}.`)].join('\n');
}

/** Formats the archive marks as JSON objects, one per shard. */
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
