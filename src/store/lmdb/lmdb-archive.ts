import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { must } from '../../base/assert.js';
import { systemClock } from '../../base/clock.js';
import { Slices } from '../../base/slices.js';
import { DAY_MS } from '../../base/time.js';
import {
  ARCHIVE_VERSION,
  type Archive,
  type ArchivedPlace,
  type ArchiveKey,
  type ArchiveRecord,
  type Days,
  FIRST_ARCHIVE_VERSION,
  type FreshKeys,
  type MissingDay,
  newestMarks,
} from '../../ports/archive.js';
import { ArchiveBehindError, mustReach } from '../../ports/archive-behind-error.js';
import { mustKeep } from '../../ports/dropped-day-error.js';
import type { Lsn } from '../../ports/lsn.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import { type ArchiveTie, mustBeTied } from '../archive-tie.js';
import { checkArchiveVersion } from '../format/archive-record.js';
import { FormatError } from '../format/format-error.js';
import { ArchiveDay } from './archive-day.js';
import { ArchiveMarks } from './archive-marks.js';
import { damageOf } from './proven-table.js';
import { SavedKeys } from './saved-keys.js';

const ABOUT_FILE = 'archive.json';
const MARKS_FILE = 'marks.mdb';
const DAY_FILE = /^(\d{4}-\d{2}-\d{2})\.mdb$/;
/** Maximum number of open days: those that receive rounds, and recently read ones. */
const OPEN_MAX = 16;

/**
 * The archive next to an LMDB store: a folder with one file per day, and a file that identifies the archive. Files are
 * opened on demand.
 */
export class LmdbArchive implements Archive {
  /** Open days in order of last use, most recent last. */
  private readonly open = new Map<number, ArchiveDay>();

  private savedNamesFile: SavedKeys | undefined = undefined;
  /**
   * Adds second trees to the days that an older walletd wrote; undefined until this work starts. The first put of shard
   * 0 starts it, so that only the thread that owns shard 0 does this work.
   */
  private proving: Promise<void> | undefined = undefined;
  private isClosed = false;

  private constructor(
    private readonly folder: string,
    /** The content of the identity file. If another process has raised the version, this one may be lower. */
    private about: About,
    private readonly marks: ArchiveMarks,
    private readonly onStuck: (why: string) => void,
    private readonly gaps: 'refused' | 'reported',
  ) {}

  /**
   * Opens the archive. Throws a `FormatError` if the folder holds the archive of another store, or not the archive that
   * the tie names. `onStuck` works as in `LmdbStore.open`. `gaps` decides what happens if a listed day is missing or
   * has too few records. Usually the archive is refused; tools that report such days use `missingDays` instead.
   */
  static open(
    folder: string,
    storeId: string,
    onStuck: (why: string) => void = () => {},
    gaps: 'refused' | 'reported' = 'refused',
    tie?: ArchiveTie,
  ): LmdbArchive {
    const about = claim(folder, storeId, tie);
    const marks = openMarks(join(folder, MARKS_FILE), onStuck, gaps);
    const archive = new LmdbArchive(folder, about, marks, onStuck, gaps);
    if (gaps === 'reported') return archive;
    try {
      archive.mustHaveDays();
      return archive;
    } catch (error) {
      void marks.close();
      throw error;
    }
  }

  /** The id of the archive in the folder. Creates the archive or its id if missing. Throws like `open`. */
  static identify(folder: string, storeId: string, tie?: ArchiveTie): string {
    const about = claim(folder, storeId, tie);
    return must(writeId(folder, about).archiveId, 'an archive has got its id');
  }

  /** Checks the archive in the folder without creating anything. Throws like `open`. */
  static check(folder: string, storeId: string, tie: ArchiveTie): void {
    mustBeTied(tie, LmdbArchive.findId(folder, storeId), folder);
  }

  /** The id of the archive in the folder; undefined if the archive has no id, or does not exist. */
  static findId(folder: string, storeId: string): string | undefined {
    return readAbout(folder, storeId)?.archiveId;
  }

  /** Gives the archive in the folder a new id, so that it counts as a different archive. Returns the id. */
  static renew(folder: string, storeId: string): string {
    const archiveId = randomUUID();
    writeAbout(folder, { ...claim(folder, storeId), archiveId });
    return archiveId;
  }

  /**
   * Throws a `FormatError` if a day's file is missing, for example because a disk is not mounted or the folder was
   * copied incompletely.
   */
  private mustHaveDays(): void {
    const missing = [...this.marks.days().keys()].filter((day) => !this.hasFile(day)).map((day) => this.pathOf(day));
    if (missing.length === 0) return;
    throw new FormatError(
      `the archive lacks ${missing.length} of its files, the first is ${missing[0]}: bring the files back, or restore a backup; ` +
        'as a last resort, `walletd accept-loss --archive` asks whether to continue without them',
    );
  }

