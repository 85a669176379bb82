import { entryAt, firstEntry } from '../../log/log-reader.js';
import { formatLsn, isSameLsn } from '../../ports/lsn.js';
import { type Entry, type Head, isAt, type Position } from '../../ports/wal.js';
import { predecessorOf, type StoreReader, ToolError } from '../store-reader.js';

/** The entry after which an export begins, and the part of the log that is missing before it. */
export interface Start {
  readonly head: Head;
  /** A sentence about entries that are no longer in the log; undefined if none is missing. */
  readonly missing: string | undefined;
}

/**
 * Finds the start of an export: after the entry `wanted`, or at the very first entry. Throws a `ToolError` if the log
 * has a different history.
 */
export async function startOf(shard: number, wanted: Position | undefined, reader: StoreReader): Promise<Start> {
  const first = await firstEntry(shard, reader);
  const before = first === undefined ? reader.genesis(shard) : predecessorOf(first);
  const asked = wanted?.lsn.sequence ?? 0;
  if (asked < before.lsn.sequence) return { head: before, missing: sentence(shard, wanted, first as Entry) };
  if (wanted === undefined || asked === 0) return { head: before, missing: undefined };
  const isBefore = isSameLsn(wanted.lsn, before.lsn);
  const head = isBefore ? before : (await entryAt(shard, wanted.lsn, reader))?.entry.head;
  if (head === undefined) throw new ToolError(`the log of shard ${shard} has no entry ${formatLsn(wanted.lsn)}`);
  if (!isAt(head, wanted)) {
    throw new ToolError(
      `entry ${formatLsn(wanted.lsn)} of shard ${shard} is not the one that was exported: ` +
        'the log has lost entries, or the store was restored to an earlier time',
    );
  }
  return { head, missing: undefined };
}

function sentence(shard: number, wanted: Position | undefined, first: Entry): string {
  const begins = `the log of shard ${shard} begins at ${formatLsn(first.lsn)} (${new Date(first.timeMs).toISOString()})`;
  const before =
    wanted === undefined ? 'the entries before it' : `the entries between ${formatLsn(wanted.lsn)} and this one`;
  return `${begins}: ${before} are no longer available`;
}
