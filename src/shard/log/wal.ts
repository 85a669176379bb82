import type { Event } from '../../wallet/event.js';
import { isSameLsn, type Lsn } from './lsn.js';

/**
 * The newest entry of a log, in the few bytes that an append compares: its position, its writer (the random nonce of an
 * owner's start) and its checksum.
 */
export interface Head {
  readonly lsn: Lsn;
  /** 16 hexadecimal digits. */
  readonly nonce: string;
  readonly checksum: number;
}

/** A remembered entry; `checksum` is undefined when only its LSN is known. */
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

/** An entry as the log stores it. After an unknown outcome the same bytes are sent again. */
export interface EncodedEntry {
  readonly head: Head;
  readonly bytes: Buffer;
}

/**
 * One shard's part in a flush. Normally one entry. None if there are only answers to confirm: then the head is checked.
 * Several if the store has lost entries that it had confirmed.
 */
export interface Append {
  readonly shard: number;
  /** The head this owner knows; any other head wins. */
  readonly expected: Head;
  /** In order: each follows the one before, the first follows `expected`. All are written or none. */
  readonly entries: readonly EncodedEntry[];
}

/**
 * ok         the head was the expected one; the entries are durable
 * duplicate  the head is the last of these very entries: an earlier attempt succeeded; they are durable
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
  /** The fence: the newest entry, and the end of the replay. */
  readonly entry: EncodedEntry;
}

/** The append that puts a fence into its log. */
export function appendOf({ shard, previous, entry }: Takeover): Append {
  return { shard, expected: previous, entries: [entry] };
}

/** Makes the fence of a shard over its log's head; `newest` is the entry at that head, if the log has one. */
export type MakeFence = (shard: number, head: Head, newest: Buffer | undefined) => EncodedEntry;

/** The logs of all shards in one store. */
export interface Wal {
  /**
   * Takes these logs over from any owner: appends the fence that `seal` makes to each log, to all or to none. Of two
   * owners that start together, the later one gets all logs, durably, and the other none. Rejects during an outage and
   * may then be called again: a fence written unseen is only one more.
   */
  fence(shards: readonly number[], seal: MakeFence): Promise<readonly Takeover[]>;
  /**
   * Appends by compare-and-set of each shard's head, all in one call. Resolves when entries reported as `ok` or
   * `duplicate` are as durable as the store's settings promise. Does not reject. A store shared by nodes calls `isLate`
   * once it has a connection, right before each sending. A late append is not sent and fails with an `OverdueError`.
   */
  append(appends: readonly Append[], isLate?: () => boolean): Promise<readonly AppendOutcome[]>;
  /**
   * The append queue of a shard: shards of one queue are on the same server now. Appends to a slow server must not hold
   * up appends to another one.
   */
  appendQueueOf(shard: number): number;
  /** Throws when the store has no log for this shard. */
  head(shard: number): Promise<Head>;
  /** Up to `limit` entries after `after`, in order; fewer only at the end of the log. */
  read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]>;
}

/** The owner of a shard, as its fence describes it to the next owner. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  readonly startedMs: number;
  /** This owner has accepted that the log lacks acknowledged entries and is otherwise complete. */
  readonly acceptsLoss?: true;
  /** This owner has accepted that rounds evicted before this fence are missing from the archive. */
  readonly acceptsArchiveLoss?: true;
  /** This owner accepted a loss: later entries follow from the snapshot at this fence, not from the entries before. */
  readonly afterLoss?: true;
}

export interface EntryHeader {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly nonce: string;
  readonly previous: Head;
  /** Log time when the entry was begun, in ms: never before that of the previous entry. */
  readonly timeMs: number;
}

/**
 * Header of an entry that was read, and the link to the entry before it. The checksum of the whole entry has been
 * verified.
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

/** Encoding of entries; see src/store/format/FORMAT.md. */
export interface EntryFormat {
  beginBatch(timeMs: number): BatchWriter;
  encodeFence(header: EntryHeader, owner: Owner): EncodedEntry;
  /** Throws a `FormatError` that describes the fault; its `isUnknown` is true when a newer walletd wrote the entry. */
  decode(bytes: Buffer): Entry;
  /** Like `decode`, but without events: decoding events takes most of the time. */
  decodeHeader(bytes: Buffer): ReadHeader;
  /** False for an event that some other owner of the log could not read. */
  canWrite(event: Event): boolean;
  /** The LSN in the entry's header, even if the entry is damaged; undefined when the bytes are too short. */
  tryLsn(bytes: Buffer): Lsn | undefined;
}
