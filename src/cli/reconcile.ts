import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import { decodeText } from '../base/decode-text.js';
import { messageOf } from '../base/message-of.js';
import { ConfigError } from '../config/config-error.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { parseAt } from '../tools/point-in-time.js';
import { type Columns, DEFAULT_COLUMNS, parseColumns } from '../tools/reconcile/columns.js';
import type { Difference } from '../tools/reconcile/difference.js';
import { type Reconciliation, reconcile } from '../tools/reconcile/reconcile.js';
import { EDGE_MS, Window } from '../tools/reconcile/window.js';
import { ToolError } from '../tools/store-reader.js';
import { argument } from './argument.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { Progress } from './print/progress.js';
import {
  differenceJson,
  ROWS_MAX,
  reconciliationText,
  sortedDifferences,
  summaryJson,
} from './print/reconciliation.js';
import { stdoutSink } from './print/stdout-sink.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { type ReadStore, STORE_OPTION, withStoreToRead } from './with-store.js';

interface ReconcileOptions extends OutputOptions {
  readonly from: string;
  readonly mapping?: string;
  /** The start of the period to compare, in ms since 1970. */
  readonly since?: number;
  readonly until?: number;
  readonly store?: string;
}

export function addReconcile(program: Command): void {
  program
    .command('reconcile')
    .description(
      "compare the platform's bet history with the bets of walletd, including archived ones; changes nothing",
    )
    .requiredOption('--from <file>', "the platform's history as JSON lines or CSV with a header, or - for a pipe")
    .option('--mapping <file>', 'names of its columns and statuses (default: as in betTransactionsV2)')
    .option('--since <time>', 'start of the history, such as 2026-01-31T00:00:00Z', argument(parseTime))
    .option('--until <time>', 'end of the history', argument(parseTime))
    .option('--json', 'print one JSON object per difference and sum, and one total, instead of tables')
    .option(...STORE_OPTION)
    .addHelpText(
      'after',
      helpText({
        notes: [
          STORE_ADDRESS_HELP,
          `\
Without --since and --until the history counts as complete. A bet on one side only is a difference if it lies more than
${EDGE_MS / 60_000} minutes inside these times; a bet that changed closer to the end may still be on its way. Temporary files in TMPDIR need about
as much space as the history, and as much again for the bets of walletd.`,
        ],
        exitCodes: `${EXIT.ok} no differences, ${EXIT.failure} differences, or the comparison failed.`,
        examples: [
          'walletd reconcile --from bets.jsonl --since 2026-01-31T00:00:00Z --until 2026-02-01T00:00:00Z',
          'zcat bets.csv.gz | walletd reconcile --from - --mapping columns.json --json',
        ],
      }),
    )
    .action((options: ReconcileOptions) => conclude(run(options), options));
}

async function run(options: ReconcileOptions): Promise<Outcome | number> {
  const { mapping, since, until } = options;
  if (since !== undefined && until !== undefined && since + 2 * EDGE_MS >= until) {
    throw new ConfigError(`--until must be later than --since by more than ${(2 * EDGE_MS) / 60_000} minutes`);
  }
  const columns = mapping === undefined ? DEFAULT_COLUMNS : await readMapping(mapping);
  return await withStoreToRead(options.store, new Progress('Reconciling', !options.json), (opened) =>
    reconcileStore(opened, columns, options),
  );
}

async function readMapping(file: string): Promise<Columns> {
  try {
    return parseColumns(decodeText(await readFile(file)));
  } catch (error) {
    throw new ConfigError(`--mapping ${file}: ${messageOf(error)}`);
  }
}

async function reconcileStore(
  { reader, progress }: ReadStore,
  columns: Columns,
  { from, since, until, json }: ReconcileOptions,
): Promise<Outcome | number> {
  const { scales } = reader;
  const { bytes, readPart } = await openHistory(from);
  const sink = json ? stdoutSink() : undefined;
  const byType = new Map<string, number>();
  const listed: Difference[] = [];
  let total = 0;
  const onDifferences = async (differences: readonly Difference[]) => {
    total += differences.length;
    for (const { types } of differences) for (const type of types) byType.set(type, (byType.get(type) ?? 0) + 1);
    if (sink === undefined) listed.push(...differences.slice(0, ROWS_MAX - listed.length));
    else await sink.write(linesOf(differences.map((one) => differenceJson(one, scales))));
  };
  const result = await reconcile(bytes, reader, {
    columns,
    window: new Window(since, until),
    folder: tmpdir(),
    onDifferences,
    readPart,
    onProgress: progress.update,
  });
  const exitCode = total === 0 ? EXIT.ok : EXIT.failure;
  const hints = hintsOf(result, byType, reader.archive !== undefined);
  if (sink !== undefined) {
    for (const hint of hints) progress.warn(hint);
    await sink.write(linesOf([...summaryJson(result, byType, scales)]));
    return exitCode;
  }
  return {
    text: () => [reconciliationText(result, sortedDifferences(listed), total, scales), ...hints].join('\n\n'),
    json: () => [],
    exitCode,
  };
}

/** Suggests likely causes when there are this many differences. */
function hintsOf({ counts }: Reconciliation, byType: ReadonlyMap<string, number>, hasArchive: boolean): string[] {
  const isApart = counts.equal === 0 && counts.theirs > 0 && counts.ours > 0;
  return [
    ...(isApart ? ['No bet matches: does the history contain the ids from the callbacks? See --mapping.'] : []),
    ...(byType.has('missing-here') && !hasArchive
      ? ['No archive was read: if the store has one, set WALLETD_ARCHIVE.']
      : []),
  ];
}

function linesOf(objects: readonly object[]): string {
  return objects.map((one) => `${JSON.stringify(one)}\n`).join('');
}

interface History {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Share of the history that has been read, between 0 and 1. Always 0 for a pipe, whose length is unknown. */
  readonly readPart: () => number;
}

async function openHistory(from: string): Promise<History> {
  if (from === '-') return { bytes: process.stdin, readPart: () => 0 };
  const { size } = await stat(from).catch((error: Error) => {
    throw new ToolError(`cannot read ${from}: ${error.message}`);
  });
  const stream = createReadStream(from, { highWaterMark: 1 << 20 });
  return { bytes: stream, readPart: () => (size === 0 ? 1 : Math.min(stream.bytesRead / size, 1)) };
}

function parseTime(text: string): number {
  const at = parseAt(text);
  if (at.type === 'time') return at.timeMs;
  throw new ToolError('it must be a time with its zone, such as 2026-01-31T12:00:00Z');
}
