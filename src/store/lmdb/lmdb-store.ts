import { existsSync, mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import type { CheckResult, Store, StoreRoom } from '../store.js';
import { Commits } from './commits.js';
import { BINARY, DATA_FILE, openEnvironment, usedBytes } from './environment.js';
import { examineFolder } from './examine-folder.js';
import { FileGrowth } from './file-growth.js';
import { Heads } from './heads.js';
import { LmdbFeedRecords } from './lmdb-feed-records.js';
import { LmdbMeta } from './lmdb-meta.js';
import { LmdbSnapshots } from './lmdb-snapshots.js';
import { LmdbWal } from './lmdb-wal.js';

/**
 * The embedded store: one LMDB environment in a folder, with five databases.
 *
 *   meta       "meta"                             -> StoreMeta as JSON
 *              "feed:KEY"                         -> record of an event feed's consumer
 *   heads      shard u16                          -> Head, with a version that `ifVersion` compares
 *   log        shard u16, epoch u32, sequence u64 -> entry
 *   snapshots  shard u16, id 8 bytes              -> manifest; empty while unfinished
 *   chunks     shard u16, id 8 bytes, index u32   -> chunk
 */
export class LmdbStore implements Store {
  readonly table = undefined;
  readonly canLoseTail = false;
  readonly wal: LmdbWal;
  readonly snapshots: LmdbSnapshots;
  readonly meta: LmdbMeta;
  readonly feeds: LmdbFeedRecords;
  private readonly growth: FileGrowth;

  private constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly folder: string,
    onStuck: (why: string) => void,
  ) {
    const meta = root.openDB<Buffer, Buffer>({ name: 'meta', ...BINARY });
    const log = root.openDB<Buffer, Buffer>({ name: 'log', ...BINARY });
    const headsByShard = root.openDB<Buffer, Buffer>({ name: 'heads', useVersions: true, ...BINARY });
    const snapshots = root.openDB<Buffer, Buffer>({ name: 'snapshots', ...BINARY });
    const chunks = root.openDB<Buffer, Buffer>({ name: 'chunks', ...BINARY });
    const growth = new FileGrowth(join(folder, DATA_FILE), () => usedBytes(root));
    const commits = new Commits(root, growth, onStuck);
    const heads = new Heads(headsByShard, commits);
    this.growth = growth;
    this.wal = new LmdbWal(root, log, heads, commits, growth);
    this.snapshots = new LmdbSnapshots(heads, growth, { log, snapshots, chunks });
    this.meta = new LmdbMeta(meta, heads, commits, growth, this.wal);
    this.feeds = new LmdbFeedRecords(meta, commits, growth);
  }

  async mayBeShared(): Promise<never> {
    throw new Error('only one process at a time can open it');
  }

  /**
   * Opens the store. `onStuck` is called when only a new process can continue: either the disk failed in a way that
   * LMDB or lmdb does not survive, or a commit has not settled for half a minute.
   */
  static open(folder: string, onStuck: (why: string) => void = () => {}): LmdbStore {
    makeFolder(folder);
    return new LmdbStore(openEnvironment(folder), folder, onStuck);
  }

  /** True if the folder holds an LMDB environment, whatever its content. */
  static exists(folder: string): boolean {
    return existsSync(join(folder, DATA_FILE));
  }

  readonly server = undefined;

  async warnings(): Promise<readonly string[]> {
    return [];
  }

  async room(): Promise<StoreRoom> {
    const { bavail, bsize } = await statfs(this.folder);
    return { usedBytes: usedBytes(this.root), freeBytes: bavail * bsize };
  }

  async examine(): Promise<readonly CheckResult[]> {
    return await examineFolder(this.folder, await this.room());
  }

  async close(): Promise<void> {
    await this.snapshots.close();
    await this.growth.close();
    await this.root.close();
  }
}

/**
 * Creates folders one by one, because with `recursive` Node never returns if no folder can be created, for example
 * under /proc.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have created the folder first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
