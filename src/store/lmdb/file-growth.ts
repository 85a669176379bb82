import { constants, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { StoreFullError } from '../../base/store-full-error.js';

const MIB = 1024 * 1024;
/** Zeros are written in pieces, so that a sync by LMDB waits for one piece at most. */
const PIECE_BYTES = MIB;
const NO_ROOM: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** The file preallocates as many bytes as are in use, up to this limit. A small store therefore stays small. */
const AHEAD_BYTES_MAX = 32 * MIB;
const CHECK_EVERY = 16;
/*
 * Bytes that must remain free beyond the data and the next commit, so that this class detects a full disk before LMDB
 * does. Removals need the smallest reserve, because they must always be possible. Writes into freed pages need more,
 * and writes into new pages need the most.
 */
const TO_REMOVE_BYTES = MIB / 2;
const INTO_FREE_BYTES = MIB;
const TO_ADD_BYTES = 2 * MIB;
/** Bytes of new pages that commits may use while freed pages exist. Beyond this, the freed pages count as used up. */
const STRAY_BYTES = MIB / 4;
/** A commit writes its data, and a copy of every page on the path to each place that it changes. */
const PLACE_BYTES = 3 * 4096;
/**
 * Number of commits to reserve space for, because two appends and a fence of one thread may ask for space before any of
 * them has written.
 */
const APPENDS = 3;

/**
 * Keeps preallocated blocks after the end of LMDB's data, so that commits do not extend the file. A commit that extends
 * the file also waits for the file system's journal: on ext4 with both cores busy it took 1.0 to 2.0 ms instead of 0.5
 * to 0.6. etcd does the same for its log.
 *
 * The file is opened for appending, so zeros never overwrite data, even if LMDB adds a page at the same moment. LMDB
 * overwrites the zeros when it needs the space.
 */
export class FileGrowth {
  private commits = 0;
  private isBusy = false;
  isClosed = false;
  private running: Promise<void> = Promise.resolve();
  private file: FileHandle | undefined = undefined;
  /** The last known length of the file, which never shrinks. */
  private fileBytes = 0;
  /** Bytes in use at the last removal. */
  private usedAtRemoval = Number.NEGATIVE_INFINITY;
  /** Device and inode of the file that LMDB opened. */
  private readonly identity: string;

  constructor(
    private readonly path: string,
    private readonly usedBytes: () => number,
  ) {
    this.identity = identityOf(statSync(path));
  }

  /** Must be called after each commit. Returns immediately and preallocates in the background. */
  committed(): void {
    this.commits++;
    if (this.commits % CHECK_EVERY !== 0 || this.isBusy || this.isClosed) return;
    this.isBusy = true;
    const done = () => {
      this.isBusy = false;
    };
    // Preallocation is only an optimization. If it fails, as on a full disk, LMDB continues with the file as it is.
    void this.inTurn(() => this.keepAhead()).then(done, done);
  }

  /**
   * Returns undefined if the file has space for a commit of `bytes` bytes to `places` places. Otherwise returns a
   * promise that must be awaited before the commit, and that rejects if the disk is full. LMDB must not run into a full
   * disk itself: when a write fails, lmdb 3.5.6 formats a message about it into a buffer that can be too short
   * (`last_error` in mdb.c), which damages the heap. In a test with chunks and appends on a full tmpfs, 4 of 5
   * processes aborted.
   */
  room(bytes: number, places: number): Promise<void> | undefined {
    const commitBytes = APPENDS * (bytes + places * PLACE_BYTES);
    const used = this.usedBytes();
    const isPartFree = used - this.usedAtRemoval <= STRAY_BYTES;
    if (isPartFree && this.fileBytes - used >= INTO_FREE_BYTES + commitBytes) return undefined;
    return this.ensure(TO_ADD_BYTES + commitBytes, used);
  }

  /**
   * Like `room`, but with a smaller reserve. Use it for a commit that removes something, or for a small commit that the
   * store needs to continue.
   */
  roomToRemove(places: number): Promise<void> | undefined {
    return this.ensure(TO_REMOVE_BYTES + places * PLACE_BYTES, this.usedBytes());
  }

  /** Must be called after a commit that removed something. Does nothing while LMDB closes, because it must not be read. */
  removed(): void {
    if (this.isClosed) return;
    this.usedAtRemoval = this.usedBytes();
  }

  private ensure(wanted: number, used: number): Promise<void> | undefined {
    if (this.fileBytes - used >= wanted) return undefined;
    return this.inTurn(() => this.grow(wanted)).catch((error: NodeJS.ErrnoException) => {
      const Failure = NO_ROOM.includes(error.code ?? '') ? StoreFullError : Error;
      throw new Failure(`the file of the store cannot grow (${error.message})`, { cause: error });
    });
  }

  /**
   * False if the file was removed or replaced. LMDB then keeps writing to a file that the next startup will not find.
   */
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