  async missingDays(): Promise<readonly MissingDay[]> {
    const missing: MissingDay[] = [...this.marks.days()].flatMap(([day, had]) => {
      const has = this.hasFile(day) ? this.dayOf(day).count : 0;
      return has < had || !this.hasFile(day) ? [{ day, place: this.pathOf(day), had, has }] : [];
    });
    const { count: had, damaged } = this.marks.rows();
    if (damaged.length > 0) missing.push({ place: join(this.folder, MARKS_FILE), had, has: had - damaged.length });
    return missing;
  }

  async acceptLoss(marks: ReadonlyMap<number, ArchiveMark>): Promise<void> {
    const counts = new Map([...this.marks.days().keys()].map((day) => [day, 0]));
    for (const day of this.keptDays()) counts.set(day, this.dayOf(day).count);
    await this.marks.write(marks, counts);
    await this.marks.removeDamaged();
  }

  async put(records: readonly ArchiveRecord[], required?: ArchiveMark): Promise<void> {
    const [first] = records;
    if (first !== undefined) mustReach(first.shard, this.marks.mark(first.shard), required);
    mustKeep(records, this.marks.firstDay);
    if (this.about.version < ARCHIVE_VERSION && records.some(({ remembers }) => remembers)) {
      this.about = { ...this.about, version: ARCHIVE_VERSION };
      writeAbout(this.folder, this.about);
    }
    const byDay = new Map<number, ArchiveRecord[]>();
    for (const record of records) {
      const ofDay = byDay.get(record.day);
      if (ofDay === undefined) byDay.set(record.day, [record]);
      else ofDay.push(record);
    }
    await Promise.all([...byDay].map(([day, ofDay]) => this.dayOf(day).put(ofDay)));
    await this.marks.write(newestMarks(records), await this.countsOf(byDay.keys()));
    if (!this.isClosed && records.some(({ shard }) => shard === 0)) this.proving ??= this.prove();
  }

  /**
   * Number of records by day, except for days dropped meanwhile. If no day is listed yet, because an older walletd
   * wrote them all, counts every day.
   */
  private async countsOf(days: Iterable<number>): Promise<Map<number, number>> {
    const counts = new Map<number, number>();
    const slices = this.slices();
    for (const day of this.marks.hasDays ? [...days] : this.daysWithFile()) {
      if (day < this.marks.firstDay) continue;
      counts.set(day, this.dayOf(day).count);
      await slices.yieldWhenDue();
    }
    return counts;
  }

  /** Adds missing second trees. Never rejects: an unreadable day is reported when a lookup reads it. */
  private async prove(): Promise<void> {
    for (const day of this.keptDays().reverse()) {
      await turn();
      if (this.isClosed) return;
      try {
        if (this.hasFile(day)) await this.dayOf(day).prove(() => !this.isClosed && this.open.has(day));
      } catch {}
    }
  }

  private slices(): Slices {
    return new Slices(systemClock, turn);
  }

  async mark(shard: number): Promise<ArchiveMark | undefined> {
    return this.marks.mark(shard);
  }

  async raiseMark(shard: number, mark: ArchiveMark): Promise<void> {
    await this.marks.write(new Map([[shard, mark]]), new Map());
  }

  async find(
    shard: number,
    names: readonly ArchiveKey[],
    days: Days,
    required?: ArchiveMark,
  ): Promise<readonly ArchiveRecord[]> {
    mustReach(shard, this.marks.mark(shard), required);
    const found = new Map<string, ArchiveRecord>();
    const slices = this.slices();
    for (const day of this.keptDays()) {
      if (day < days.first || day > days.last) continue;
      await slices.yieldWhenDue();
      for (const record of await this.dayOf(day).find(shard, names)) found.set(nameOf(record), record);
    }
    return [...found.values()];
  }

  async list(shard: number, player: number, version: number, limit: number): Promise<readonly ArchivedPlace[]> {
    const places: ArchivedPlace[] = [];
    const slices = this.slices();
    for (const day of this.keptDays()) {
      await slices.yieldWhenDue();
      for (const place of await this.dayOf(day).places(shard, player, version)) places.push(place);
    }
    places.sort((a, b) => b.version - a.version);
    const last = places[limit - 1]?.version ?? 0;
    return places.filter((place) => place.version >= last);
  }

  async read(
    shard: number,
    records: readonly ArchivedPlace['record'][],
    player: number,
  ): Promise<readonly ArchiveRecord[]> {
    const found: ArchiveRecord[] = [];
    const slices = this.slices();
    for (const place of records) {
      await slices.yieldWhenDue();
      const record = this.hasFile(place.day) ? this.dayOf(place.day).tryRead({ ...place, shard, player }) : undefined;
      if (record !== undefined) found.push(record);
    }
    return found;
  }

