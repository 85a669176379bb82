import type { ArchiveRecord } from './archive.js';

/** Thrown for records of a day that the archive has permanently dropped. */
export class DroppedDayError extends Error {
  override readonly name = 'DroppedDayError';

  /** `firstDay` is the oldest day that the archive keeps. */
  constructor(readonly firstDay: number) {
    super(
      `the archive has dropped all days before ${firstDay} (days since 1970), and accepts no more records of those days`,
    );
  }
}

/** Throws a `DroppedDayError` if one of the records belongs to a dropped day. */
export function mustKeep(records: readonly Pick<ArchiveRecord, 'day'>[], firstDay: number): void {
  if (records.some(({ day }) => day < firstDay)) throw new DroppedDayError(firstDay);
}
