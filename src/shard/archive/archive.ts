import { type ArchiveMark, compareMarks } from '../../wallet/archive-mark.js';
import { compareLsn, type Lsn } from '../log/lsn.js';

/**
 * A round that has left its wallet, as the archive keeps it. Of a round that came back and left again there are several:
 * the newest counts (`compareAge`). A record is never changed.
 */
export interface ArchiveRecord {
  readonly shard: number;
  /** When it was last changed: days since 1970, UTC. */
  readonly day: number;
  /** Hash of the player's name, 32 bits. Another player can have the same: the image tells. */
  readonly player: number;
  /** Hash of product and id of the round, 32 bits. */
  readonly round: number;
  /** The durable end of the shard's log when the image was taken. */
  readonly lsn: Lsn;
  /** Counts what was put with the same `lsn`; 16 bits. */
  readonly index: number;
  readonly ids: readonly ArchivedId[];
  readonly image: Buffer;
  /** Only when it is put: the image holds remembered messages, which a reader of archives of version 1 would misread. */
  readonly remembers?: boolean;
}

/** The version of an archive goes up with the first record that needs it, so that an older walletd refuses to open it. */
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

/** Of two records of a round: above 0 when the first is newer. */
export function compareAge(one: Pick<ArchiveRecord, 'lsn' | 'index'>, other: typeof one): number {
  return compareLsn(one.lsn, other.lsn) || one.index - other.index;
}

/** One of the round's transactions. */
export interface ArchivedId {
  /** Hash of product and id, 32 bits. */
  readonly id: number;
  /** The wallet's version that made it; 0 for what is not listed. */
  readonly version: number;
}

/** A name that is looked for: of a round, or of one of its transactions. */
export interface ArchiveName {
  readonly player: number;
  readonly kind: 'round' | 'transaction';
  readonly hash: number;
}

/** Names of rounds and transactions that were put together. */
export interface FreshNames {
  readonly day: number;
  readonly names: readonly ArchiveName[];
}

/** A day of the archive that has fewer records than it had. */
export interface MissingDay {
  /** Absent: the file that lists the days is damaged, and lacks rows. */
  readonly day?: number;
  /** For people: the file of the day, or that one. */
  readonly place: string;
  /** Records of all shards, at least. */
  readonly had: number;
  /** 0: the day is gone. */
  readonly has: number;
}

/** Days from the first to the last, with both. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

export const ALL_DAYS: Days = { first: 0, last: 2 ** 31 - 1 };

/** A place in a player's list, newest version first: what lies beyond `version` is older. */
export interface ArchivedPlace extends ArchivedId {
  readonly record: Pick<ArchiveRecord, 'day' | 'round' | 'lsn' | 'index'>;
}

/**
 * Where rounds go of which nothing has been open or changed for a while; a slice for each day, dropped as a whole. All of it
 * rejects during an outage, and may be repeated then. Reading rejects with a `DamagedRecordError` where it comes to a damaged record,
 * or to the place of a lost one, and with a `DamagedArchiveError` where nobody knows which records are lost.
 */
export interface Archive {
  /**
   * Durable when it resolves, and so is the mark of each shard: the newest record that was ever put. The same records again change
   * nothing. With `required` all records are of one shard: rejects with an `ArchiveBehindError`, and changes nothing, where the mark is
   * older at the same moment. A put raises the mark, so an archive that lacks records would look as if it had them. Rejects with a
   * `DroppedDayError`, and changes nothing, where a record is of a day that has been dropped.
   */
  put(records: readonly ArchiveRecord[], required?: ArchiveMark): Promise<void>;
  /** The newest record of a shard that was ever put; undefined where none was since archives have marks. */
  mark(shard: number): Promise<ArchiveMark | undefined>;
  /** Raises the mark of a shard: after a restore, whose records need not have the newest one. */
  raiseMark(shard: number, mark: ArchiveMark): Promise<void>;
  /** Listed days whose records are gone, all or some; empty where the archive does not list its days. */
  missingDays(): Promise<readonly MissingDay[]>;
  /** Counts what is there as all that there ever was: raises these marks, lists days as they are. Durable when it resolves. */
  acceptLoss(marks: ReadonlyMap<number, ArchiveMark>): Promise<void>;
  /**
   * All records of a shard in which one of these names is: of any days of `days`, in any order, each once. Rejects with an
   * `ArchiveBehindError` where the mark, read at the same moment, is older than `required`.
   */
  find(
    shard: number,
    names: readonly ArchiveName[],
    days: Days,
    required?: ArchiveMark,
  ): Promise<readonly ArchiveRecord[]>;
  /**
   * Listed transactions of a player whose versions are below `version`, newest version first; as many as `limit`, and all
   * others of the last one's version.
   */
  list(shard: number, player: number, version: number, limit: number): Promise<readonly ArchivedPlace[]>;
  /** Those of these records that are there, in this order. */
  read(shard: number, records: readonly ArchivedPlace['record'][], player: number): Promise<readonly ArchiveRecord[]>;
  /** The days that have a slice, oldest first. */
  days(): Promise<readonly number[]>;
  /** All records of a shard and day, in batches, in the order of their keys. */
  all(shard: number, day: number): AsyncIterable<readonly ArchiveRecord[]>;
  /**
   * The player and hashes of all rounds and transactions of a shard and day, in batches: what `find` can find. Of a
   * damaged record as much as can be read; then it rejects with a `DamagedArchiveError` in the end.
   */
  names(shard: number, day: number): AsyncIterable<readonly ArchiveName[]>;
  /**
   * What was put since names were saved last, or ever: the names of each put, with their day; undefined for those that are
   * damaged. Those of the newest puts may be saved already.
   */
  freshNames(shard: number): AsyncIterable<FreshNames | undefined>;
  /** What was saved of the names of a shard, by part; undefined for a part that is damaged. Empty when nothing was. */
  savedNames(shard: number): Promise<ReadonlyMap<number, Buffer | undefined>>;
  /**
   * Saves parts of what is known, and removes parts that are undefined; all or nothing. Then what was put before `lsn` is
   * fresh no more. Durable when it resolves. An archive that nodes share rejects where a later owner of the shard has put: that
   * one knows more.
   */
  saveNames(shard: number, parts: ReadonlyMap<number, Buffer | undefined>, lsn: Lsn): Promise<void>;
  /**
   * Drops all slices of days before this one for good. From then on no record of these days is put or found, also while slices are
   * left. Resolves when none of them is left; some may be gone where it rejects.
   */
  dropBefore(day: number): Promise<void>;
  /** Removes all records of a shard that were put after this place of its log: of entries that were given up. */
  dropAfter(shard: number, lsn: Lsn): Promise<void>;
  /** The clock of the archive's server; undefined where the archive is on this machine. Milliseconds since 1970. */
  serverMs(): Promise<number | undefined>;
  /** Bytes on disk; undefined where nobody says so. */
  room(): Promise<{ readonly usedBytes: number }>;
  close(): Promise<void>;
}
