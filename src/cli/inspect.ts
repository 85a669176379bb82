import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { OnProgress } from '../base/progress.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { shardOf } from '../threads/placement.js';
import { type Inspection, inspect } from '../tools/inspect/inspect.js';
import { inspectEntry, inspectOrphans } from '../tools/inspect/inspect-entry.js';
import type { InspectQuery } from '../tools/inspect/inspect-query.js';
import { isWhole, storeArchiveMarks } from '../tools/inspect/store-archive-marks.js';
import { parseAt } from '../tools/point-in-time.js';
import { type StoreReader, shardsOf, ToolError } from '../tools/store-reader.js';
import { argument } from './argument.js';
import { conclude, helpText, type OutputOptions, type Report } from './command.js';
import { type EntryAddress, parseEntryAddress } from './entry-address.js';
import { archiveMarksLines, archiveMarksText } from './print/archive-marks.js';
import {
  entryLines,
  entryText,
  inspectionLines,
  inspectionText,
  orphansLines,
  orphansText,
} from './print/inspection.js';
import { printable } from './print/printable.js';
import { Progress } from './print/progress.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { STORE_OPTION, withStoreToRead } from './with-store.js';

interface InspectOptions extends OutputOptions {
  readonly store?: string;
}

interface OperatorsOptions extends InspectOptions {
  /** The start of the period to search, in ms since 1970. */
  readonly since?: number;
}

interface SearchOptions extends InspectOptions {
  readonly player?: string;
}

/** Shows the history of a player, round or transaction, or the contents of an entry or orphans file. */
export function addInspect(program: Command): void {
  const group = program
    .command('inspect')
    .description('show the history from log and snapshots in time order; changes nothing')
    .addHelpText(
      'after',
      helpText({
        exitCodes: `${EXIT.ok} found, ${EXIT.failure} nothing found, or the store cannot be read.`,
        examples: ['walletd inspect round SLOTS round-1 --player ann'],
      }),
    );

  addInspectCommand(group, 'player', 'show the history of a player', 'walletd inspect player ann --json')
    .argument('<name>', 'the username')
    .action((username: string, options: InspectOptions) => search({ type: 'player', username }, options));

  addInspectCommand(group, 'round', 'show the history of a round', 'walletd inspect round SLOTS round-1 --player ann')
    .argument('<product>', 'the productId')
    .argument('<round>', 'the roundId')
    .option(...PLAYER_OPTION)
    .action((productId: string, roundId: string, options: SearchOptions) =>
      search({ type: 'round', productId, roundId, username: options.player }, options),
    );

  addInspectCommand(group, 'txn', 'show the history of a transaction', 'walletd inspect txn bet-1 --player ann')
    .argument(
      '<id>',
      'the id of a bet, settlement, tip, cancel or void; or of a deposit, withdrawal, correction or import',
    )
    .option(...PLAYER_OPTION)
    .action((id: string, options: SearchOptions) =>
      search({ type: 'transaction', id, username: options.player }, options),
    );

  addInspectCommand(
    group,
    'operators',
    'show operations with their operator, time and address',
    'walletd inspect operators --json',
  )
    .option('--since <time>', 'only operations since this time, such as 2026-01-31T12:00:00Z (default: all)', parseTime)
    .action((options: OperatorsOptions) =>
      search({ type: 'operators', sinceMs: options.since ?? 0, username: undefined }, options),
    );

  addInspectCommand(group, 'entry', 'show an entry of a log', 'walletd inspect entry 2:1-4')
    .argument('<entry>', 'SHARD:EPOCH-SEQUENCE', argument(parseEntryAddress))
    .action((address: EntryAddress, options: InspectOptions) => show(options, (reader) => showEntry(address, reader)));

  addInspectCommand(
    group,
    'archive',
    'show how far the logs rely on the archive, and how far the archive goes',
    'walletd inspect archive',
  ).action((options: InspectOptions) => showArchive(options));

  addInspectCommand(
    group,
    'orphans',
    'show acknowledged entries that a store has lost',
    'walletd inspect orphans node/orphans-2-1',
  )
    .argument('<file>', 'an orphans file that walletd has written')
    .action((file: string, options: InspectOptions) => show(options, (reader) => showOrphans(file, reader)));
}

const PLAYER_OPTION = ['--player <name>', 'search only this player (default: all shards)'] as const;

function addInspectCommand(group: Command, name: string, description: string, example: string): Command {
  return group
    .command(name)
    .description(description)
    .option('--json', 'print a JSON object per line instead of tables')
    .option(...STORE_OPTION)
    .addHelpText('after', helpText({ notes: [STORE_ADDRESS_HELP], examples: [example] }));
}

/** Prints the report that `look` returns; undefined means that nothing was found. */
async function show(
  options: InspectOptions,
  look: (reader: StoreReader, onProgress: OnProgress) => Promise<Report | undefined>,
): Promise<void> {
  const found = withStoreToRead(options.store, new Progress('Looking'), ({ reader, progress }) =>
    look(reader, progress.update),
  );
  await conclude(
    found.then((report) => report ?? nothingFound()),
    options,
  );
}

async function showArchive(options: InspectOptions): Promise<void> {
  const looking = withStoreToRead(
    options.store,
    new Progress('Looking'),
    async ({ reader }) => {
      const marks = await storeArchiveMarks(reader);
      return {
        text: () => archiveMarksText(marks),
        json: () => archiveMarksLines(marks),
        exitCode: isWhole(marks) ? EXIT.ok : EXIT.failure,
      };
    },
    'examine',
  );
  await conclude(looking, options);
}

function nothingFound(): number {
  console.error('walletd: nothing was found');
  return EXIT.failure;
}

async function search(query: InspectQuery, options: InspectOptions): Promise<void> {
  await show(options, async (reader, onProgress) => {
    const { username } = query;
    const shards = username === undefined ? shardsOf(reader) : [shardOf(username, reader.shards)];
    const found: Inspection = await inspect(reader, shards, query, onProgress);
    if (found.items.length === 0 && found.players.length === 0) {
      for (const note of found.notes) console.error(`walletd: ${printable(note)}`);
      return undefined;
    }
    return {
      text: () => inspectionText(found, query, reader.scales),
      json: () => inspectionLines(found, query, reader.scales),
    };
  });
}

async function showEntry({ shard, lsn }: EntryAddress, reader: StoreReader): Promise<Report | undefined> {
  if (shard >= reader.shards)
    throw new ToolError(`there is no shard ${shard}: shards are numbered 0 to ${reader.shards - 1}`);
  const found = await inspectEntry(reader, shard, lsn);
  if (found === undefined) return undefined;
  return { text: () => entryText(found, reader.scales), json: () => entryLines(found, reader.scales) };
}

async function showOrphans(file: string, reader: StoreReader): Promise<Report | undefined> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new ToolError(`cannot read ${file}: ${error.message}`);
  });
  const found = await inspectOrphans(reader, bytes);
  if (found.orphans.length === 0) return undefined;
  return { text: () => orphansText(found, reader.scales), json: () => orphansLines(found, reader.scales) };
}

function parseTime(text: string): number {
  try {
    const at = parseAt(text);
    if (at.type === 'time') return at.timeMs;
  } catch {
    // Fall through to the error below, which reports the invalid time.
  }
  throw new InvalidArgumentError('It must be a time with its zone, such as 2026-01-31T12:00:00Z.');
}
