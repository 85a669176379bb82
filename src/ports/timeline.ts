import { compareLsn, type Lsn, tryLsn } from './lsn.js';

/** A restore that the store comes from. Entries after its ends may differ from those of the store that was copied. */
export interface Timeline {
  /** 8 random hexadecimal digits. */
  readonly id: string;
  readonly createdMs: number;
  /** By shard: the LSN of the newest restored entry. */
  readonly after: readonly string[];
}

/** The id of the timeline in which the entry was written; undefined if no restore came before the entry. */
export function findTimeline(timelines: readonly Timeline[], shard: number, lsn: Lsn): string | undefined {
  return timelines.findLast(({ after }) => {
    const end = tryLsn(after[shard] ?? '');
    return end !== undefined && compareLsn(lsn, end) > 0;
  })?.id;
}
