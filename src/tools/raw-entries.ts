import type { LogReaderDeps } from '../log/log-reader.js';
import { compareLsn, type Lsn } from '../ports/lsn.js';

const PAGE_ENTRIES = 256;

/** Entries after `after` exactly as stored, page by page, including damaged and out-of-sequence entries. */
export async function* rawEntriesAfter(
  shard: number,
  after: Lsn,
  { wal, format }: LogReaderDeps,
): AsyncGenerator<readonly Buffer[], void> {
  let last = after;
  for (;;) {
    const page = await wal.read(shard, last, PAGE_ENTRIES);
    if (page.length > 0) yield page;
    const lsn = page.map((bytes) => format.tryLsn(bytes)).findLast((one) => one !== undefined);
    if (lsn === undefined || compareLsn(lsn, last) <= 0) return;
    last = lsn;
  }
}
