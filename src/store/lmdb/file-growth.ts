import { constants, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { StoreFullError } from '../../base/store-full-error.js';

const MIB = 1024 * 1024;
/** Zeros are written in pieces: one of LMDB's own syncs that comes meanwhile has to wait for a piece. */
const PIECE_BYTES = MIB;
const NO_ROOM: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** As many bytes are kept ready as are used, up to this: a small store stays small. */
const AHEAD_BYTES_MAX = 32 * MIB;
const CHECK_EVERY = 16;
/*
 * Bytes that must be left behind the data, beside what a commit takes, so that a full disk is found before LMDB finds it.
 * Least for removals, which must always be possible; more for writes into pages that a removal has freed; most for writes
 * that need new pages.
 */
const TO_REMOVE_BYTES = MIB / 2;
const INTO_FREE_BYTES = MIB;
const TO_ADD_BYTES = 2 * MIB;
/** Bytes of new pages that commits may take although some are free, before the free ones count as used up. */
const STRAY_BYTES = MIB / 4;
/** A commit takes its data, and copies of the pages on the way to each place that it writes to. */
const PLACE_BYTES = 3 * 4096;
/** A flight and a fence of a thread can ask for room before either has written. */
const FLIGHTS = 2;

/**
 * Keeps written blocks ready behind the end of LMDB's data, so that its commits do not lengthen the file. A commit that
 * does has to wait for the file system's journal as well: measured on ext4 with both cores busy, 1.0 to 2.0 ms instead
 * of 0.5 to 0.6. etcd does the same for its log.
 *
 * The file is opened for appending, so what is written lands behind everything that is there, also behind a page that
 * LMDB adds at this very moment; and LMDB overwrites zeros wherever it goes on.
 */
export class FileGrowth {
  private commits = 0;
  private isBusy = false;
  isClosed = false;
  private running: Promise<void> = Promise.resolve();
  private file: FileHandle | undefined = undefined;
  /** Length of the file when it was last looked at; it never becomes shorter. */
  private fileBytes = 0;
  /** Bytes in use when something was last removed. */
  private usedAtRemoval = Number.NEGATIVE_INFINITY;
  /** The file that LMDB has just opened. */
  private readonly identity: string;

  constructor(
    private readonly path: string,
    private readonly usedBytes: () => number,
  ) {
    this.identity = identityOf(statSync(path));
  }

  /** To be called after each commit; returns at once. */
  committed(): void {
    this.commits++;
    if (this.commits % CHECK_EVERY !== 0 || this.isBusy || this.isClosed) return;
    this.isBusy = true;
    const done = () => {
      this.isBusy = false;
    };
    // This only makes commits faster: where it fails (a full disk), LMDB makes do with what is there.
    void this.inTurn(() => this.keepAhead()).then(done, done);
  }

  /**
   * Undefined when a commit of `bytes` bytes to `places` places has room in the file as it is. Else it is to be awaited
   * before the commit; it rejects when the disk is full. LMDB must not find that out by itself: when one of its writes fails, lmdb 3.5.6
   * prints what it tried into a buffer that can be too short for it (`last_error` in mdb.c), and damages the heap.
   * Provoked with chunks and appends on a full tmpfs: 4 of 5 processes aborted.
   */
  room(bytes: number, places: number): Promise<void> | undefined {
    const commitBytes = FLIGHTS * (bytes + places * PLACE_BYTES);
    const used = this.usedBytes();
    const isPartFree = used - this.usedAtRemoval <= STRAY_BYTES;
    if (isPartFree && this.fileBytes - used >= INTO_FREE_BYTES + commitBytes) return undefined;
    return this.ensure(TO_ADD_BYTES + commitBytes, used);
  }

  /** As `room`, for a commit that removes something, or takes little and decides whether anything goes on. */
  roomToRemove(places: number): Promise<void> | undefined {
    return this.ensure(TO_REMOVE_BYTES + places * PLACE_BYTES, this.usedBytes());
  }

  /** To be called after a commit that has removed something. */
  removed(): void {
    this.usedAtRemoval = this.usedBytes();
  }

  private ensure(wanted: number, used: number): Promise<void> | undefined {
    if (this.fileBytes - used >= wanted) return undefined;
    return this.inTurn(() => this.grow(wanted)).catch((error: NodeJS.ErrnoException) => {
      const Failure = NO_ROOM.includes(error.code ?? '') ? StoreFullError : Error;
      throw new Failure(`the file of the store cannot grow (${error.message})`, { cause: error });
    });
  }

  /** False when the file was removed or replaced: LMDB goes on in one that no start will find. */
  async isInPlace(): Promise<boolean> {
    try {
      return identityOf(await stat(this.path)) === this.identity;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code !== 'ENOENT' && code !== 'ENOTDIR';
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.running;
    await this.file?.close();
  }

  private inTurn(run: () => Promise<void>): Promise<void> {
    const result = this.running.then(run);
    this.running = result.catch(() => {});
    return result;
  }

  private async keepAhead(): Promise<void> {
    const wanted = Math.min(this.usedBytes(), AHEAD_BYTES_MAX);
    if ((await this.aheadBytes()) <= wanted / 2) await this.grow(wanted);
  }

  private async grow(wanted: number): Promise<void> {
    while ((await this.aheadBytes()) < wanted) {
      const file = await this.opened();
      await file.write(ZEROS);
      await file.datasync();
    }
  }

  private async aheadBytes(): Promise<number> {
    this.fileBytes = (await (await this.opened()).stat()).size;
    return this.fileBytes - this.usedBytes();
  }

  private async opened(): Promise<FileHandle> {
    if (this.isClosed) throw new Error('the store is closed');
    if (this.file === undefined) {
      if (!(await this.isInPlace())) throw new Error('it was removed or replaced');
      this.file = await open(this.path, constants.O_WRONLY | constants.O_APPEND);
    }
    return this.file;
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

const ZEROS = Buffer.alloc(PIECE_BYTES);
