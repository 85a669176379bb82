import { formatLsn, isSameLsn, type Lsn } from '../ports/lsn.js';
import { AcceptedLossError, LossError, NewerFormatError } from '../ports/recovery-error.js';
import { type Entry, type EntryFormat, type Head, isSameHead, type ReadHeader, type Wal } from '../ports/wal.js';

/** A decoded entry, with the bytes that the log contains. */
export interface ReadEntry {
  readonly entry: Entry;
  readonly bytes: Buffer;
}

export interface LogReaderDeps {
  readonly wal: Pick<Wal, 'read'>;
  readonly format: EntryFormat;
}

const PAGE_ENTRIES = 256;

/**
 * Reads a shard's log after the entry `after`, page by page, up to the current end. Checks that every entry follows its
 * predecessor, the first one `after`. Throws a `RecoveryError` at a gap, at a foreign or damaged entry, and at the
 * fence of an accepted loss. Errors of an outage are passed on.
 *
 * Each page can be iterated only once, and the iteration over pages stops after a page that was not read to its end.
 * Entries are decoded one at a time. If a whole page were decoded at once, its events would stay in memory until the
 * end of the page, and garbage collection would take as long as all other work. With entries of 100 events, a CPU
 * second then read 75 MB of log instead of 185 MB.
 */
export function readLog(shard: number, after: Head, { wal, format }: LogReaderDeps): Pages<Entry> {
  return readPages(shard, after, wal, (bytes) => decodeEntry(bytes, shard, format), checkNoLoss);
}

/** Like `readLog`, but decodes no events and reads past accepted losses. */
export function readHeaders(shard: number, after: Head, { wal, format }: LogReaderDeps): Pages<ReadHeader> {
  return readPages(shard, after, wal, (bytes) => orLoss(shard, () => format.decodeHeader(bytes)));
}

type Pages<E> = AsyncGenerator<Iterable<{ readonly entry: E; readonly bytes: Buffer }>, void>;

async function* readPages<E extends ReadHeader>(
  shard: number,
  after: Head,
  wal: Pick<Wal, 'read'>,
  decode: (bytes: Buffer) => E,
  check: (entry: E) => void = () => {},
): Pages<E> {
  let last = after;
  let isThrough = true;
  function* follow(page: readonly Buffer[]) {
    for (const bytes of page) {
      const entry = decode(bytes);
      checkContinuity(entry, shard, last);
      check(entry);
      last = entry.head;
      yield { entry, bytes };
    }
    isThrough = true;
  }
  while (isThrough) {
    const page = await wal.read(shard, last.lsn, PAGE_ENTRIES);
    if (page.length === 0) return;
    isThrough = false;
    yield follow(page);
    if (page.length < PAGE_ENTRIES) return;
  }
}

/** The decoded entry; undefined if the bytes cannot be decoded. */
export function tryEntry(bytes: Buffer, format: EntryFormat): Entry | undefined {
  try {
    return format.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The time of the first entry that can be decoded, in ms; undefined if none can. */
export function firstTimeOf(entries: readonly Buffer[], format: EntryFormat): number | undefined {
  for (const bytes of entries) {
    try {
      return format.decodeHeader(bytes).timeMs;
    } catch {
      // A later entry is younger by little.
    }
  }
  return undefined;
}

/** The oldest entry still in the log; undefined if the log is empty. */
export async function firstEntry(shard: number, { wal, format }: LogReaderDeps): Promise<Entry | undefined> {
  const [bytes] = await wal.read(shard, { epoch: 0, sequence: 0 }, 1);
  return bytes === undefined ? undefined : decodeEntry(bytes, shard, format);
}

/** The entry with this LSN; undefined if the log never contained it or if it was trimmed. */
export async function entryAt(shard: number, lsn: Lsn, { wal, format }: LogReaderDeps): Promise<ReadEntry | undefined> {
  const [bytes] = await wal.read(shard, { epoch: lsn.epoch, sequence: lsn.sequence - 1 }, 1);
  if (bytes === undefined) return undefined;
  const entry = decodeEntry(bytes, shard, format);
  return isSameLsn(entry.lsn, lsn) ? { entry, bytes } : undefined;
}

/**
 * True if the log contains the entry with this head. Throws a `RecoveryError` if the entry at its position cannot be
 * read.
 */
export async function hasEntry(shard: number, head: Head, deps: LogReaderDeps): Promise<boolean> {
  const found = await entryAt(shard, head.lsn, deps);
  return found !== undefined && isSameHead(found.entry.head, head);
}

/** The newest time in an entry. The entry's own time is that of its first event. */
export function newestTimeOf(entry: Entry): number {
  return entry.events[entry.events.length - 1]?.timeMs ?? entry.timeMs;
}

/** Decodes an entry. Throws a `RecoveryError`, because an unreadable entry is not a transient error. */
export function decodeEntry(bytes: Buffer, shard: number, format: EntryFormat): Entry {
  return orLoss(shard, () => format.decode(bytes));
}

function orLoss<E>(shard: number, decode: () => E): E {
  try {
    return decode();
  } catch (error) {
    const { message, isUnknown } = error as Error & { isUnknown?: boolean };
    const sentence = `the log of shard ${shard} cannot be read: ${message}`;
    throw isUnknown ? new NewerFormatError(sentence) : new LossError(sentence);
  }
}

/** Throws at the fence of an accepted loss, because later entries do not follow from the entries before it. */
export function checkNoLoss(entry: Entry): void {
  if (entry.owner?.afterLoss) throw new AcceptedLossError(entry);
}

/**
 * Throws a `RecoveryError` if the entry does not follow its predecessor, because of a gap, a foreign entry or a
 * repetition.
 */
export function checkContinuity(entry: ReadHeader, shard: number, last: Head): void {
  const at = `entry ${formatLsn(entry.lsn)} of shard ${shard}`;
  const follows = isSameLsn(entry.previousLsn, last.lsn) && entry.previousChecksum === last.checksum;
  if (!follows || entry.lsn.sequence !== last.lsn.sequence + 1 || entry.shard !== shard) {
    throw new LossError(`${at} does not follow ${formatLsn(last.lsn)}: the log has a gap or a foreign entry`);
  }
  const isFence = entry.owner !== undefined;
  const epochFits = isFence ? entry.lsn.epoch > last.lsn.epoch : entry.lsn.epoch === last.lsn.epoch;
  if (!epochFits || (!isFence && entry.nonce !== last.nonce)) {
    throw new LossError(`${at} was not written by the owner of its epoch`);
  }
}
