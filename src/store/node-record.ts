import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isSameLsn } from '../ports/lsn.js';
import type { Position } from '../ports/wal.js';
import { FormatError, UnknownFormatError } from './format/format-error.js';
import { parseNodeFile } from './format/node-file.js';
import { formatPosition, parsePosition } from './position-text.js';

interface Stored {
  readonly store: string;
  readonly storeId: string;
  /** LSN and checksum, in hexadecimal digits: `3-1042:9b1deb4d`. The earliest records have no checksum. */
  readonly shards: Readonly<Record<string, string>>;
  /**
   * By shard: when its entry was recorded, which is at most a second or two after the entry was acknowledged. Records
   * of older releases have no times.
   */
  readonly times?: Readonly<Record<string, number>>;
}

const NAME = /^acknowledged-[0-9a-f]{8}\.json$/;

/** A shard of a former store in which this node has acknowledged entries that the restore lacks. */
export interface LackingShard {
  readonly shard: number;
  /** The newest restored entry. */
  readonly end: Position;
  readonly acknowledged: Position;
}

/** An acknowledged entry, and the time when it was recorded; 0 if the record has no time. */
interface Noted extends Position {
  readonly timeMs: number;
}

/**
 * The record of the entries that this node has acknowledged, kept outside the store. It reveals lost entries when a
 * store comes back older, empty, or replaced by a different store. Each store has one small file, whose content is
 * about a second old. After a power failure the file has either the old or the new content, never a mixture.
 */
export class NodeRecord {
  private writing: Promise<void> = Promise.resolve();
  /**
   * The temporary file is specific to this process, because a process that is being replaced still writes to the same
   * record.
   */
  private readonly newPath: string;

  private constructor(
    readonly path: string,
    private readonly store: string,
    /** Undefined if there is no record. */
    readonly storeId: string | undefined,
    /** The newest acknowledged entry of each shard. */
    private readonly shards: Map<number, Noted>,
  ) {
    this.newPath = `${path}.${randomBytes(4).toString('hex')}`;
  }

  /** `store` is the store's human-readable name. Throws a `FormatError` if the record cannot be read. */
  static open(folder: string, store: string): NodeRecord {
    const path = join(folder, `acknowledged-${crc32(store).toString(16).padStart(8, '0')}.json`);
    const stored = read(path);
    return new NodeRecord(path, store, stored?.storeId, notedIn(path, stored));
  }

  /**
   * Adds entries that this node acknowledged in the same store at other addresses, if they were recorded later. A copy
   * of the store at a new address may lack them. Throws a `FormatError` if a record cannot be read.
   */
  addOtherAddresses(storeId: string): void {
    for (const path of pathsOf(dirname(this.path), storeId)) {
      if (path === this.path) continue;
      for (const [shard, noted] of notedIn(path, read(path))) {
        if (noted.timeMs > (this.shards.get(shard)?.timeMs ?? -1)) this.shards.set(shard, noted);
      }
    }
  }

  /**
   * Shards of a former store in which this node acknowledged entries that the restore lacks, whatever the store's
   * address was then. `ends` are the newest restored entries.
   */
  findLacking(storeId: string, ends: readonly string[]): readonly LackingShard[] {
    const newest = new Map<number, Noted>();
    for (const path of pathsOf(dirname(this.path), storeId)) {
      for (const [shard, noted] of notedIn(path, read(path))) {
        if (noted.timeMs >= (newest.get(shard)?.timeMs ?? 0)) newest.set(shard, noted);
      }
    }
    const lacking: LackingShard[] = [];
    for (const [shard, entry] of newest) {
      const end = parsePosition(ends[shard] ?? '');
      if (end !== undefined && !reaches(end, entry)) lacking.push({ shard, end, acknowledged: entry });
    }
    return lacking;
  }

  /** Removes all of a store's records from the folder, whatever their address. */
  forget(storeId: string): void {
    for (const path of pathsOf(dirname(this.path), storeId)) rmSync(path, { force: true });
  }

