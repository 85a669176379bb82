/**
 * Age of an archive record: the durable end of the log when the record was written, and a counter that distinguishes
 * records with the same end.
 */
export interface ArchiveMark {
  readonly epoch: number;
  readonly sequence: number;
  readonly index: number;
}

/**
 * Compares two archive marks. The result is greater than 0 if the first one is newer. A missing mark is older than any
 * mark.
 */
export function compareMarks(one: ArchiveMark | undefined, other: ArchiveMark | undefined): number {
  if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined);
  return one.epoch - other.epoch || one.sequence - other.sequence || one.index - other.index;
}

export function newestMark(one: ArchiveMark | undefined, other: ArchiveMark | undefined): ArchiveMark | undefined {
  return compareMarks(one, other) >= 0 ? one : other;
}

/** Formats the mark as human-readable text, also for logs. */
export function formatMark(mark: ArchiveMark | undefined): string {
  return mark === undefined ? 'none' : `${mark.epoch}-${mark.sequence}.${mark.index}`;
}
