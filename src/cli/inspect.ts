import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { EXIT } from '../node/exit-codes.js';
import type { OnProgress } from '../tools/frame.js';
import { type Inspection, inspect } from '../tools/inspect/inspect.js';
import { inspectEntry, inspectOrphans } from '../tools/inspect/inspect-entry.js';
import type { Question } from '../tools/inspect/question.js';
import { parseAt } from '../tools/restore/point-in-time.js';
import { type StoreReader, shardsOf, ToolError } from '../tools/store-reader.js';
import { shardOf } from '../worker/placement.js';
import { type Place, parsePlace } from './entry-address.js';
import {
  entryLines,
  entryText,
  inspectionLines,
  inspectionText,
  orphansLines,
  orphansText,
} from './print/inspection.js';
import { printable } from './print/table.js';
import { readsStore, withStoreToRead } from './read-store.js';

interface InspectOptions {
  readonly store?: string;
  readonly json?: true;
}

interface OperatorsOptions extends InspectOptions {
  /** Milliseconds since 1970. */
  readonly since?: number;
}

interface SearchOptions extends InspectOptions {
  readonly player?: string;
}

/** What the verb prints: the text for people, or lines of JSON. Undefined when nothing was found. */
type Output = { readonly text: () => string; readonly lines: () => Iterable<object> } | undefined;

/** What happened to a player, in a round, to a transaction; what an entry or an orphans file holds. */
export function addInspect(program: Command): void {
  const group = program
    .command('inspect')
    .description('what happened, in time order, from log and snapshots; changes nothing')
    .addHelpText(
      'after',
      `
Exit codes: ${EXIT.ok} found, ${EXIT.failure} nothing found, or it could not be read.

Example:
  walletd inspect round SLOTS round-1 --player ann`,
    );

  verb(group, 'player', 'all that happened to a player', 'walletd inspect player ann --json')
    .argument('<name>', 'the username')
    .action((username: string, options: InspectOptions) => search({ type: 'player', username }, options));

  verb(group, 'round', 'all that happened in a round', 'walletd inspect round SLOTS round-1 --player ann')
    .argument('<product>', 'the productId')
    .argument('<round>', 'the roundId')
    .option('--player <name>', 'look at this player only; else all shards are searched')
    .action((productId: string, roundId: string, options: SearchOptions) =>
      search({ type: 'round', productId, roundId, username: options.player }, options),
    );

  verb(group, 'txn', 'all that happened to a transaction', 'walletd inspect txn bet-1 --player ann')
    .argument('<id>', 'of a bet, settlement, tip, cancel or void; or of a deposit, withdrawal, correction or import')
    .option('--player <name>', 'look at this player only; else all shards are searched')
    .action((id: string, options: SearchOptions) =>
      search({ type: 'transaction', id, username: options.player }, options),
    );

  verb(group, 'operators', 'what operators did: who, when, from where', 'walletd inspect operators --json')
    .option('--since <time>', 'from this time on, as 2026-01-31T12:00:00Z; else all that is known', parseTime)
    .action((options: OperatorsOptions) =>
      search({ type: 'operators', sinceMs: options.since ?? 0, username: undefined }, options),
    );

  verb(group, 'entry', 'an entry of a log', 'walletd inspect entry 2:1-4')
    .argument('<place>', 'SHARD:EPOCH-SEQUENCE', parsePlace)
    .action((place: Place, options: InspectOptions) => run(options, (reader) => lookAtEntry(place, reader)));

  verb(group, 'orphans', 'answered entries that a store has lost', 'walletd inspect orphans node/orphans-2-1')
    .argument('<file>', 'a file that walletd left')
    .action((file: string, options: InspectOptions) => run(options, (reader) => lookAtOrphans(file, reader)));
}

function verb(group: Command, name: string, description: string, example: string): Command {
  const command = group
    .command(name)
    .description(description)
    .option('--json', 'a JSON object per line instead of tables');
  return readsStore(command, example);
}

async function search(question: Question, options: InspectOptions): Promise<void> {
  await run(options, async (reader, onProgress) => {
    const { username } = question;
    const shards = username === undefined ? shardsOf(reader) : [shardOf(username, reader.shards)];
    const found: Inspection = await inspect(reader, shards, question, onProgress);
    if (found.happenings.length === 0 && found.players.length === 0) {
      for (const note of found.notes) console.error(`walletd: ${printable(note)}`);
      return undefined;
    }
    return {
      text: () => inspectionText(found, question, reader.scales),
      lines: () => inspectionLines(found, question, reader.scales),
    };
  });
}

async function lookAtEntry({ shard, lsn }: Place, reader: StoreReader): Promise<Output> {
  if (shard >= reader.shards) throw new ToolError(`there is no shard ${shard}: they are 0 to ${reader.shards - 1}`);
  const found = await inspectEntry(reader, shard, lsn);
  if (found === undefined) return undefined;
  return { text: () => entryText(found, reader.scales), lines: () => entryLines(found, reader.scales) };
}

async function lookAtOrphans(file: string, reader: StoreReader): Promise<Output> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new ToolError(`cannot read ${file}: ${error.message}`);
  });
  const found = await inspectOrphans(reader, bytes);
  if (found.orphans.length === 0) return undefined;
  return { text: () => orphansText(found, reader.scales), lines: () => orphansLines(found, reader.scales) };
}

async function run(
  options: InspectOptions,
  look: (reader: StoreReader, onProgress: OnProgress) => Promise<Output>,
): Promise<void> {
  const output = await withStoreToRead(options.store, 'Looking', ({ reader, progress }) =>
    look(reader, progress.update),
  );
  if (output === undefined) {
    console.error('walletd: nothing was found');
    process.exitCode = EXIT.failure;
  } else if (options.json) {
    for (const line of output.lines()) console.log(JSON.stringify(line));
  } else {
    console.log(output.text());
  }
}

function parseTime(text: string): number {
  try {
    const at = parseAt(text);
    if (at.type === 'time') return at.timeMs;
  } catch {
    // Falls through to the same answer.
  }
  throw new InvalidArgumentError('It is a time with its zone, such as 2026-01-31T12:00:00Z.');
}