  /** The time of the last write by the file system's clock, in ms; undefined if there is no record. */
  get writtenMs(): number | undefined {
    return statSync(this.path, { throwIfNoEntry: false })?.mtimeMs;
  }

  acknowledged(shard: number): Position | undefined {
    return this.shards.get(shard);
  }

  /** The time when a shard's newest acknowledged entry was recorded, in ms; undefined if the record has no time. */
  acknowledgedMs(shard: number): number | undefined {
    return this.shards.get(shard)?.timeMs || undefined;
  }

  /** The newest acknowledged entry of each shard. The map is live: it includes all later writes. */
  get all(): ReadonlyMap<number, Position> {
    return this.shards;
  }

  /**
   * Writes the entries, unless the file already has them. Resolves when the file has them; rejects if the file cannot
   * be written.
   */
  async write(
    storeId: string,
    acknowledged: Iterable<readonly [shard: number, Position]>,
    nowMs = Date.now(),
  ): Promise<void> {
    for (const [shard, { lsn, checksum }] of acknowledged) {
      const before = this.shards.get(shard);
      const isNew = before === undefined || !isSameLsn(before.lsn, lsn);
      // Use a later time than that of every earlier entry, even if the clock was set back. If a store has had several
      // addresses, the most recently recorded entry counts.
      const beforeMs = before?.timeMs ?? 0;
      this.shards.set(shard, { lsn, checksum, timeMs: isNew ? Math.max(nowMs, beforeMs + 1) : beforeMs });
    }
    const text = this.text(storeId);
    this.writing = this.writing.catch(() => {}).then(() => this.put(text));
    await this.writing;
  }

  private async put(text: string): Promise<void> {
    // Compare with the file instead of the last write, because a process that is being replaced may have written its
    // own record since.
    if ((await readFile(this.path, 'utf8').catch(() => '')) === text) return;
    await mkdir(dirname(this.path), { recursive: true });
    try {
      await writeFile(this.newPath, text, { flush: true });
      await rename(this.newPath, this.path);
    } catch (error) {
      rmSync(this.newPath, { force: true });
      throw error;
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }

  private text(storeId: string): string {
    const shards = Object.fromEntries([...this.shards].map(([shard, entry]) => [shard, formatPosition(entry)]));
    const timed = [...this.shards].filter(([, { timeMs }]) => timeMs > 0);
    const times = Object.fromEntries(timed.map(([shard, { timeMs }]) => [shard, timeMs]));
    return JSON.stringify({ store: this.store, storeId, shards, times } satisfies Stored);
  }
}

/** The entries of a record by shard. Throws a `FormatError` if an entry is damaged. */
function notedIn(path: string, stored: Stored | undefined): Map<number, Noted> {
  const noted = new Map<number, Noted>();
  for (const [shard, text] of Object.entries(stored?.shards ?? {})) {
    const entry = parsePosition(text);
    if (entry === undefined) throw damaged(path);
    noted.set(Number(shard), { ...entry, timeMs: stored?.times?.[shard] ?? 0 });
  }
  return noted;
}

/** A store's records in a folder, one for each address that the store has had. */
function pathsOf(folder: string, storeId: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
  const paths = names.filter((name) => NAME.test(name)).map((name) => join(folder, name));
  return paths.filter((path) => read(path)?.storeId === storeId);
}

/** Also false if the log has a different entry with the LSN of the acknowledged one. */
function reaches(end: Position, { lsn, checksum }: Position): boolean {
  if (end.lsn.sequence !== lsn.sequence) return end.lsn.sequence > lsn.sequence;
  return isSameLsn(end.lsn, lsn) && (checksum === undefined || end.checksum === checksum);
}

function read(path: string): Stored | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  try {
    return parseNodeFile<Stored>(path, text);
  } catch (error) {
    throw error instanceof UnknownFormatError ? error : damaged(path);
  }
}

function damaged(path: string): FormatError {
  return new FormatError(
    `${path} is damaged: it records which entries this node has acknowledged; delete it to continue without the record`,
  );
}
