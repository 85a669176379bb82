import { entryAt, hasEntry } from '../../log/log-reader.js';
import type { Lsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { type StoreReader, ToolError } from '../store-reader.js';
import { type HistoryItem, itemsOf } from './history-item.js';
import { affectedPlayers, type Inspection } from './inspect.js';

/** Size of the length field that precedes each entry in an orphans file, in bytes. */
const LENGTH_BYTES = 4;

/**
 * Inspects one log entry; undefined if the log does not contain it. Throws a `RecoveryError` if the entry is damaged.
 */
export async function inspectEntry(
  reader: StoreReader,
  shard: number,
  lsn: Lsn,
): Promise<(Inspection & { readonly entry: Entry }) | undefined> {
  const found = await entryAt(shard, lsn, reader);
  return found && { entry: found.entry, ...(await inspectionOf(reader, [found.entry])) };
}

export interface Orphan {
  readonly entry: Entry;
  /** True if the log contains this entry. */
  readonly isInLog: boolean;
}

/**
 * Inspects the entries of an orphans file (src/store/format/FORMAT.md). Describes damage in `notes`, because damage can
 * be the reason why an entry is in the file. Throws a `ToolError` if the file is cut off. If no entry is readable,
 * throws the error of the first one.
 */
export async function inspectOrphans(
  reader: StoreReader,
  file: Buffer,
): Promise<Inspection & { readonly orphans: readonly Orphan[] }> {
  const orphans: Orphan[] = [];
  const errors: Error[] = [];
  for (const entry of entriesOf(file, reader, errors)) {
    orphans.push({ entry, isInLog: await hasEntry(entry.shard, entry.head, reader) });
  }
  const [first] = errors;
  if (orphans.length === 0 && first !== undefined) throw first;
  const entries = orphans.map(({ entry }) => entry);
  const { notes, ...inspection } = await inspectionOf(reader, entries);
  return { orphans, ...inspection, notes: [...errors.map(({ message }) => message), ...notes] };
}

/**
 * Decodes the entries of an orphans file. Throws a `ToolError` if the file is cut off. Adds the errors of unreadable
 * entries to `errors`.
 */
export function* entriesOf(file: Buffer, reader: StoreReader, errors: Error[]): Generator<Entry> {
  for (let at = 0; at < file.length; ) {
    const start = at + LENGTH_BYTES;
    const end = start <= file.length ? start + file.readUInt32BE(at) : start;
    if (end > file.length) throw new ToolError(`the file is cut off: its last complete entry ends at byte ${at}`);
    const entry = tryEntry(file.subarray(start, end), reader, errors);
    if (entry !== undefined) yield entry;
    at = end;
  }
}

function tryEntry(bytes: Buffer, reader: StoreReader, errors: Error[]): Entry | undefined {
  try {
    const entry = reader.format.decode(bytes);
    if (entry.shard >= reader.shards) throw new ToolError(`the store has no shard ${entry.shard}`);
    return entry;
  } catch (error) {
    errors.push(error as Error);
    return undefined;
  }
}

async function inspectionOf(reader: StoreReader, entries: readonly Entry[]): Promise<Inspection> {
  const known = entries.flatMap(({ shard, lsn, events }) =>
    events.flatMap((event, index) => itemsOf(event, { shard, lsn, index }, () => undefined)),
  );
  const concerned = await affectedPlayers(reader, known);
  const wallets = new Map(concerned.players.map(({ wallet }) => [wallet.username, wallet]));
  return { items: known.map((one) => withRound(one, wallets)), ...concerned };
}

/** Many messages name a bet only by its id. The wallet knows the round as long as it remembers the bet. */
function withRound(one: HistoryItem, wallets: ReadonlyMap<string, Wallet>): HistoryItem {
  const { username, productId, id } = one;
  if (one.roundId !== undefined || productId === undefined || id === undefined) return one;
  return { ...one, roundId: wallets.get(username)?.bet(productId, id)?.round.id };
}
