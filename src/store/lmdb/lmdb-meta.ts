import type { Database } from 'lmdb';
import type { Head } from '../../ports/wal.js';
import { genesisHead } from '../format/entry-codec.js';
import { FormatError } from '../format/format-error.js';
import { decodeMeta, encodeMeta, type StoreMeta, withArchive } from '../meta.js';
import type { MetaStore } from '../store.js';
import type { Commits } from './commits.js';
import type { FileGrowth } from './file-growth.js';
import type { Heads } from './heads.js';
import type { LmdbWal } from './lmdb-wal.js';

const META_KEY = Buffer.from('meta');

/** The meta record of an LMDB store. */
export class LmdbMeta implements MetaStore {
  constructor(
    private readonly database: Database<Buffer, Buffer>,
    private readonly heads: Heads,
    private readonly commits: Commits,
    private readonly growth: FileGrowth,
    private readonly wal: LmdbWal,
  ) {}

  async tryRead(): Promise<StoreMeta | undefined> {
    const bytes = this.database.get(META_KEY);
    return bytes === undefined ? undefined : decodeMeta(bytes);
  }

  async peek(): Promise<StoreMeta | undefined> {
    return await this.tryRead();
  }

  async create(meta: StoreMeta): Promise<boolean> {
    await this.growth.room(0, meta.shards);
    return await this.database.ifNoExists(META_KEY, () => {
      this.database.put(META_KEY, encodeMeta(meta));
      for (let shard = 0; shard < meta.shards; shard++) {
        this.heads.put(shard, genesisHead(meta.storeId, shard));
      }
    });
  }

  async complete(meta: StoreMeta): Promise<void> {
    await this.growth.room(0, 1);
    await this.commits.completed(this.database.put(META_KEY, encodeMeta(meta)));
  }

  async replaceArchive(expected: string | undefined, archiveId: string | undefined): Promise<StoreMeta> {
    await this.growth.room(0, 1);
    return this.database.transactionSync(() => {
      const bytes = this.database.get(META_KEY);
      if (bytes === undefined) throw new FormatError('the store has no meta record');
      const meta = decodeMeta(bytes);
      if (meta.archiveId !== expected) return meta;
      const replaced = withArchive(meta, archiveId);
      this.database.put(META_KEY, encodeMeta(replaced));
      return replaced;
    });
  }

  async discard(meta: StoreMeta, heads: readonly Head[]): Promise<boolean> {
    await this.growth.room(0, heads.length);
    return await this.wal.discard(heads, () => {
      const bytes = this.database.get(META_KEY);
      if (bytes === undefined || decodeMeta(bytes).storeId !== meta.storeId) return false;
      this.database.remove(META_KEY);
      return true;
    });
  }

  /** Always allowed: a process that can open the folder can write everything in it. */
  async checkDiscard(): Promise<void> {}
}
