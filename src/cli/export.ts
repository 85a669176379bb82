import type { Command } from 'commander';
import { EXIT } from '../node/settings/exit-codes.js';
import { formatLsn, type Lsn } from '../ports/lsn.js';
import type { Head, Position } from '../ports/wal.js';
import { exportEvents } from '../tools/export/export.js';
import { ExportCursor } from '../tools/export/export-cursor.js';
import { pumpExport } from '../tools/export/export-pump.js';
import { startOf } from '../tools/export/export-start.js';
import { parseLsns } from '../tools/point-in-time.js';
import { type StoreReader, shardsOf, ToolError } from '../tools/store-reader.js';
import { argument } from './argument.js';
import { helpText } from './command.js';
import { plural } from './print/format.js';
import { Progress } from './print/progress.js';
import { stdoutSink } from './print/stdout-sink.js';
import { stopSignal } from './stop-signal.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { type ReadStore, STORE_OPTION, withStoreToRead } from './with-store.js';

interface ExportOptions {
  readonly store?: string;
  readonly from?: From;
  readonly follow?: true;
  readonly cursor?: string;
}

/** The start of the export: after the given entry of each shard, or at the oldest entry that remains in the log. */
type From = 'oldest' | ReadonlyMap<number, Lsn>;

export function addExport(program: Command): void {
  program
    .command('export')
    .description('write every event to stdout as one JSON object per line; only reads the store')
    .option(
      '--from <lsns>',
      'start after SHARD:LSN[,SHARD:LSN...]; "oldest" starts with the oldest event that is left',
      argument(parseFrom),
    )
    .option('--follow', 'continue with new events until SIGINT or SIGTERM, or until the reader closes the pipe')
    .option('--cursor <file>', 'save the position in this file and resume from it; each event comes at least once')
    .option(...STORE_OPTION)
    .addHelpText(
      'after',
      helpText({
        notes: [
          `\
Without --from and --cursor the export starts with the very first entry, and fails if the log was trimmed since; --from oldest
exports what is left. An existing cursor file takes precedence over --from SHARD:LSN.`,
          STORE_ADDRESS_HELP,
        ],
        exitCodes: `${EXIT.ok} exported, ${EXIT.failure} an entry was trimmed or cannot be read.`,
        examples: ['walletd export --follow --cursor /var/lib/feed/cursor --from oldest | feed-the-database'],
      }),
    )
    .action((options: ExportOptions) =>
      withStoreToRead(options.store, new Progress('Exporting'), (opened) => exportStore(opened, options)),
    );
}

async function exportStore({ reader, live, progress }: ReadStore, options: ExportOptions): Promise<void> {
  // A following export never ends by itself. The next run repeats the events after the last saved position.
  const signal = stopSignal(() => (options.follow ? EXIT.ok : EXIT.failure));
  const cursor =
    options.cursor === undefined ? undefined : new ExportCursor(options.cursor, reader.storeId, reader.shards);
  const starts = await startsOf(reader, options, cursor);
  const following = options.follow ? { live, warn: progress.warn } : undefined;
  const batches = exportEvents(reader, { starts, following, signal });
  const exported = { events: 0, positions: starts };
  try {
    await pumpExport(batches, stdoutSink(), cursor, () => performance.now(), exported);
  } finally {
    console.error(`walletd: exported ${plural(exported.events, 'event')}, up to ${positionsOf(exported.positions)}`);
  }
  if (signal.aborted && !options.follow) throw new ToolError('interrupted: the export is incomplete');
}

async function startsOf(
  reader: StoreReader,
  { from }: ExportOptions,
  cursor: ExportCursor | undefined,
): Promise<readonly Head[]> {
  const noted = await cursor?.read();
  const given = from === undefined || from === 'oldest' ? undefined : from;
  for (const shard of given?.keys() ?? []) {
    if (shard >= reader.shards)
      throw new ToolError(`there is no shard ${shard}: shards are numbered 0 to ${reader.shards - 1}`);
  }
  const heads: Head[] = [];
  for (const shard of shardsOf(reader)) {
    const { head, missing } = await startOf(shard, noted?.[shard] ?? positionOf(given?.get(shard)), reader);
    if (missing !== undefined && from !== 'oldest') {
      throw new ToolError(`${missing}; --from oldest exports the remaining events`);
    }
    if (missing !== undefined) console.error(`walletd: ${missing}`);
    heads.push(head);
  }
  return heads;
}

/** Formats positions as --from accepts them. A shard without entries has no position. */
function positionsOf(heads: readonly Head[]): string {
  const places = heads.map(({ lsn }, shard) => (lsn.sequence === 0 ? [] : [`${shard}:${formatLsn(lsn)}`]));
  return places.flat().join(',') || 'the beginning';
}

function positionOf(lsn: Lsn | undefined): Position | undefined {
  return lsn && { lsn, checksum: undefined };
}

function parseFrom(text: string): From {
  return text === 'oldest' ? text : parseLsns(text);
}
