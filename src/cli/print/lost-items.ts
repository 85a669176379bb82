import { toCsv } from '../../csv/to-csv.js';
import { formatLsn } from '../../ports/lsn.js';
import type { LostItem } from '../../tools/inspect/lost-items.js';
import { isoTime } from './format.js';
import { printable } from './printable.js';
import { formatTable } from './table.js';

const COLUMNS = [
  'time',
  'username',
  'endpoint',
  'productId',
  'requestId',
  'transactionId',
  'roundId',
  'shard',
  'entry',
];
const SHOWN_MAX = 20;

/** A human-readable table of the first lost items. */
export function lostTable(items: readonly LostItem[]): string {
  const rows = items.slice(0, SHOWN_MAX).map((item) => cellsOf(item).slice(0, 6).map(printable));
  const more = items.length > SHOWN_MAX ? `\n… and ${items.length - SHOWN_MAX} more` : '';
  return formatTable(COLUMNS.slice(0, 6), rows) + more;
}

/** CSV of all lost items, to be sent to the platform. */
export function lostCsv(items: readonly LostItem[]): string {
  return toCsv([COLUMNS, ...items.map(cellsOf)]);
}

function cellsOf({ timeMs, username, endpoint, productId, requestId, id, roundId, shard, lsn }: LostItem): string[] {
  const time = timeMs === undefined ? '' : isoTime(timeMs);
  return [
    time,
    username,
    endpoint,
    productId ?? '',
    requestId ?? '',
    id ?? '',
    roundId ?? '',
    String(shard),
    formatLsn(lsn),
  ];
}
