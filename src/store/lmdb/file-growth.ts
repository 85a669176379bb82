import { constants, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { StoreFullError } from '../../base/store-full-error.js';

const MIB = 1024 * 1024;
/** Zeros are written in pieces: an LMDB sync that comes meanwhile has to wait for a piece. */
const PIECE_BYTES = MIB;
const NO_ROOM: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** As many bytes are kept ready as are used, up to this limit: a small store stays small. */
const AHEAD_BYTES_MAX = 32 * MIB;
const CHECK_EVERY = 16;
/*
 * Bytes that must remain after the data, besides those of a commit, so that a full disk is found before LMDB finds it.
 * Removals need least, because they must always be possible; writes into freed pages need more; writes that need new
 * pages need most.
 */
const TO_REMOVE_BYTES = MIB / 2;
const INTO_FREE_BYTES = MIB;
const TO_ADD_BYTES = 2 * MIB;
/** Bytes of new pages that commits may take although some are free, before the free ones count as used up. */
const STRAY_BYTES = MIB / 4;
/** A commit writes its data, and copies of the pages on the path to each written place. */
const PLACE_BYTES = 3 * 4096;
/** An append and a fence of a thread can both ask for space before either has written. */
const FLIGHTS = 2;

/**
 * Keeps written blocks ready after the end of LMDB's data, so that its commits do not extend the file. A commit that
 * extends the file also waits for the file system's journal: measured on ext4 with both cores busy, 1.0 to 2.0 ms
 * instead of 0.5 to 0.6. etcd does the same for its log.
 *
 * The file is opened for appending, so zeros land after all existing data, even after a page that LMDB adds at this
 * very moment. LMDB overwrites zeros wherever it continues.
 */
export class FileGrowth {
  private commits = 0;
  private isBusy = false;
  isClosed = false;
  private running: Promise<void> = Promise.resolve();
  private file: FileHandle | undefined = undefined;
  /** Last known length of the file; it never shrinks. */
  private fileBytes = 0;
  /** Bytes in use at the last removal. */
  private usedAtRemoval = Number.NEGATIVE_INFINITY;
  /** Device and inode of the file that LMDB has opened. */
  private readonly identity: string;

  constructor(
    private readonly path: string,
    private readonly usedBytes: () => number,
  ) {
    this.identity = identityOf(statSync(path));
  }

  /** Must be called after each commit; returns at once. */
  committed(): void {
    this.commits++;
    if (this.commits % CHECK_EVERY !== 0 || this.isBusy || this.isClosed) return;
    this.isBusy = true;
    const done = () => {
      this.isBusy = false;
    };
    // An optimization only: if it fails (a full disk), LMDB uses the existing file.
    void this.inTurn(() => this.keepAhead()).then(done, done);
  }

  /**
   * Undefined when the file has space for a commit of `bytes` bytes to `places` places. Otherwise a promise to await
   * before the commit; it rejects when the disk is full. LMDB must not discover that itself. When one of its writes
   * fails, lmdb 3.5.6 prints the attempt into a buffer that can be too short (`last_error` in mdb.c), and damages the
   * heap. Provoked with chunks and appends on a full tmpfs: 4 of 5 processes aborted.
   */
  room(bytes: number, places: number): Promise<void> | undefined {
    const commitBytes = FLIGHTS * (bytes + places * PLACE_BYTES);
    const used = this.usedBytes();
    const isPartFree = used - this.usedAtRemoval <= STRAY_BYTES;
    if (isPartFree && this.fileBytes - used >= INTO_FREE_BYTES + commitBytes) return undefined;
    return this.ensure(TO_ADD_BYTES + commitBytes, used);
  }

  /** Like `room`, for a commit that removes something, or a small commit without which nothing can continue. */
  roomToRemove(places: number): Promise<void> | undefined {
    return this.ensure(TO_REMOVE_BYTES + places * PLACE_BYTES, this.usedBytes());
  }

  /** Must be called after a commit that has removed something. */
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

  /** False when the file was removed or replaced: LMDB then continues in a file that no start will find. */
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
