import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { LSN_ZERO, type Lsn } from '../../shard/log/lsn.js';
import {
  type Append,
  type AppendOutcome,
  type Head,
  isSameHead,
  type SealedEntry,
  type SealFence,
  type Takeover,
} from '../../shard/log/wal.js';
import type { StoredSnapshot } from '../../shard/snapshot/snapshot-store.js';
import { genesisHead } from '../format/entry-codec.js';
import { decodeMeta, encodeMeta, type StoreMeta } from '../meta.js';
import type { Store } from '../store.js';
import { Commits } from './commits.js';
import { BINARY, DATA_FILE, openEnvironment, usedBytes } from './environment.js';
import { FileGrowth } from './file-growth.js';
import { Heads } from './heads.js';
import { entryKey } from './keys.js';
import { LmdbSnapshots } from './lmdb-snapshots.js';

const META_KEY = Buffer.from('meta');
const OK: AppendOutcome = { type: 'ok' };
const DUPLICATE: AppendOutcome = { type: 'duplicate' };

/**
 * The embedded store: one LMDB environment in a folder, five databases.
 *
 *   meta       "meta"                             -> StoreMeta as JSON
 *   heads      shard u16                          -> Head, with a version that `ifVersion` compares
 *   log        shard u16, epoch u32, sequence u64 -> entry
 *   snapshots  shard u16, id 8 bytes              -> manifest; empty while unfinished
 *   chunks     shard u16, id 8 bytes, index u32   -> chunk
 *
 * A head and its entry are written in one transaction, on condition that the head's version is the one this owner
 * knows: a compare-and-set that holds between processes too.
 */
export class LmdbStore implements Store {
  readonly canLoseTail = false;

  private readonly commits: Commits;
  private readonly heads: Heads;
  private readonly stored: LmdbSnapshots;

