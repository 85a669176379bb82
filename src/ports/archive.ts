import { type ArchiveMark, compareMarks } from '../wallet/archive-mark.js';
import { compareLsn, type Lsn } from './lsn.js';

/**
 * An archived round. If a round was restored and archived again, it has several records, and only the newest one is
 * valid (`compareAge`). Records never change.
 */
export interface ArchiveRecord {
  readonly shard: number;
  /** Day of the round's last change: days since 1970, UTC. */
  readonly day: number;
  /**
   * The hash of the username, 32 bits. Different usernames can have the same hash; the serialized round contains the
   * username.
   */
  readonly player: number;
  /** The hash of the round's product and id, 32 bits. */
  readonly round: number;
  /** Durable end of the shard's log when the round was serialized. */
  readonly lsn: Lsn;
  /** Counter that distinguishes records with the same `lsn`; 16 bits. */
  readonly index: number;
  readonly ids: readonly ArchivedId[];
  readonly image: Buffer;
  /**
   * True if the serialized round contains remembered messages, which a reader of archives of version 1 would misread.
   * Set only when a record is put.
   */
  readonly remembers?: boolean;
}

/**
 * The newest archive version. The first record that needs it raises the archive to this version, so that an older
 * walletd refuses to open the archive.
 */
export const ARCHIVE_VERSION = 2;
/** The version of an archive in which no record contains remembered messages. */
export const FIRST_ARCHIVE_VERSION = 1;

/** By shard: the mark of the newest of these records. */
export function newestMarks(
  records: readonly Pick<ArchiveRecord, 'shard' | 'lsn' | 'index'>[],
): Map<number, ArchiveMark> {
  const marks = new Map<number, ArchiveMark>();
  for (const { shard, lsn, index } of records) {
    const mark = { ...lsn, index };
    if (compareMarks(marks.get(shard), mark) < 0) marks.set(shard, mark);
  }
  return marks;
}

/** Compares the age of two records of a round. The result is greater than 0 if the first is newer. */
export function compareAge(one: Pick<ArchiveRecord, 'lsn' | 'index'>, other: typeof one): number {
  return compareLsn(one.lsn, other.lsn) || one.index - other.index;
}

/** A transaction of the round. */
export interface ArchivedId {
  /** The hash of product and id, 32 bits. */
  readonly id: number;
  /** The version of the wallet after this transaction; 0 for transactions that do not appear in lists. */
  readonly version: number;
}

/** The key of a lookup, which is a round or a transaction in a round. */
export interface ArchiveKey {
  readonly player: number;
  readonly kind: 'round' | 'transaction';
  readonly hash: number;
}

/** Keys of rounds and transactions from one put. */
export interface FreshKeys {
  readonly day: number;
  readonly names: readonly ArchiveKey[];
}

/** A day for which the archive has lost records. */
export interface MissingDay {
  /** The day. Absent if the file that lists the days is damaged and lacks rows. */
  readonly day?: number;
  /** The human-readable name of the damaged file: the day's file, or the list of days. */
  readonly place: string;
  /** Minimum number of records of the day, over all shards. */
  readonly had: number;
  /** Number of records found; 0 if the whole day is missing. */
  readonly has: number;
}

/** A range of days, including the first and the last one. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

export const ALL_DAYS: Days = { first: 0, last: 2 ** 31 - 1 };

/**
 * A position in a player's list, which begins with the newest version. Entries with a version below `version` come
 * after it.
 */
export interface ArchivedPlace extends ArchivedId {
  readonly record: Pick<ArchiveRecord, 'day' | 'round' | 'lsn' | 'index'>;
}

/**
 * Stores rounds that have no open bets and no recent changes. Each day is a slice that is dropped as a unit. Every
 * method rejects during an outage and may then be repeated. Reads reject with a `DamagedRecordError` at a damaged
 * record or at the position of a lost one, and with a `DamagedArchiveError` if it is unknown which records are lost.
 */
