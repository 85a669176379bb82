import { type ArchiveMark, compareMarks } from '../../wallet/archive-mark.js';
import { compareLsn, type Lsn } from '../log/lsn.js';

/**
 * A round that has left its wallet, as the archive stores it. A round that returned and left again has several records;
 * the newest counts (`compareAge`). Records never change.
 */
export interface ArchiveRecord {
  readonly shard: number;
  /** Day of the round's last change: days since 1970, UTC. */
  readonly day: number;
  /** Hash of the username, 32 bits. Usernames can share a hash; the serialized round tells them apart. */
  readonly player: number;
  /** Hash of the round's product and id, 32 bits. */
  readonly round: number;
  /** Durable end of the shard's log when the round was serialized. */
  readonly lsn: Lsn;
  /** Counter of records with the same `lsn`; 16 bits. */
  readonly index: number;
  readonly ids: readonly ArchivedId[];
  readonly image: Buffer;
  /**
   * Set only in a put: the serialized round holds remembered messages, which a reader of version 1 archives would
   * misread.
   */
  readonly remembers?: boolean;
}

/**
 * Newest archive version. An archive is raised to it by the first record that needs it, so that an older walletd
 * refuses to open the archive.
 */
export const ARCHIVE_VERSION = 2;
/** The version of an archive without remembered messages. */
export const FIRST_ARCHIVE_VERSION = 1;

/** The newest of these records of each shard. */
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

/** Compares two records of a round: above 0 when the first is newer. */
export function compareAge(one: Pick<ArchiveRecord, 'lsn' | 'index'>, other: typeof one): number {
  return compareLsn(one.lsn, other.lsn) || one.index - other.index;
}

/** A transaction of the round. */
export interface ArchivedId {
  /** Hash of product and id, 32 bits. */
  readonly id: number;
  /** Version of the wallet after this transaction; 0 for transactions that are not listed. */
  readonly version: number;
}

/** The key of a lookup: a round, or a transaction in a round. */
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

/** A day of the archive that has fewer records than it once had. */
export interface MissingDay {
  /** Absent when the file that lists the days is damaged and lacks rows. */
  readonly day?: number;
  /** Name of the damaged file, for people: the day's file, or the list of days. */
  readonly place: string;
  /** Number of records of all shards, at least. */
  readonly had: number;
  /** 0: the day is gone. */
  readonly has: number;
}

/** Days from the first to the last, both included. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

export const ALL_DAYS: Days = { first: 0, last: 2 ** 31 - 1 };

/** A position in a player's list, newest version first: entries beyond `version` are older. */
export interface ArchivedPlace extends ArchivedId {
  readonly record: Pick<ArchiveRecord, 'day' | 'round' | 'lsn' | 'index'>;
}

/**
 * Destination of rounds without open bets or recent changes. Each day is a slice, dropped in one piece. Every method
 * rejects during an outage and may then be repeated. Reading rejects with a `DamagedRecordError` at a damaged record or
 * the position of a lost one. It rejects with a `DamagedArchiveError` if the lost records are unknown.
 */
export interface Archive {
  /**
   * Durable when it resolves, and so is the mark of each shard: the newest record ever put. Repeating a put changes
   * nothing.
   *
   * With `required`, all records are of one shard. Rejects with an `ArchiveBehindError`, and changes nothing, if that
   * shard's mark is older; the check is atomic with the put. Without the check, a put would raise the mark, and an
   * archive that lacks records would seem complete.
   *
   * Rejects with a `DroppedDayError`, and changes nothing, if a record belongs to a dropped day.
   */
  put(records: readonly ArchiveRecord[], required?: ArchiveMark): Promise<void>;
  /** The newest record of a shard ever put; undefined if none was put since archives have marks. */
  mark(shard: number): Promise<ArchiveMark | undefined>;
  /** Raises the mark of a shard after a restore, whose records may lack the newest one. */
  raiseMark(shard: number, mark: ArchiveMark): Promise<void>;
  /** Listed days that lack some or all of their records; empty if the archive does not list its days. */
  missingDays(): Promise<readonly MissingDay[]>;
  /**
   * Accepts the present records as complete: raises these marks and lists days as they are. Durable when it resolves.
   */
  acceptLoss(marks: ReadonlyMap<number, ArchiveMark>): Promise<void>;
  /**
   * All records of a shard that contain one of these keys, from `days`, in any order, each once. Rejects with an
   * `ArchiveBehindError` if the mark, read atomically with the records, is older than `required`.
   */
  find(
    shard: number,
    names: readonly ArchiveKey[],
    days: Days,
    required?: ArchiveMark,
  ): Promise<readonly ArchiveRecord[]>;
  /**
   * Listed transactions of a player with versions below `version`, newest first. Returns `limit` of them, and all
   * others with the last one's version.
   */
  list(shard: number, player: number, version: number, limit: number): Promise<readonly ArchivedPlace[]>;
  /** Reads these records, in this order, without the missing ones. */
  read(shard: number, records: readonly ArchivedPlace['record'][], player: number): Promise<readonly ArchiveRecord[]>;
  /** The days that have a slice, oldest first. */
  days(): Promise<readonly number[]>;
  /** All records of a shard and day, in batches, in key order. */
  all(shard: number, day: number): AsyncIterable<readonly ArchiveRecord[]>;
  /**
   * The player and hashes of all rounds and transactions of a shard and day, in batches: everything that `find` can
   * find. Includes the readable part of a damaged record; rejects with a `DamagedArchiveError` at the end in that case.
   */
  names(shard: number, day: number): AsyncIterable<readonly ArchiveKey[]>;
  /**
   * The keys of each put since keys were last saved, with their day; of all puts if none were saved. Undefined for
   * damaged keys. The newest puts may already be among the saved keys.
   */
  freshKeys(shard: number): AsyncIterable<FreshKeys | undefined>;
  /** The saved keys of a shard, by part; undefined for a damaged part. Empty when none were saved. */
  savedKeys(shard: number): Promise<ReadonlyMap<number, Buffer | undefined>>;
  /**
   * Saves these parts of the key filter and removes the undefined ones, all or nothing. Puts before `lsn` are then no
   * longer fresh. Durable when it resolves. A shared archive rejects if a later owner of the shard has put records:
   * that owner knows more keys.
   */
  saveKeys(shard: number, parts: ReadonlyMap<number, Buffer | undefined>, lsn: Lsn): Promise<void>;
  /**
   * Drops all slices of days before this one for good. From then on no record of these days is put or found, even while
   * slices remain. Resolves when no slice is left; some may be gone when it rejects.
   */
  dropBefore(day: number): Promise<void>;
  /** Removes all records of a shard put after this position of its log: they come from abandoned entries. */
  dropAfter(shard: number, lsn: Lsn): Promise<void>;
  /** The clock of the archive's server, in ms since 1970; undefined if the archive is on this machine. */
  serverMs(): Promise<number | undefined>;
  /** Bytes on disk; undefined if unknown. */
  room(): Promise<{ readonly usedBytes: number }>;
  close(): Promise<void>;
}
