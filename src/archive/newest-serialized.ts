import { type ArchiveRecord, compareAge } from '../ports/archive.js';
import { nameOfSerialized } from '../wallet/state/serialized-round.js';

/** The newest serialized version of each of this player's rounds. */
export function newestSerialized(username: string, records: readonly ArchiveRecord[]): readonly Buffer[] {
  const newest = new Map<string, ArchiveRecord>();
  for (const record of records) {
    const name = nameOfSerialized(record.image);
    if (name.username !== username) continue;
    const key = JSON.stringify([name.productId, name.roundId]);
    const other = newest.get(key);
    if (other === undefined || compareAge(record, other) > 0) newest.set(key, record);
  }
  return [...newest.values()].map(({ image }) => image);
}
