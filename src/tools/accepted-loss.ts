import { type LogReaderDeps, maybeEntry } from '../shard/log/log-reader.js';
import type { Lsn } from '../shard/log/lsn.js';
import { entriesAfter } from './loss/salvage.js';

/** The first fence behind `after` with which somebody has accepted a loss; undefined when there is none. */
export async function maybeAcceptedLoss(
  shard: number,
  after: Lsn,
  { wal, format }: LogReaderDeps,
): Promise<Lsn | undefined> {
  for await (const page of entriesAfter(shard, after, { wal, format })) {
    for (const bytes of page) {
      const entry = maybeEntry(bytes, format);
      if (entry?.owner?.afterLoss) return entry.lsn;
    }
  }
  return undefined;
}
