import { type EntryFormat, type Head, isSameHead, type SealedEntry, type Wal } from './wal.js';

/**
 * The acknowledged entries that the log does not hold (any more): only this owner has them.
 * When the log cannot be read, all of them: better one too many in the hands of a person than one lost.
 */
export async function findOrphans(
  wal: Pick<Wal, 'head' | 'read'>,
  format: EntryFormat,
  shard: number,
  told: readonly SealedEntry[],
): Promise<readonly SealedEntry[]> {
  const [first] = told;
  const newest = told.at(-1);
  if (first === undefined || newest === undefined) return [];
  const { epoch, sequence } = first.head.lsn;
  try {
    if (isSameHead(await wal.head(shard), newest.head)) return [];
    const page = await wal.read(shard, { epoch, sequence: sequence - 1 }, told.length);
    // What the log has trimmed is not lost: a snapshot holds it.
    let held = page.length === 0 ? 0 : placeOf(format.decode(page[0] as Buffer).head, told);
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

/** The index of this very entry; 0 when it is none of them. */
function placeOf(head: Head, told: readonly SealedEntry[]): number {
  return Math.max(
    0,
    told.findIndex((entry) => isSameHead(entry.head, head)),
  );
}