  async days(): Promise<readonly number[]> {
    return this.keptDays();
  }

  async *all(shard: number, day: number): AsyncIterable<readonly ArchiveRecord[]> {
    if (this.hasFile(day)) yield* this.dayOf(day).all(shard);
  }

  async *names(shard: number, day: number): AsyncIterable<readonly ArchiveKey[]> {
    if (this.hasFile(day)) yield* this.dayOf(day).names(shard);
  }

  async *freshKeys(shard: number): AsyncIterable<FreshKeys | undefined> {
    for (const day of this.keptDays()) yield* this.dayOf(day).freshKeys(shard);
  }

  /** Saved key parts of a shard. A part that differs from the last saved one counts as damaged. */
  async savedKeys(shard: number): Promise<ReadonlyMap<number, Buffer | undefined>> {
    try {
      const parts = await this.saved().read(shard);
      return this.saved().digest(shard) === this.marks.keysDigest(shard) ? parts : damaged(parts);
    } catch (error) {
      throw damageOf(error, this.namesPath);
    }
  }

  async saveKeys(shard: number, parts: ReadonlyMap<number, Buffer | undefined>, lsn: Lsn): Promise<void> {
    await this.saved().write(shard, parts);
    await this.marks.writeKeysDigest(shard, this.saved().digest(shard));
    for (const day of this.keptDays()) await this.dayOf(day).dropFresh(shard, lsn);
  }

  async dropBefore(day: number): Promise<void> {
    const gone = [...this.marks.days().keys()].filter((old) => old < day);
    // Write the first day before removing files, so that a put in progress cannot create a removed file again.
    if (gone.length > 0 || day > this.marks.firstDay) {
      await this.marks.write(new Map(), new Map(gone.map((old) => [old, 0])), day);
    }
    for (const old of this.open.keys()) {
      if (old >= day) continue;
      const slice = this.open.get(old);
      this.open.delete(old);
      await slice?.drop();
    }
    for (const old of this.daysWithFile()) {
      if (old < day) for (const path of [this.pathOf(old), `${this.pathOf(old)}-lock`]) rmSync(path, { force: true });
    }
  }

  async dropAfter(shard: number, lsn: Lsn, isAbandoned: (record: ArchiveRecord) => boolean): Promise<void> {
    const days = this.keptDays();
    // Open each day before its minimum is removed, because opening refuses a day that has lost records.
    const counts = await this.countsOf(days);
    // Remove the minimums before the records: a kill in between must leave days that open. While no day is listed, the
    // next put lists them all again.
    await this.marks.write(new Map(), new Map([...counts.keys()].map((day) => [day, 0])));
    try {
      for (const day of days) await this.dayOf(day).dropAfter(shard, lsn, isAbandoned);
    } finally {
      await this.marks.write(new Map(), await this.countsOf(days));
    }
  }

  async serverMs(): Promise<undefined> {}

  async room(): Promise<{ readonly usedBytes: number }> {
    const bytes = this.daysWithFile().map((day) => {
      return this.open.get(day)?.usedBytes ?? statSync(this.pathOf(day), { throwIfNoEntry: false })?.size ?? 0;
    });
    return { usedBytes: bytes.reduce((sum, one) => sum + one, 0) };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.proving;
    const open = [...this.open.values()];
    this.open.clear();
    await Promise.all([...open.map((day) => day.close()), this.savedNamesFile?.close(), this.marks.close()]);
  }

  private get namesPath(): string {
    return join(this.folder, 'names.mdb');
  }

  private saved(): SavedKeys {
    this.savedNamesFile ??= new SavedKeys(this.namesPath, this.onStuck);
    return this.savedNamesFile;
  }

  private dayOf(day: number): ArchiveDay {
    const known = this.open.get(day);
    const slice = known ?? this.openDay(day);
    this.open.delete(day);
    this.open.set(day, slice);
    if (this.open.size > OPEN_MAX) this.closeOldest(day);
    return slice;
  }

  /**
   * Opens a day. Throws an `ArchiveBehindError` if its file has lost records, and a `DamagedArchiveError` if LMDB
   * refuses the file.
   */
  private openDay(day: number): ArchiveDay {
    const path = this.pathOf(day);
    const slice = this.mustOpen(day, path);
    const least = this.marks.recordsOf(day);
    const { count } = slice;
    if (count >= least || this.gaps === 'reported') return slice;
    void slice.close();
    throw new ArchiveBehindError(`the file ${path} of the archive has ${count} records, but had at least ${least}`);
  }

