import type { Database, RootDatabase } from 'lmdb';
import { LSN_ZERO, type Lsn } from '../../ports/lsn.js';
import {
  type Append,
  type AppendOutcome,
  type EncodedEntry,
  type Head,
  isSameHead,
  type MakeFence,
  type Takeover,
  type Wal,
} from '../../ports/wal.js';
import type { Commits } from './commits.js';
import type { FileGrowth } from './file-growth.js';
import type { Heads } from './heads.js';
import { entryKey } from './keys.js';

const OK: AppendOutcome = { type: 'ok' };
const DUPLICATE: AppendOutcome = { type: 'duplicate' };

/**
 * The logs of an LMDB store. A head and its entry are written in one transaction, on the condition that the head has
 * the version that this owner knows. This compare-and-set also holds between processes.
 */
export class LmdbWal implements Wal {
  constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly log: Database<Buffer, Buffer>,
    private readonly heads: Heads,
    private readonly commits: Commits,
    private readonly growth: FileGrowth,
  ) {}

  appendQueueOf(): number {
    return 0;
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
    // Compare the current heads, not those of this turn's read transaction.
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
    return await this.commits.completed(Promise.all(outcomes));
  }

  /**
   * Fences the shards in one transaction, so that no append can come between reading a head and fencing it, however
   * busy the shard's owner is.
   */
  async fence(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    await this.growth.roomToRemove(shards.length);
    return this.root.transactionSync(() =>
      shards.map((shard) => {
        const previous = this.heads.must(shard);
        const entry = makeFence(shard, previous, this.log.get(entryKey(shard, previous.lsn)));
        this.heads.put(shard, entry.head);
        this.log.put(entryKey(shard, entry.head.lsn), entry.bytes);
        return { shard, previous, entry };
      }),
    );
  }

  /**
   * Removes the logs that end in these heads, and what `also` removes, in one transaction. Removes nothing if `also`
   * returns false.
   */
  async discard(heads: readonly Head[], also: () => boolean): Promise<boolean> {
    await this.growth.roomToRemove(heads.length);
    return this.root.transactionSync(() => {
      if (!heads.every((head, shard) => isSameHead(head, this.heads.must(shard))) || !also()) return false;
      const [start, end] = [entryKey(0, LSN_ZERO), entryKey(heads.length, LSN_ZERO)];
      for (const key of [...this.log.getKeys({ start, end })]) this.log.remove(key);
      for (const shard of heads.keys()) this.heads.remove(shard);
      return true;
    });
  }

  async head(shard: number): Promise<Head> {
    return this.heads.must(shard);
  }

  async read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]> {
    const start = entryKey(shard, { epoch: after.epoch, sequence: after.sequence + 1 });
    const end = entryKey(shard + 1, LSN_ZERO);
    const entries: Buffer[] = [];
    // Read without an LMDB snapshot, because a snapshot held for a long read would prevent LMDB from reusing freed
    // pages.
    for (const { value } of this.log.getRange({ start, end, limit, snapshot: false })) entries.push(value);
    return entries;
  }

  private async write(shard: number, expected: Head, entries: readonly EncodedEntry[]): Promise<AppendOutcome> {
    const { head } = entries[entries.length - 1] as EncodedEntry;
    try {
      const written = await this.heads.replace(shard, expected, head, () => {
        for (const entry of entries) this.log.put(entryKey(shard, entry.head.lsn), entry.bytes);
      });
      if (written) return OK;
      const found = this.heads.newest(shard);
      if (!isSameHead(found, head)) return { type: 'conflict', head: found };
      // An earlier attempt wrote the entry although its commit was reported as failed. Commit the head again, because
      // only our own commit proves that the entry was synced.
      await this.commits.completed(this.heads.replace(shard, head, head, () => {}));
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

function bytesOf(appends: readonly Append[]): number {
  let bytes = 0;
  for (const { entries } of appends) for (const entry of entries) bytes += entry.bytes.length;
  return bytes;
}
