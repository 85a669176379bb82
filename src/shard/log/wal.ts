import type { Event } from '../../wallet/event.js';
import { isSameLsn, type Lsn } from './lsn.js';

/**
 * The newest entry of a log, in the few bytes that an append compares: its place, who wrote it (the random nonce of an
 * owner's start) and the checksum of its content.
 */
export interface Head {
  readonly lsn: Lsn;
  /** 16 hexadecimal digits. */
  readonly nonce: string;
  readonly checksum: number;
}

/** A remembered entry: with its checksum when it is known which one it was. */
export interface Position {
  readonly lsn: Lsn;
  readonly checksum: number | undefined;
}

/** False also for another entry with the same LSN, in another history. */
export function isAt(head: Head, { lsn, checksum }: Position): boolean {
  return isSameLsn(head.lsn, lsn) && (checksum === undefined || head.checksum === checksum);
}

export function isSameHead(a: Head, b: Head): boolean {
  return (
    a.lsn.sequence === b.lsn.sequence && a.lsn.epoch === b.lsn.epoch && a.checksum === b.checksum && a.nonce === b.nonce
  );
}

/** An entry as it goes into the log. The same bytes go again when the outcome is unknown. */
export interface SealedEntry {
  readonly head: Head;
  readonly bytes: Buffer;
}

/**
 * One shard's part in a flight: an entry to append; or, when it has only answers to confirm, none, and the head is
 * checked; or several, when the store has lost some that it had confirmed.
 */
export interface Append {
  readonly shard: number;
  /** The head this owner knows; any other head wins. */
  readonly expected: Head;
  /** In order; each follows the one before, the first follows `expected`. All are written or none. */
  readonly entries: readonly SealedEntry[];
}

/**
 * ok         the head was the expected one; the entries are durable
 * duplicate  the head is the last of these very entries: an earlier attempt got through; they are durable
 * conflict   the head is another one; nothing was written
 * failed     a transient error: not written, or not known whether; the same bytes must go again
 */
export type AppendOutcome =
  | { readonly type: 'ok' }
  | { readonly type: 'duplicate' }
  | { readonly type: 'conflict'; readonly head: Head }
  | { readonly type: 'failed'; readonly error: Error };

/** A shard that an owner has taken over. */
export interface Takeover {
  readonly shard: number;
  /** The head before its fence. */
  readonly previous: Head;
  /** The fence: the newest entry, and the end of what has to be replayed. */
  readonly entry: SealedEntry;
}

/** What puts a fence into its log. */
export function appendOf({ shard, previous, entry }: Takeover): Append {
  return { shard, expected: previous, entries: [entry] };
}

/** Makes the fence of a shard on the head that its log has; `newest` is the entry of that head, if there is one. */
export type SealFence = (shard: number, head: Head, newest: Buffer | undefined) => SealedEntry;

/** The logs of all shards in one store. */
export interface Wal {
  /**
   * Takes these logs over from any owner: appends to each the fence that `seal` makes for it, to all or to none. Of
   * two owners who start together the later one has all, durably, and the other none. Rejects during an outage; then it
   * may be called again: a fence that was written unseen is only one more.
   */
  fence(shards: readonly number[], seal: SealFence): Promise<readonly Takeover[]>;
  /**
   * Appends by compare-and-set of each shard's head, all in one call. Resolves when what it reports as `ok` or
   * `duplicate` is as durable as the store was set to be. Does not reject. A store that
   * nodes share asks `isLate` once it has a connection, right before each sending: what is late has failed with an
   * `OverdueError`, and was not sent.
   */
  append(appends: readonly Append[], isLate?: () => boolean): Promise<readonly AppendOutcome[]>;
  /**
   * Shards of one lane lie on the same server, now. What is sent to one server can be held up for long, and must not hold
   * up what is sent to another.
   */
  laneOf(shard: number): number;
  /** Throws when the store has no log for this shard. */
  head(shard: number): Promise<Head>;
  /** Up to `limit` entries after `after`, in order; fewer only at the end of the log. */
  read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]>;
}

/** The owner of a shard, as its fence tells the next one. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  readonly startedMs: number;
  /** Who has accepted that the log lacks something that was told, and is whole otherwise. */
  readonly acceptsLoss?: true;
  /** Accepted that rounds which left memory before this fence are not in the archive. */
  readonly acceptsArchiveLoss?: true;
  /** Who accepted a loss: what comes next does not follow from the entries before, but from the snapshot at this fence. */
  readonly afterLoss?: true;
}

export interface EntryHeader {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly nonce: string;
  readonly previous: Head;
  /** The shard's clock when the entry was begun: never before that of the previous entry. Milliseconds. */
  readonly timeMs: number;
}

/** What an entry says of itself and of the one before it. Its checksum, which is that of all of it, has been verified. */
export interface ReadHeader extends Omit<EntryHeader, 'previous'> {
  readonly head: Head;
  readonly previousLsn: Lsn;
  readonly previousChecksum: number;
  /** The first entry of an epoch: it has an owner and no events. */
  readonly owner: Owner | undefined;
}

/** An entry read back. */
export interface Entry extends ReadHeader {
  readonly events: readonly Event[];
}

/** Events on their way into one entry. */
export interface BatchWriter {
  readonly count: number;
  readonly byteLength: number;
  add(event: Event): void;
  seal(header: Omit<EntryHeader, 'timeMs'>): SealedEntry;
}

/** How entries are written and read; src/store/format/FORMAT.md. */
export interface EntryFormat {
  beginBatch(timeMs: number): BatchWriter;
  sealFence(header: EntryHeader, owner: Owner): SealedEntry;
  /** Throws a `FormatError` that says what is wrong; its `isUnknown` is true when a newer walletd wrote it. */
  decode(bytes: Buffer): Entry;
  /** As `decode`, where nobody asks for the events: to unpack them takes most of the time. */
  decodeHeader(bytes: Buffer): ReadHeader;
  /** False for an event that some other owner of the log could not read. */
  canWrite(event: Event): boolean;
  /** The place that an entry says it has, also one that is damaged; undefined when it is too short to say so. */
  maybeLsn(bytes: Buffer): Lsn | undefined;
}
