import { decodeEntry } from '../../log/log-reader.js';
import { compareLsn, formatLsn, LSN_ZERO, type Lsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import type { Entry } from '../../ports/wal.js';
import type { StoreReader } from '../store-reader.js';

const PAGE_ENTRIES = 64;
const FAULTS_MAX = 10;

/**
 * All readable entries of a log, for finding the cause of a fault. Skips damaged and missing entries and reports them
 * in `notes`. For diagnosis only: never build wallets from these entries.
 */
export async function* readDamagedLog(
  shard: number,
  reader: StoreReader,
  notes: string[],
): AsyncGenerator<Entry, void> {
  let last: Lsn = LSN_ZERO;
  let faults = 0;
  const note = (sentence: string) => {
    if (++faults <= FAULTS_MAX) notes.push(sentence);
  };
  const { lsn: head } = await reader.wal.head(shard);
  while (last.sequence < head.sequence) {
    const page = await reader.wal.read(shard, last, PAGE_ENTRIES);
    if (page.length === 0) break;
    for (const bytes of page) {
      // Assume that a damaged entry has the next LSN, because the LSN in the entry may itself be damaged.
      const expected = { epoch: last.epoch, sequence: last.sequence + 1 };
      const found = tryEntry(bytes, shard, reader, note);
      const isLater = found === undefined || compareLsn(found.lsn, last) > 0;
      // Skip an entry whose LSN is not later than the previous one, because it would make the reader loop forever.
      if (!isLater) note(`in the log of shard ${shard} ${formatLsn(found.lsn)} comes after ${formatLsn(last)}`);
      const entry = isLater ? found : undefined;
      if (entry !== undefined && last !== LSN_ZERO && entry.lsn.sequence > expected.sequence) {
        note(`between ${formatLsn(last)} and ${formatLsn(entry.lsn)} the log of shard ${shard} lacks entries`);
      }
      last = entry?.lsn ?? expected;
      if (entry !== undefined) yield entry;
    }
    await reader.yieldTurn();
  }
  if (faults > FAULTS_MAX) notes.push(`the log of shard ${shard} has ${faults - FAULTS_MAX} more faults`);
}

function tryEntry(
  bytes: Buffer,
  shard: number,
  { format }: StoreReader,
  note: (sentence: string) => void,
): Entry | undefined {
  try {
    return decodeEntry(bytes, shard, format);
  } catch (error) {
    if (!(error instanceof RecoveryError)) throw error;
    note(error.message);
    return undefined;
  }
}
