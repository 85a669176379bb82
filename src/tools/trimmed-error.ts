import { firstEntry, type LogReaderDeps } from '../shard/log/log-reader.js';
import { formatLsn } from '../shard/log/lsn.js';
import type { Head } from '../shard/log/wal.js';
import { ToolError } from './store-reader.js';

/** A running server has trimmed entries that were still to be read. */
export class TrimmedError extends ToolError {}

/**
 * Explains an apparent hole after `after`: returns a `TrimmedError` when the log was trimmed before it was read,
 * otherwise the error itself. `done` says what was being done with the entries.
 */
export async function orTrimmed(
  error: Error,
  shard: number,
  after: Head,
  done: 'copied' | 'exported',
  reader: LogReaderDeps,
): Promise<Error> {
  const first = await firstEntry(shard, reader);
  if (first === undefined || first.lsn.sequence <= after.lsn.sequence + 1) return error;
  return new TrimmedError(
    `the log of shard ${shard} was trimmed before it was ${done}: the entries after ${formatLsn(after.lsn)} and before ` +
      `${formatLsn(first.lsn)} are missing`,
    { cause: error },
  );
}
