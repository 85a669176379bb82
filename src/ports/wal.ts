import type { Event } from '../wallet/event.js';
import { isSameLsn, type Lsn } from './lsn.js';

/**
 * Identifies the newest entry of a log, in the few bytes that an append compares: the entry's position, its writer (a
 * random nonce created when an owner starts) and its checksum.
 */
export interface Head {
  readonly lsn: Lsn;
  /** The nonce of the entry's writer: 16 hexadecimal digits. */
  readonly nonce: string;
  readonly checksum: number;
}

/** An entry that a process has recorded; `checksum` is undefined if only the LSN is known. */
export interface Position {
  readonly lsn: Lsn;
  readonly checksum: number | undefined;
}

/**
 * True if the head is that of this entry. False for a different entry with the same LSN, which comes from a diverged
 * history.
 */
export function isAt(head: Head, { lsn, checksum }: Position): boolean {
  return isSameLsn(head.lsn, lsn) && (checksum === undefined || head.checksum === checksum);
}

export function isSameHead(a: Head, b: Head): boolean {
  return (
    a.lsn.sequence === b.lsn.sequence && a.lsn.epoch === b.lsn.epoch && a.checksum === b.checksum && a.nonce === b.nonce
  );
}

/** An entry as stored in the log. If the outcome of its append is unknown, the same bytes are sent again. */
export interface EncodedEntry {
  readonly head: Head;
  readonly bytes: Buffer;
}

/**
 * One shard's part of a flush. Usually it has one entry. It has no entry if only the head has to be checked to confirm
 * answers. It has several entries if the store has lost confirmed ones.
 */
export interface Append {
  readonly shard: number;
  /** The head that this owner knows. If the log has a different head, nothing is written. */
  readonly expected: Head;
  /** Entries in order, the first of which follows `expected`. All of them are written or none. */
  readonly entries: readonly EncodedEntry[];
}

/**
 * ok         the head was the expected one, and the entries are durable
 * duplicate  the head is the last of these entries: an earlier attempt succeeded, and they are durable
 * conflict   the head is a different one; nothing was written
 * failed     a transient error: the entries may or may not have been written; the same bytes must be sent again
 */
export type AppendOutcome =
  | { readonly type: 'ok' }
  | { readonly type: 'duplicate' }
  | { readonly type: 'conflict'; readonly head: Head }
  | { readonly type: 'failed'; readonly error: Error };

/** A shard that an owner has taken over. */
export interface Takeover {
  readonly shard: number;
  /** The head before the fence. */
  readonly previous: Head;
  /** The fence. It is the newest entry of the log, and the replay ends with it. */
  readonly entry: EncodedEntry;
}

/** The append that puts a fence into its log. */
export function appendOf({ shard, previous, entry }: Takeover): Append {
  return { shard, expected: previous, entries: [entry] };
}

/**
 * Creates the fence that follows `head` in a shard's log. `newest` is the entry at that head; undefined if the log is
 * empty.
 */
export type MakeFence = (shard: number, head: Head, newest: Buffer | undefined) => EncodedEntry;

/** The logs of all shards in one store. */
export interface Wal {
  /**
   * Takes over these logs from any owner: atomically appends to each log the fence that `makeFence` creates. If two owners
   * start at the same time, the later one gets all logs, durably, and the earlier one gets none. Rejects during an
   * outage and may then be called again; if the fences have been written in spite of the rejection, a second fence does
   * no harm.
   */
  fence(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]>;
  /**
   * Appends by compare-and-set of each shard's head, all in one call. Resolves when entries reported as `ok` or
   * `duplicate` are as durable as the store's settings promise. Does not reject. A store shared by several nodes calls
   * `isLate` once it has a connection, immediately before it sends. A late append is not sent and fails with an
   * `OverdueError`.
   */
  append(appends: readonly Append[], isLate?: () => boolean): Promise<readonly AppendOutcome[]>;
  /**
   * The append queue of a shard. Shards with the same queue are currently on the same server. Separate queues ensure
   * that a slow server does not delay appends to other servers.
   */
  appendQueueOf(shard: number): number;
  /** Returns the log's current head. Throws if the store has no log for this shard. */
  head(shard: number): Promise<Head>;
  /** Up to `limit` entries after `after`, in order. There are fewer only at the end of the log. */
  read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]>;
}

/** The owner of a shard. The owner's fence contains this description for the next owner. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  readonly startedMs: number;
  /** Set if this owner has accepted that the log lacks acknowledged entries and is otherwise complete. */
  readonly acceptsLoss?: true;
  /** Set if this owner has accepted that the archive lacks rounds that left memory before this fence. */
  readonly acceptsArchiveLoss?: true;
  /**
   * Set if this owner accepted a loss, so that later entries follow from the snapshot at this fence and not from the
   * entries before it.
   */
  readonly afterLoss?: true;
}

export interface EntryHeader {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly nonce: string;
  readonly previous: Head;
  /** The log time, in ms, at which the entry was begun. It is never earlier than that of the previous entry. */
  readonly timeMs: number;
}

/**
 * The header of an entry that was read. It links the entry to the previous one. The checksum of the whole entry has
 * been verified.
 */
export interface ReadHeader extends Omit<EntryHeader, 'previous'> {
  readonly head: Head;
  readonly previousLsn: Lsn;
  readonly previousChecksum: number;
  /** Set in the first entry of an epoch, which has an owner and no events. */
  readonly owner: Owner | undefined;
}

/** A decoded entry. */
export interface Entry extends ReadHeader {
  readonly events: readonly Event[];
}

/** Collects the events of one entry. */
export interface BatchWriter {
  readonly count: number;
  readonly byteLength: number;
  add(event: Event): void;
  seal(header: Omit<EntryHeader, 'timeMs'>): EncodedEntry;
}

/** The encoding of entries; see src/store/format/FORMAT.md. */
export interface EntryFormat {
  beginBatch(timeMs: number): BatchWriter;
  encodeFence(header: EntryHeader, owner: Owner): EncodedEntry;
  /**
   * Decodes an entry. Throws a `FormatError` that describes the fault. The error's `isUnknown` is true if a newer
   * walletd wrote the entry.
   */
  decode(bytes: Buffer): Entry;
  /** Like `decode`, but skips the events, whose decoding takes most of the time. */
  decodeHeader(bytes: Buffer): ReadHeader;
  /** False if another node that may become the log's owner could not read the event. */
  canWrite(event: Event): boolean;
  /** The LSN in the entry's header, even if the entry is damaged; undefined if the bytes are too short. */
  tryLsn(bytes: Buffer): Lsn | undefined;
}