  private mustOpen(day: number, path: string): ArchiveDay {
    try {
      return new ArchiveDay(day, path, this.onStuck);
    } catch (error) {
      throw damageOf(error, path);
    }
  }

  private closeOldest(wanted: number): void {
    const oldest = [...this.open.values()].find((slice) => slice.day !== wanted && !slice.isInUse);
    if (oldest === undefined) return;
    this.open.delete(oldest.day);
    void oldest.close();
  }

  private hasFile(day: number): boolean {
    return day >= this.marks.firstDay && (this.open.has(day) || existsSync(this.pathOf(day)));
  }

  /** Days that have not been dropped, oldest first. */
  private keptDays(): number[] {
    const { firstDay } = this.marks;
    return this.daysWithFile().filter((day) => day >= firstDay);
  }

  /** Days that have a file, oldest first. Includes a dropped day until its file is deleted. */
  private daysWithFile(): number[] {
    return readdirSync(this.folder)
      .flatMap((file) => {
        const date = DAY_FILE.exec(file)?.[1];
        return date === undefined ? [] : [Date.parse(date) / DAY_MS];
      })
      .sort((a, b) => a - b);
  }

  private pathOf(day: number): string {
    return join(this.folder, `${new Date(day * DAY_MS).toISOString().slice(0, 10)}.mdb`);
  }
}

function openMarks(path: string, onStuck: (why: string) => void, damaged: 'refused' | 'reported'): ArchiveMarks {
  try {
    return new ArchiveMarks(path, onStuck, damaged);
  } catch (error) {
    throw damageOf(error, path);
  }
}

/** Returns the same parts, all marked as damaged. Part 0 is always included, so that the result is never empty. */
function damaged(parts: ReadonlyMap<number, Buffer | undefined>): Map<number, undefined> {
  return new Map([0, ...parts.keys()].map((number) => [number, undefined]));
}

/** The content of the identity file. */
interface About {
  readonly version: number;
  readonly storeId: string;
  /** Absent until a walletd that supports ids starts for the first time. */
  readonly archiveId?: string;
}

/** Records which store owns the archive, or checks that this store owns it. */
function claim(folder: string, storeId: string, tie?: ArchiveTie): About {
  const about = readAbout(folder, storeId);
  if (tie !== undefined) mustBeTied(tie, about?.archiveId, folder);
  if (about !== undefined) return about;
  mkdirSync(folder, { recursive: true });
  return writeId(folder, { version: FIRST_ARCHIVE_VERSION, storeId });
}

/**
 * Much longer than it takes to write a small file, even on a busy machine. If the temporary file still exists after
 * this time, the process that created it must have died.
 */
const WRITE_ID_MS = 5000;
const LOOK_MS = 5;
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/**
 * Gives the archive its id. All processes and threads that start at the same moment call this function. The one that
 * creates the temporary file first continues, and the others wait for its id. If two ids were written in succession,
 * each process would refuse the other's archive.
 */
function writeId(folder: string, about: About): About {
  const path = join(folder, ABOUT_FILE);
  const next = `${path}.next`;
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const there = readAbout(folder, about.storeId);
    if (there?.archiveId !== undefined) return there;
    if (waitedMs >= WRITE_ID_MS) rmSync(next, { force: true });
    try {
      writeFileSync(next, `${JSON.stringify({ ...about, archiveId: randomUUID() })}\n`, { flag: 'wx', flush: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      Atomics.wait(sleeping, 0, 0, LOOK_MS);
      continue;
    }
    // Check again: another process may have written its id after the check above and before this temporary file was
    // created.
    if (readAbout(folder, about.storeId)?.archiveId === undefined) renameSync(next, path);
    else rmSync(next, { force: true });
  }
}

/** Reads the identity file; undefined if there is no archive. */
function readAbout(folder: string, storeId: string): About | undefined {
  const path = join(folder, ABOUT_FILE);
  if (!existsSync(path)) return undefined;
  const about = JSON.parse(readFileSync(path, 'utf8')) as About;
  checkArchiveVersion(about.version);
  if (about.storeId === storeId) return about;
  throw new FormatError(`the archive in ${folder} belongs to a different store: ${about.storeId}`);
}

/**
 * Writes the identity file. Several threads may do this at the same time: each writes its own temporary file and
 * renames it, and all write the same content.
 */
function writeAbout(folder: string, about: About): void {
  const path = join(folder, ABOUT_FILE);
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(temporary, `${JSON.stringify(about)}\n`, { flush: true });
  renameSync(temporary, path);
}

function nameOf({ day, player, round, lsn, index }: ArchiveRecord): string {
  return `${day} ${player} ${round} ${lsn.epoch} ${lsn.sequence} ${index}`;
}
