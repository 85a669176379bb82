import type { RootDatabase } from 'lmdb';
import { Commits } from './commits.js';
import { BINARY, usedBytes } from './environment.js';
import { FileGrowth } from './file-growth.js';
import { openFile } from './open-file.js';

interface ArchiveFileOptions {
  /** Size of the reserved address space; it takes no memory. */
  readonly mapSize: number;
  /** Number of named databases in the file; 0 if it has only the unnamed one. */
  readonly maxDbs?: number;
}

/** One LMDB environment of an archive, in its own file. */
export class ArchiveFile {
  private readonly environment: RootDatabase<Buffer, Buffer>;
  private readonly growth: FileGrowth;
  private readonly commits: Commits;
  private isClosed = false;

  constructor(path: string, options: ArchiveFileOptions, onStuck: (why: string) => void) {
    this.environment = openFile(path, { path, noSubdir: true, overlappingSync: false, ...options, ...BINARY });
    this.growth = new FileGrowth(path, () => usedBytes(this.root));
    this.commits = new Commits(this.environment, this.growth, onStuck);
  }

  /**
   * Throws once the file is being closed. Until its last commit, lmdb would answer one more read and then throw from a
   * timer, where nothing can catch the error.
   */
  get root(): RootDatabase<Buffer, Buffer> {
    if (this.isClosed) throw new Error('the archive is closed');
    return this.environment;
  }

  get usedBytes(): number {
    return usedBytes(this.root);
  }

  /** Reserves disk space for a write. */
  async makeRoom(bytes: number, places: number): Promise<void> {
    await this.growth.room(bytes, places);
  }

  /**
   * Resolves when the write is durable. `queue` queues all writes in one turn of the event loop, and lmdb writes them
   * in one transaction.
   */
  async write(bytes: number, places: number, queue: () => void): Promise<void> {
    await this.growth.room(bytes, places);
    try {
      await this.commits.completed(this.root.batch(queue));
    } catch (error) {
      throw await this.commits.causeOf(error);
    }
  }

  /** Like `write`, for values that replace or remove earlier ones. */
  async replace(bytes: number, places: number, queue: () => void): Promise<void> {
    await this.write(bytes, places, queue);
    this.growth.removed();
  }

  /** Removes keys, even on a full disk. `queue` queues the removals in one turn of the event loop. */
  async remove(places: number, queue: () => Promise<unknown>): Promise<void> {
    await this.growth.roomToRemove(places);
    await this.commits.completed(queue());
    this.growth.removed();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.growth.close();
    await this.commits.settled();
    await this.environment.close();
  }
}
