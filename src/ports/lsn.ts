/**
 * The position of an entry in a shard's log, written as `<epoch>-<sequence>`. In a Redis stream, it is also the entry's
 * id. The epoch increases with every owner and the sequence with every entry. A new epoch continues the sequence.
 */
export interface Lsn {
  readonly epoch: number;
  readonly sequence: number;
}

/** The position before the first entry. */
export const LSN_ZERO: Lsn = { epoch: 0, sequence: 0 };

export function formatLsn(lsn: Lsn): string {
  return `${lsn.epoch}-${lsn.sequence}`;
}

/** The parsed LSN; undefined if the text is not an LSN. */
export function tryLsn(text: string): Lsn | undefined {
  const match = /^(\d{1,10})-(\d{1,15})$/.exec(text);
  return match === null ? undefined : { epoch: Number(match[1]), sequence: Number(match[2]) };
}

export function compareLsn(a: Lsn, b: Lsn): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}

/**
 * The fence of an accepted loss skips this many epochs: owners whose fences are lost with the entries may have used some
 * of them.
 */
export const SKIPPED_EPOCHS = 1000;

/** True if the log was continued after an accepted loss of `before`, so that `later` replaces it. */
export function isPastLoss(later: Lsn, before: Lsn): boolean {
  return later.epoch - before.epoch > SKIPPED_EPOCHS / 2;
}

export function isSameLsn(a: Lsn, b: Lsn): boolean {
  return a.epoch === b.epoch && a.sequence === b.sequence;
}
