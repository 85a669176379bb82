import { compareLsn, type Lsn } from '../../../ports/lsn.js';
import type { SnapshotStore, StoredSnapshot } from '../../../ports/snapshot-store.js';
import type { Append, AppendOutcome, Head, MakeFence, Takeover, Wal } from '../../../ports/wal.js';

/** A store with one log, for a rehearsal. It keeps the log's head and its fence, and drops every other entry. */
export class ScratchStore implements Wal, SnapshotStore {
  private fenced: Takeover | undefined = undefined;

  /** `newest` is the log's head; at first, the head of an empty log. */
  constructor(private newest: Head) {}

  async fence(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    return shards.map((shard) => {
      const entry = makeFence(shard, this.newest, undefined);
      const fenced: Takeover = { shard, previous: this.newest, entry };
      this.newest = entry.head;
      this.fenced = fenced;
      return fenced;
    });
  }

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    return appends.map(({ entries }) => {
      this.newest = entries.at(-1)?.head ?? this.newest;
      return { type: 'ok' };
    });
  }

  appendQueueOf(): number {
    return 0;
  }

  async head(): Promise<Head> {
    return this.newest;
  }

  async read(_shard: number, after: Lsn): Promise<readonly Buffer[]> {
    const { fenced } = this;
    return fenced === undefined || compareLsn(fenced.entry.head.lsn, after) <= 0 ? [] : [fenced.entry.bytes];
  }

  async snapshots(): Promise<readonly StoredSnapshot[]> {
    return [];
  }

  async readChunks(): Promise<readonly undefined[]> {
    return [];
  }

  async beginSnapshot(): Promise<boolean> {
    return false;
  }

  async writeChunk(): Promise<boolean> {
    return false;
  }

  async publishSnapshot(): Promise<boolean> {
    return false;
  }

  async deleteSnapshot(): Promise<boolean> {
    return false;
  }

  async trimLog(): Promise<boolean> {
    return false;
  }
}
