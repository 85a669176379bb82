import { type LogReaderDeps, tryEntry } from '../log/log-reader.js';
import type { Lsn } from '../ports/lsn.js';
import type { Entry } from '../ports/wal.js';

/**
 * Finds the first readable fence after `after` that accepts a loss; undefined if there is none. Reads the first entry of
 * each later epoch.
 */
export async function findAcceptedLoss(
  shard: number,
  after: Lsn,
  { wal, format }: LogReaderDeps,
): Promise<Entry | undefined> {
  for (let { epoch } = after; ; ) {
    const [bytes] = await wal.read(shard, { epoch: epoch + 1, sequence: 0 }, 1);
    if (bytes === undefined) return undefined;
    const first = tryEntry(bytes, format);
    if (first?.owner?.afterLoss) return first;
    epoch = Math.max(epoch + 1, first?.lsn.epoch ?? 0);
  }
}
