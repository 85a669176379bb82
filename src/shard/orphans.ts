import { type EntryFormat, isSameHead, type SealedEntry, type Wal } from './ports.js';

/**
 * Of entries whose answers have been told, those that the log does not hold (any more): nobody but this owner has them.
 * When the log cannot be read, all of them: better one too many in the hands of a person than one lost.
 */
export async function findOrphans(
  wal: Wal,
  format: EntryFormat,
  shard: number,
  told: readonly SealedEntry[],
): Promise<readonly SealedEntry[]> {
  const [first] = told;
  if (first === undefined) return [];
  const { epoch, sequence } = first.head.lsn;
  try {
    const page = await wal.read(shard, { epoch, sequence: sequence - 1 }, told.length);
    let held = 0;
    for (const bytes of page) {
      const entry = told[held];
      if (entry === undefined || !isSameHead(format.decode(bytes).head, entry.head)) break;
      held++;
    }
    return told.slice(held);
  } catch {
    return told;
  }
}
