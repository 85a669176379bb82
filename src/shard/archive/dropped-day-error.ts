import type { ArchiveRecord } from './archive.js';

/** The archive has dropped a day for good: it takes no record of it, however late a put arrives. */
export class DroppedDayError extends Error {
  override readonly name = 'DroppedDayError';

  /** `firstDay`: the oldest day that is kept. */
  constructor(readonly firstDay: number) {
    super(`the archive has dropped all days before ${firstDay} (days since 1970), and takes no more records of them`);
  }
}

/** Throws a `DroppedDayError` where one of the records is of a day that has been dropped. */
export function mustKeep(records: readonly Pick<ArchiveRecord, 'day'>[], firstDay: number): void {
  if (records.some(({ day }) => day < firstDay)) throw new DroppedDayError(firstDay);
}
