import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { must } from '../../base/assert.js';
import type { Lsn } from '../../shard/lsn.js';
import {
  type Append,
  type AppendOutcome,
  type Fenced,
  type Head,
  isSameHead,
  type SealedEntry,
  type SealFence,
} from '../../shard/ports.js';
import { decodeHead, encodeHead, genesisHead } from '../format/entry-codec.js';
import { decodeMeta, encodeMeta, type StoreMeta } from '../meta.js';
import type { Store } from '../store.js';
import { FileGrowth } from './file-growth.js';

const META_KEY = Buffer.from('meta');
const DATA_FILE = 'data.mdb';
/** Address space, not memory. With room from the start LMDB never has to map the file anew while it serves. */
const MAP_BYTES = 64 * 1024 ** 3;
const STUCK_MS = 30_000;
const OK: AppendOutcome = { type: 'ok' };
const DUPLICATE: AppendOutcome = { type: 'duplicate' };

/**
 * The embedded store: one LMDB environment in a folder, three databases.
 *
 *   meta   "meta"                            -> StoreMeta as JSON
 *   heads  shard u16                         -> Head, with a version that `ifVersion` compares
 *   log    shard u16, epoch u32, sequence u64 -> entry
 *
 * A head and its entry are written in one transaction, on condition that the head's version is the one this owner
 * knows: a compare-and-set that holds between processes too.
 *
 * `overlappingSync` is off: then a put resolves after LMDB's own commit, which syncs the data and then writes the meta
 * page through a descriptor opened with O_DSYNC. With it on (lmdb's default) a put resolves before any sync, `flushed`
 * never settles when the sync fails, and a round takes just as long (0.35 ms measured both ways).
 */
export class LmdbStore implements Store {
  readonly canLoseTail = false;

