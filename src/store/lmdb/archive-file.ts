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
  readonly root: RootDatabase<Buffer, Buffer>;
  private readonly growth: FileGrowth;
  private readonly commits: Commits;

  constructor(path: string, options: ArchiveFileOptions, onStuck: (why: string) => void) {
    this.root = openFile(path, { path, noSubdir: true, overlappingSync: false, ...options, ...BINARY });
    this.growth = new FileGrowth(path, () => usedBytes(this.root));
    this.commits = new Commits(this.root, this.growth, onStuck);
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
    await this.growth.close();
    await this.root.close();
  }
}
