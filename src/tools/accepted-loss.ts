import { type LogReaderDeps, tryEntry } from '../log/log-reader.js';
import type { Lsn } from '../ports/lsn.js';
import { rawEntriesAfter } from './raw-entries.js';

/** Finds the first fence after `after` that accepts a loss, and returns its LSN; undefined if there is none. */
export async function findAcceptedLoss(shard: number, after: Lsn, deps: LogReaderDeps): Promise<Lsn | undefined> {
  for await (const page of rawEntriesAfter(shard, after, deps)) {
    for (const bytes of page) {
      const entry = tryEntry(bytes, deps.format);
      if (entry?.owner?.afterLoss) return entry.lsn;
    }
  }
  return undefined;
}
