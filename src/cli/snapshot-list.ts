import type { Command } from 'commander';
import { type SnapshotLine, snapshotLines } from '../tools/snapshots/snapshot-overview.js';
import { conclude, helpText, type OutputOptions, type Report } from './command.js';
import { formatAge, formatAgo, formatBytes, isoTime } from './print/format.js';
import { Progress } from './print/progress.js';
import { formatTable } from './print/table.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { STORE_OPTION, withStoreToRead } from './with-store.js';

interface ListOptions extends OutputOptions {
  readonly store?: string;
}

export function addSnapshotList(group: Command): void {
  group
    .command('list')
    .description('list the snapshots of each shard, newest first, including damaged and unfinished ones')
    .option('--json', 'print a JSON object per line instead of a table')
    .option(...STORE_OPTION)
    .addHelpText(
      'after',
      helpText({
        notes: [
          'Recovery replays the log after the LSN in "from"; a snapshot contains nothing after the LSN in "to".',
          STORE_ADDRESS_HELP,
        ],
        examples: ['walletd snapshot list --store env:WALLETD_STORE'],
      }),
    )
    .action((options: ListOptions) => conclude(listSnapshots(options), options));
}

async function listSnapshots({ store }: ListOptions): Promise<Report> {
  const lines = await withStoreToRead(store, new Progress('Listing'), ({ reader }) => snapshotLines(reader));
  const nowMs = Date.now();
  return { text: () => textOf(lines, nowMs), json: () => lines.map((line) => jsonOf(line, nowMs)) };
}

function textOf(lines: readonly SnapshotLine[], nowMs: number): string {
  if (lines.length === 0) return 'There are no snapshots.';
  const rows = lines.map((line) => row(line, nowMs));
  return formatTable(COLUMNS, rows);
}

const COLUMNS = [
  { right: 'shard' },
  'snapshot',
  'state',
  'from',
  'to',
  'time',
  { right: 'age' },
  { right: 'players' },
  { right: 'bytes' },
];

function row(line: SnapshotLine, nowMs: number): string[] {
  const { shard, id, state, reason, start, end, timeMs, players, bytes } = line;
  const isKnown = timeMs !== undefined && bytes !== undefined;
  const age = nowMs - (timeMs ?? nowMs);
  const times = isKnown ? [isoTime(timeMs), age < 0 ? formatAgo(age) : formatAge(age)] : ['', ''];
  const named = reason === undefined ? state : `${state}: ${reason}`;
  return [
    String(shard),
    id,
    named,
    start ?? '',
    end ?? '',
    ...times,
    isKnown ? String(players) : '',
    isKnown ? formatBytes(bytes) : '',
  ];
}

function jsonOf({ timeMs, ...line }: SnapshotLine, nowMs: number): object {
  if (timeMs === undefined) return line;
  return { ...line, time: isoTime(timeMs), ageSeconds: Math.round((nowMs - timeMs) / 1000) };
}