  private constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly metas: Database<Buffer, Buffer>,
    private readonly log: Database<Buffer, Buffer>,
    databases: Record<'heads' | 'snapshots' | 'chunks', Database<Buffer, Buffer>>,
    private readonly growth: FileGrowth,
    onStuck: (why: string) => void,
  ) {
    this.commits = new Commits(root, growth, onStuck);
    this.heads = new Heads(databases.heads, this.commits);
    this.stored = new LmdbSnapshots(this.heads, growth, { log, ...databases });
  }

  /**
   * `onStuck` is called when only another process can go on: when the disk has failed in a way that LMDB or lmdb does
   * not survive, and when a commit has neither succeeded nor failed for half a minute.
   */
  static open(folder: string, onStuck: (why: string) => void = () => {}): LmdbStore {
    makeFolder(folder);
    const root = openEnvironment(folder);
    return new LmdbStore(
      root,
      root.openDB<Buffer, Buffer>({ name: 'meta', ...BINARY }),
      root.openDB<Buffer, Buffer>({ name: 'log', ...BINARY }),
      {
        heads: root.openDB<Buffer, Buffer>({ name: 'heads', useVersions: true, ...BINARY }),
        snapshots: root.openDB<Buffer, Buffer>({ name: 'snapshots', ...BINARY }),
        chunks: root.openDB<Buffer, Buffer>({ name: 'chunks', ...BINARY }),
      },
      new FileGrowth(join(folder, DATA_FILE), () => usedBytes(root)),
      onStuck,
    );
  }

  /** True when the folder holds an LMDB environment, of whatever content. */
  static exists(folder: string): boolean {
    return existsSync(join(folder, DATA_FILE));
  }

  /** Undefined in an empty store. */
  async maybeMeta(): Promise<StoreMeta | undefined> {
    const bytes = this.metas.get(META_KEY);
    return bytes === undefined ? undefined : decodeMeta(bytes);
  }

  /** Creates meta record and logs; false when another process was faster or the store is there already. */
  async create(meta: StoreMeta): Promise<boolean> {
    await this.growth.room(0, meta.shards);
    return await this.metas.ifNoExists(META_KEY, () => {
      this.metas.put(META_KEY, encodeMeta(meta));
      for (let shard = 0; shard < meta.shards; shard++) {
        this.heads.put(shard, genesisHead(meta.storeId, shard));
      }
    });
  }

  async complete(meta: StoreMeta): Promise<void> {
    await this.growth.room(0, 1);
    await this.commits.landed(this.metas.put(META_KEY, encodeMeta(meta)));
  }

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    const room = this.growth.room(bytesOf(appends), appends.length);
    if (room !== undefined) {
      try {
        await room;
      } catch (error) {
        return appends.map(() => ({ type: 'failed', error: error as Error }));
      }
    }
    const outcomes: (AppendOutcome | Promise<AppendOutcome>)[] = [];
    // Heads are compared as they are now, not as they were when this turn's read transaction began.
    this.root.resetReadTxn();
    let writes = 0;
    for (const { shard, expected, entries } of appends) {
      if (entries.length === 0) {
        outcomes.push(this.compare(shard, expected));
      } else {
        outcomes.push(this.write(shard, expected, entries));
        writes++;
      }
    }
    if (writes === 0) return await Promise.all(outcomes);
    return await this.commits.landed(Promise.all(outcomes));
  }

  /** In one transaction, so that no owner's append comes between the head and its fence, however busy it is. */
  async fence(shards: readonly number[], seal: SealFence): Promise<readonly Takeover[]> {
    await this.growth.roomToRemove(shards.length);
    return this.root.transactionSync(() =>
      shards.map((shard) => {
        const previous = this.heads.must(shard);
        const entry = seal(shard, previous, this.log.get(entryKey(shard, previous.lsn)));
        this.heads.put(shard, entry.head);
        this.log.put(entryKey(shard, entry.head.lsn), entry.bytes);
        return { shard, previous, entry };
      }),
    );
  }

  async head(shard: number): Promise<Head> {
    return this.heads.must(shard);
  }

  async read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]> {
    const start = entryKey(shard, { epoch: after.epoch, sequence: after.sequence + 1 });
    const end = entryKey(shard + 1, LSN_ZERO);
    const entries: Buffer[] = [];
    // No snapshot: a long read must not keep the pages of everything that is freed meanwhile.
    for (const { value } of this.log.getRange({ start, end, limit, snapshot: false })) entries.push(value);
    return entries;
  }

  snapshots(shard: number): Promise<readonly StoredSnapshot[]> {
    return this.stored.snapshots(shard);
  }

  readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]> {
    return this.stored.readChunks(shard, id, first, count);
  }

  beginSnapshot(shard: number, nonce: string, id: string): Promise<boolean> {
    return this.stored.beginSnapshot(shard, nonce, id);
  }

  writeChunk(shard: number, nonce: string, id: string, index: number, bytes: Buffer): Promise<boolean> {
    return this.stored.writeChunk(shard, nonce, id, index, bytes);
  }

  publishSnapshot(shard: number, nonce: string, id: string, manifest: Buffer): Promise<boolean> {
    return this.stored.publishSnapshot(shard, nonce, id, manifest);
  }

  deleteSnapshot(shard: number, nonce: string, kept: readonly StoredSnapshot[], id: string): Promise<boolean> {
    return this.stored.deleteSnapshot(shard, nonce, kept, id);
  }

  trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean> {
    return this.stored.trimLog(shard, nonce, kept, before);
  }

  async close(): Promise<void> {
    await this.stored.close();
    await this.growth.close();
    await this.root.close();
  }

  private async write(shard: number, expected: Head, entries: readonly SealedEntry[]): Promise<AppendOutcome> {
    const { head } = entries[entries.length - 1] as SealedEntry;
    try {
      const written = await this.heads.replace(shard, expected, head, () => {
        for (const entry of entries) this.log.put(entryKey(shard, entry.head.lsn), entry.bytes);
      });
      if (written) return OK;
      const found = this.heads.newest(shard);
      if (!isSameHead(found, head)) return { type: 'conflict', head: found };
      // It got through when its commit was reported as failed. Only a commit of our own says that it is synced.
      await this.commits.landed(this.heads.replace(shard, head, head, () => {}));
      return DUPLICATE;
    } catch (error) {
      return { type: 'failed', error: error as Error };
    }
  }

  private compare(shard: number, expected: Head): AppendOutcome {
    const head = this.heads.must(shard);
    return isSameHead(head, expected) ? OK : { type: 'conflict', head };
  }
}

/** Folder by folder: Node's `recursive` never ends where no folder can be made, as under /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function bytesOf(appends: readonly Append[]): number {
  let bytes = 0;
  for (const { entries } of appends) for (const entry of entries) bytes += entry.bytes.length;
  return bytes;
}
