import { UserError } from '../base/user-error.js';
import { type ArchiveMark, compareMarks, formatMark } from '../wallet/archive-mark.js';
import type { MissingDay } from './archive.js';

/**
 * Thrown if the archive lacks records that the log relies on. The archive is then empty, out of date or a different
 * one, so an empty lookup result proves nothing.
 */
export class ArchiveBehindError extends UserError {
  override readonly name = 'ArchiveBehindError';
}

/** Throws an `ArchiveBehindError` when the archive's newest record is older than the one that the log relies on. */
export function mustReach(shard: number, mark: ArchiveMark | undefined, required: ArchiveMark | undefined): void {
  if (required === undefined || compareMarks(mark, required) >= 0) return;
  const has = mark === undefined ? 'has no records of this shard' : `ends with record ${formatMark(mark)}`;
  throw new ArchiveBehindError(
    `the log of shard ${shard} relies on record ${formatMark(required)} of the archive, which ${has}`,
  );
}

/** Describes the loss as the first half of a sentence, which the caller completes. */
export function describeMissingDay({ place, had, has }: MissingDay): string {
  return has === 0
    ? `the archive lacks ${place}, which had ${had} records`
    : `${place} of the archive has ${has} records instead of ${had}`;
}
