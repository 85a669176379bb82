import type { Command } from 'commander';
import { type SnapshotLine, snapshotLines } from '../tools/snapshots/snapshot-overview.js';
import { formatAge, formatBytes, isoTime } from './print/format.js';
import { formatTable } from './print/table.js';
import { readsStore, withStoreToRead } from './read-store.js';

interface ListOptions {
  readonly store?: string;
  readonly json?: true;
}

export function addSnapshotList(group: Command): void {
  const command = group
    .command('list')
    .description('list the snapshots of each shard, newest first, also those that are damaged or unfinished')
    .option('--json', 'a JSON object per line instead of a table')
    .addHelpText(
      'after',
      '\nRecovery replays the log after the LSN in "from"; nothing after the LSN in "to" is in the snapshot.',
    )
    .action((options: ListOptions) => withStoreToRead(options.store, 'Listing', ({ reader }) => list(reader, options)));
  readsStore(command, 'walletd snapshot list --store env:WALLETD_STORE');
}

async function list(reader: Parameters<typeof snapshotLines>[0], { json }: ListOptions): Promise<void> {
  const lines = await snapshotLines(reader);
  const nowMs = Date.now();
  if (json) for (const line of lines) console.log(JSON.stringify(toJson(line, nowMs)));
  else if (lines.length === 0) console.log('There are no snapshots.');
  else
    console.log(
      formatTable(
        COLUMNS,
        lines.map((line) => row(line, nowMs)),
      ),
    );
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
  const times = isKnown ? [isoTime(timeMs), formatAge(nowMs - timeMs)] : ['', ''];
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

function toJson({ timeMs, ...line }: SnapshotLine, nowMs: number): object {
  if (timeMs === undefined) return line;
  return { ...line, time: isoTime(timeMs), ageSeconds: Math.round((nowMs - timeMs) / 1000) };
}