export interface Archive {
  /**
   * Stores records. When this resolves, the records are durable, and so is each shard's mark, which is the newest
   * record ever put. A repeated put changes nothing.
   *
   * With `required`, all records must belong to one shard. If that shard's mark is older than `required`, rejects with
   * an `ArchiveBehindError` and changes nothing. The check is atomic with the put. Without it, the put would raise the
   * mark, and an archive that lacks records would seem complete.
   *
   * If a record belongs to a dropped day, rejects with a `DroppedDayError` and changes nothing.
   */
  put(records: readonly ArchiveRecord[], required?: ArchiveMark): Promise<void>;
  /** The shard's mark: the newest record ever put; undefined if none was put since archives began to store marks. */
  mark(shard: number): Promise<ArchiveMark | undefined>;
  /** Raises a shard's mark. A restore needs this because the restored records may lack the newest one. */
  raiseMark(shard: number, mark: ArchiveMark): Promise<void>;
  /** Listed days that lack some or all of their records. Empty if the archive keeps no list of its days. */
  missingDays(): Promise<readonly MissingDay[]>;
  /**
   * Accepts the existing records as complete: raises these marks and lists the days with their current number of
   * records. Durable when this resolves.
   */
  acceptLoss(marks: ReadonlyMap<number, ArchiveMark>): Promise<void>;
  /**
   * All of a shard's records from `days` that contain at least one of these keys, in any order, without duplicates.
   * Rejects with an `ArchiveBehindError` if the mark, read atomically with the records, is older than `required`.
   */
  find(
    shard: number,
    names: readonly ArchiveKey[],
    days: Days,
    required?: ArchiveMark,
  ): Promise<readonly ArchiveRecord[]>;
  /**
   * A player's listed transactions with versions below `version`, newest first. Returns `limit` of them, plus all
   * others with the same version as the last one.
   */
  list(shard: number, player: number, version: number, limit: number): Promise<readonly ArchivedPlace[]>;
  /** Reads these records in the given order, omitting missing ones. */
  read(shard: number, records: readonly ArchivedPlace['record'][], player: number): Promise<readonly ArchiveRecord[]>;
  /** The days for which a slice exists, oldest first. */
  days(): Promise<readonly number[]>;
  /** All of a shard's records for one day, in batches, sorted by key. */
  all(shard: number, day: number): AsyncIterable<readonly ArchiveRecord[]>;
  /**
   * All keys of a shard and day for which `find` can find a record, in batches. If a record is damaged, its readable
   * keys are included, and the iteration ends by rejecting with a `DamagedArchiveError`.
   */
  names(shard: number, day: number): AsyncIterable<readonly ArchiveKey[]>;
  /**
   * The keys of each put since keys were last saved, with their day; the keys of all puts if none were saved. Damaged
   * keys are undefined. The saved keys may already include the newest puts.
   */
  freshKeys(shard: number): AsyncIterable<FreshKeys | undefined>;
  /** A shard's saved keys, by part; undefined for a damaged part. Empty if no keys were saved. */
  savedKeys(shard: number): Promise<ReadonlyMap<number, Buffer | undefined>>;
  /**
   * Atomically saves these parts of the key filter and removes the undefined ones. After that, puts before `lsn` no
   * longer count as fresh. Durable when this resolves. An archive that several nodes share rejects if a later owner of
   * the shard has put records, because that owner has more keys.
   */
  saveKeys(shard: number, parts: ReadonlyMap<number, Buffer | undefined>, lsn: Lsn): Promise<void>;
  /**
   * Permanently drops all slices of days before this one. From then on, records of these days can be neither put nor
   * found, even while slices still exist. Resolves when all these slices are deleted. If this rejects, some of them may
   * already be deleted.
   */
  dropBefore(day: number): Promise<void>;
  /**
   * Removes a shard's records that were put after this position in its log and that `isAbandoned` names, because they
   * belong to abandoned log entries.
   */
  dropAfter(shard: number, lsn: Lsn, isAbandoned: (record: ArchiveRecord) => boolean): Promise<void>;
  /** The time of the archive server's clock, in ms since 1970; undefined if the archive is on this machine. */
  serverMs(): Promise<number | undefined>;
  /** Bytes used on disk. */
  room(): Promise<{ readonly usedBytes: number }>;
  close(): Promise<void>;
}