  private constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly metas: Database<Buffer, Buffer>,
    private readonly heads: Database<Buffer, Buffer>,
    private readonly log: Database<Buffer, Buffer>,
    private readonly growth: FileGrowth,
    private readonly onStuck: () => void,
  ) {}

  /**
   * `onStuck` is called when a commit has neither succeeded nor failed for half a minute: after some errors of the disk
   * LMDB takes no transaction any more, and lmdb never says so. Then only another process can go on.
   */
  static open(folder: string, onStuck: () => void = () => {}): LmdbStore {
    const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
    mkdirSync(folder, { recursive: true });
    const options = { path: folder, noSubdir: false, overlappingSync: false, mapSize: MAP_BYTES, maxDbs: 4, ...binary };
    const root = open<Buffer, Buffer>(options);
    return new LmdbStore(
      root,
      root.openDB<Buffer, Buffer>({ name: 'meta', ...binary }),
      root.openDB<Buffer, Buffer>({ name: 'heads', useVersions: true, ...binary }),
      root.openDB<Buffer, Buffer>({ name: 'log', ...binary }),
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
    return await this.metas.ifNoExists(META_KEY, () => {
      this.metas.put(META_KEY, encodeMeta(meta));
      for (let shard = 0; shard < meta.shards; shard++) {
        const head = genesisHead(meta.storeId, shard);
        this.heads.put(headKey(shard), encodeHead(head), versionOf(head));
      }
    });
  }

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
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
    this.handleBatchPromise();
    const watchdog = setTimeout(this.onStuck, STUCK_MS);
    const results = await Promise.all(outcomes);
    clearTimeout(watchdog);
    this.growth.committed();
    return results;
  }

  /** In one transaction, so that no owner's append comes between the head and its fence, however busy it is. */
  async fence(shards: readonly number[], seal: SealFence): Promise<readonly Fenced[]> {
    return this.root.transactionSync(() =>
      shards.map((shard) => {
        const previous = this.mustHead(shard);
        const entry = seal(shard, previous, this.log.get(entryKey(shard, previous.lsn)));
        this.heads.put(headKey(shard), encodeHead(entry.head), versionOf(entry.head));
        this.log.put(entryKey(shard, entry.head.lsn), entry.bytes);
        return { shard, previous, entry };
      }),
    );
  }

  async head(shard: number): Promise<Head> {
    return this.mustHead(shard);
  }

  async read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]> {
    const start = entryKey(shard, { epoch: after.epoch, sequence: after.sequence + 1 });
    const end = entryKey(shard + 1, { epoch: 0, sequence: 0 });
    const entries: Buffer[] = [];
    // No snapshot: a long read must not keep the pages of everything that is freed meanwhile.
    for (const { value } of this.log.getRange({ start, end, limit, snapshot: false })) entries.push(Buffer.from(value));
    return entries;
  }

  async close(): Promise<void> {
    await this.growth.close();
    await this.root.close();
  }

  private async write(shard: number, expected: Head, entries: readonly SealedEntry[]): Promise<AppendOutcome> {
    const { head } = entries[entries.length - 1] as SealedEntry;
    try {
      const written = await this.heads.ifVersion(headKey(shard), versionOf(expected), () => {
        this.heads.put(headKey(shard), encodeHead(head), versionOf(head));
        for (const entry of entries) this.log.put(entryKey(shard, entry.head.lsn), entry.bytes);
      });
      if (written) return OK;
      const found = this.mustHead(shard);
      if (!isSameHead(found, head)) return { type: 'conflict', head: found };
      // It got through when its commit was reported as failed. Only a commit of our own says that it is synced.
      await this.rewriteHead(shard, head);
      return DUPLICATE;
    } catch (error) {
      return { type: 'failed', error: await causeOf(error) };
    }
  }

  private async rewriteHead(shard: number, head: Head): Promise<void> {
    const key = headKey(shard);
    const written = this.heads.ifVersion(key, versionOf(head), () => {
      this.heads.put(key, encodeHead(head), versionOf(head));
    });
    this.handleBatchPromise();
    await written;
  }

  private compare(shard: number, expected: Head): AppendOutcome {
    const head = this.mustHead(shard);
    return isSameHead(head, expected) ? OK : { type: 'conflict', head };
  }

  private mustHead(shard: number): Head {
    return decodeHead(must(this.heads.get(headKey(shard)), `the store has a log for shard ${shard}`));
  }

  /**
   * lmdb wraps the writes of an event turn into a batch whose own promise it gives to nobody; when a commit fails, that
   * promise rejects unheard and ends the process. It is made in an immediate that lmdb queued before this one.
   */
  private handleBatchPromise(): void {
    setImmediate(() => {
      const ignore = () => {};
      void this.root.committed.then(ignore, ignore);
    });
  }
}

/**
 * The version that stands for a head: 52 bits of a double, 20 of the sequence and all 32 of the checksum. The checksum
 * covers nonce, place and content, so two different heads of one log never meet with the same version in practice, and
 * never at all when neighbours.
 */
function versionOf(head: Head): number {
  return (head.lsn.sequence % 2 ** 20) * 2 ** 32 + head.checksum + 1;
}

function usedBytes(root: RootDatabase): number {
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number };
  return (lastPageNumber + 1) * pageSize;
}

function headKey(shard: number): Buffer {
  const key = Buffer.allocUnsafe(2);
  key.writeUInt16BE(shard, 0);
  return key;
}

function entryKey(shard: number, lsn: Lsn): Buffer {
  const key = Buffer.allocUnsafe(14);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(lsn.epoch, 2);
  key.writeUInt16BE(0, 6);
  key.writeUIntBE(lsn.sequence, 8, 6); // the largest that Buffer writes as one number is 6 bytes
  return key;
}

/** lmdb says "see commitError", which is a promise that rejects with what happened. */
async function causeOf(error: unknown): Promise<Error> {
  const { commitError } = error as { commitError?: Promise<never> };
  try {
    await commitError;
  } catch (cause) {
    return cause as Error;
  }
  return error as Error;
}
