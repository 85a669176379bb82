import { type EncodedEntry, type EntryFormat, type Head, isSameHead, type Wal } from '../ports/wal.js';

/**
 * Acknowledged entries that are missing from the log, so that only this owner still has them. If the log cannot be
 * read, returns all entries, because it is better to show the operator too many entries than to lose one.
 */
export async function findOrphans(
  wal: Pick<Wal, 'head' | 'read'>,
  format: EntryFormat,
  shard: number,
  acknowledged: readonly EncodedEntry[],
): Promise<readonly EncodedEntry[]> {
  const [first] = acknowledged;
  const newest = acknowledged.at(-1);
  if (first === undefined || newest === undefined) return [];
  const { epoch, sequence } = first.head.lsn;
  try {
    if (isSameHead(await wal.head(shard), newest.head)) return [];
    const page = await wal.read(shard, { epoch, sequence: sequence - 1 }, acknowledged.length);
    // Entries that were trimmed from the log are not lost, because a snapshot contains them.
    let held = page.length === 0 ? 0 : placeOf(format.decode(page[0] as Buffer).head, acknowledged);
    for (const bytes of page) {
      const entry = acknowledged[held];
      if (entry === undefined || !isSameHead(format.decode(bytes).head, entry.head)) break;
      held++;
    }
    return acknowledged.slice(held);
  } catch {
    return acknowledged;
  }
}

/** The index of the entry with this head; 0 if no entry has it. */
function placeOf(head: Head, acknowledged: readonly EncodedEntry[]): number {
  return Math.max(
    0,
    acknowledged.findIndex((entry) => isSameHead(entry.head, head)),
  );
}
