import type { Clock } from '../../base/clock.js';
import { formatSpan } from '../../base/time.js';
import { entryAt, newestTimeOf } from '../../log/log-reader.js';
import { EntryCodec } from '../../store/format/entry-codec.js';
import type { StoreMeta } from '../../store/meta.js';
import type { CheckResult, Store } from '../../store/store.js';
import { shardsOf } from '../../tools/store-reader.js';
import { LOG_AHEAD_MS, UNCONFIRMED_MS } from '../jobs/time-keeper.js';

const ARCHIVE_APART_MS = 5000;
const CORRECT_TODO =
  'if this clock is right, docs/troubleshooting.md ("Time") sets log time back; if it is wrong, set it before anything is written';

/** Compares the newest log time with this machine's clock; undefined if the logs are empty. */
export async function examineLogTime(store: Store, meta: StoreMeta, clock: Clock): Promise<CheckResult | undefined> {
  const deps = { wal: store.wal, format: new EntryCodec(meta.storeId) };
  let newestMs = 0;
  for (const shard of shardsOf(meta)) {
    const { lsn } = await store.wal.head(shard);
    const found = lsn.sequence === 0 ? undefined : await entryAt(shard, lsn, deps);
    if (found !== undefined) newestMs = Math.max(newestMs, newestTimeOf(found.entry));
  }
  return newestMs === 0 ? undefined : judgeLogTime(newestMs, clock.now());
}

/** If log time is far behind the clock, this is not a fault in itself, because the store may have been idle. */
export function judgeLogTime(newestMs: number, nowMs: number): CheckResult {
  const about = 'log time';
  const aheadMs = newestMs - nowMs;
  if (aheadMs > LOG_AHEAD_MS) {
    const says = `the newest entry is ${formatSpan(aheadMs)} ahead of this machine's clock: log time stands still until the clock reaches it`;
    return { about, verdict: 'bad', says, todo: CORRECT_TODO };
  }
  if (-aheadMs > UNCONFIRMED_MS) {
    const says = `the newest entry is ${formatSpan(-aheadMs)} old`;
    return {
      about,
      verdict: 'look',
      says,
      todo: 'check this clock, unless the store was unused for that long',
    };
  }
  return { about, verdict: 'good', says: "the newest entry and this machine's clock agree" };
}

/**
 * Judges the clock of the archive's server. It matters because this clock confirms the time for irreversible deletions.
 */
export function judgeArchiveClock(serverMs: number, nowMs: number): CheckResult {
  const about = 'archive clock';
  const apartMs = Math.abs(serverMs - nowMs);
  if (apartMs <= ARCHIVE_APART_MS) {
    return { about, verdict: 'good', says: "PostgreSQL's and this machine's agree" };
  }
  const says = `PostgreSQL's and this machine's are ${formatSpan(apartMs)} apart`;
  return { about, verdict: 'look', says, todo: 'synchronize both by NTP: days are dropped by the earlier of the two' };
}
