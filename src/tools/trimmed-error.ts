import { firstEntry, type LogReaderDeps } from '../log/log-reader.js';
import { formatLsn } from '../ports/lsn.js';
import type { Head } from '../ports/wal.js';
import { ToolError } from './store-reader.js';

/** Thrown if a running server trimmed entries before they were read. */
export class TrimmedError extends ToolError {}

/**
 * Explains an apparent gap after `after`. Returns a `TrimmedError` if the log was trimmed before it was read, and
 * otherwise the given error. `done` describes the purpose for which the entries were read.
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
