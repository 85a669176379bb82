import type { Head } from '../ports/wal.js';
import { type LogReaderDeps, tryEntry } from './log-reader.js';

/**
 * Maximum number of epochs to search. Each new owner begins an epoch. Losses accepted in earlier epochs no longer
 * matter.
 */
const EPOCHS_MAX = 1000;

/**
 * True if an operator has accepted a loss of entries in a later epoch than this one. Entries that were acknowledged in
 * this epoch or earlier may then be missing. `head` is the head of the log.
 */
export async function lossAcceptedSince(
  epoch: number,
  shard: number,
  head: Head,
  { wal, format }: LogReaderDeps,
): Promise<boolean> {
  for (let later = head.lsn.epoch; later > epoch && later > head.lsn.epoch - EPOCHS_MAX; later--) {
    const [bytes] = await wal.read(shard, { epoch: later, sequence: 0 }, 1);
    const owner = bytes && tryEntry(bytes, format)?.owner;
    if (owner?.acceptsLoss || owner?.afterLoss) return true;
  }
  return false;
}
