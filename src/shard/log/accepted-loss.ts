import { type LogReaderDeps, maybeEntry } from './log-reader.js';
import type { Head } from './wal.js';

/** Owners come and go; nobody accepts a loss that lies longer back. */
const EPOCHS_MAX = 1000;

/**
 * Whether a person has accepted, after this epoch, that the log lacks something: then what was told in that epoch or before
 * need not be there any more. `head` is that of the log.
 */
export async function lossAcceptedSince(
  epoch: number,
  shard: number,
  head: Head,
  { wal, format }: LogReaderDeps,
): Promise<boolean> {
  for (let later = head.lsn.epoch; later > epoch && later > head.lsn.epoch - EPOCHS_MAX; later--) {
    const [bytes] = await wal.read(shard, { epoch: later, sequence: 0 }, 1);
    const owner = bytes && maybeEntry(bytes, format)?.owner;
    if (owner?.acceptsLoss || owner?.afterLoss) return true;
  }
  return false;
}
