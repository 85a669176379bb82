import { tryEntry } from '../log/log-reader.js';
import { listSnapshots } from '../log/snapshot-reader.js';
import { LSN_ZERO } from '../ports/lsn.js';
import { type ArchiveMark, newestMark } from '../wallet/archive-mark.js';
import type { Event } from '../wallet/event.js';
import { rawEntriesAfter } from './raw-entries.js';
import type { StoreReader } from './store-reader.js';

/** The newest archive record on which a log relies after these events, if it relied on `mark` before. */
export function requiredAfter(mark: ArchiveMark | undefined, events: readonly Event[]): ArchiveMark | undefined {
  let newest = mark;
  for (const event of events) if (event.type === 'rounds-archived') newest = newestMark(newest, event.mark);
  return newest;
}

/** The newest archive record on which a shard's log relies, from its newest snapshot and the events after that. */
export async function findRequiredMark(
  shard: number,
  reader: Pick<StoreReader, 'wal' | 'format' | 'snapshots' | 'snapshotFormat'>,
): Promise<ArchiveMark | undefined> {
  const [newest] = (await listSnapshots(shard, reader)).whole;
  let mark = newest?.tallies?.archived;
  for await (const page of rawEntriesAfter(shard, newest?.start.lsn ?? LSN_ZERO, reader)) {
    for (const bytes of page) mark = requiredAfter(mark, tryEntry(bytes, reader.format)?.events ?? []);
  }
  return mark;
}
