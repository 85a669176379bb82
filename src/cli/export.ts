import type { Command } from 'commander';
import { EXIT } from '../node/exit-codes.js';
import type { Lsn } from '../shard/log/lsn.js';
import type { Head, Position } from '../shard/log/wal.js';
import { exportEvents } from '../tools/export/export.js';
import { ExportCursor } from '../tools/export/export-cursor.js';
import { type ExportSink, pumpExport } from '../tools/export/export-pump.js';
import { startOf } from '../tools/export/export-start.js';
import { parsePlaces } from '../tools/restore/point-in-time.js';
import { type StoreReader, shardsOf, ToolError } from '../tools/store-reader.js';
import { orInvalid } from './entry-address.js';
import { type ReadStore, readsStore, withStoreToRead } from './read-store.js';
import { stopSignal } from './stop-signal.js';

interface ExportOptions {
  readonly store?: string;
  readonly from?: From;
  readonly follow?: true;
  readonly cursor?: string;
}

/** After which entries to begin, or with the oldest that is still there. */
type From = 'oldest' | ReadonlyMap<number, Lsn>;

export function addExport(program: Command): void {
  const command = program
    .command('export')
    .description('write every event to stdout, a JSON object per line; changes nothing')
    .option('--from <place>', 'after SHARD:LSN[,SHARD:LSN...]; or oldest: from what is still there', parseFrom)
    .option('--follow', 'go on with what comes, until SIGINT or SIGTERM or until nobody reads')
    .option('--cursor <file>', 'keep the position in this file, and go on from there: each event comes at least once')
    .addHelpText(
      'after',
      `
Without --from and --cursor everything is exported, from the first entry of all. Where the log does not have any more
what is asked for, nothing is exported, unless with --from oldest. A cursor that is there goes before --from SHARD:LSN.

Exit codes: ${EXIT.ok} exported, ${EXIT.failure} something cannot be had any more, or cannot be read.`,
    )
    .action((options: ExportOptions) => withStoreToRead(options.store, 'Exporting', (opened) => run(opened, options)));
  readsStore(command, 'walletd export --follow --cursor /var/lib/feed/cursor --from oldest | feed-the-database');
}

async function run({ reader, live, progress }: ReadStore, options: ExportOptions): Promise<void> {
  // Who follows has no end; what was not noted comes again.
  const signal = stopSignal(() => (options.follow ? EXIT.ok : EXIT.failure));
  const cursor =
    options.cursor === undefined ? undefined : new ExportCursor(options.cursor, reader.storeId, reader.shards);
  const starts = await startsOf(reader, options, cursor);
  const following = options.follow ? { live, warn: progress.warn } : undefined;
  const batches = exportEvents(reader, { starts, following, signal });
  await pumpExport(batches, stdoutSink(), cursor, () => performance.now());
  if (signal.aborted && !options.follow) throw new ToolError('interrupted: not everything was exported');
}

async function startsOf(
  reader: StoreReader,
  { from }: ExportOptions,
  cursor: ExportCursor | undefined,
): Promise<readonly Head[]> {
  const noted = await cursor?.read();
  const given = from === undefined || from === 'oldest' ? undefined : from;
  for (const shard of given?.keys() ?? []) {
    if (shard >= reader.shards) throw new ToolError(`there is no shard ${shard}: they are 0 to ${reader.shards - 1}`);
  }
  const heads: Head[] = [];
  for (const shard of shardsOf(reader)) {
    const { head, missing } = await startOf(shard, noted?.[shard] ?? positionOf(given?.get(shard)), reader);
    if (missing !== undefined && from !== 'oldest') {
      throw new ToolError(`${missing}; --from oldest exports what is still there`);
    }
    if (missing !== undefined) console.error(`walletd: ${missing}`);
    heads.push(head);
  }
  return heads;
}

function positionOf(lsn: Lsn | undefined): Position | undefined {
  return lsn && { lsn, checksum: undefined };
}

function stdoutSink(): ExportSink {
  // Each write hears of its own error.
  process.stdout.on('error', () => {});
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => {
          if (error === null || error === undefined) resolve(true);
          // Whoever reads has seen enough.
          else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve(false);
          else reject(error);
        });
      }),
  };
}

function parseFrom(text: string): From {
  return text === 'oldest' ? text : orInvalid(parsePlaces, text);
}
