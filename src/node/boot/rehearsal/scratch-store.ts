import { compareLsn, type Lsn } from '../../../ports/lsn.js';
import type { SnapshotStore, StoredSnapshot } from '../../../ports/snapshot-store.js';
import type { Append, AppendOutcome, EncodedEntry, Head, MakeFence, Takeover, Wal } from '../../../ports/wal.js';

/** A store in memory with one log, for a rehearsal. It keeps the newest snapshot and the entries after its beginning. */
export class ScratchStore implements Wal, SnapshotStore {
  private entries: EncodedEntry[] = [];
  private snapshot: StoredSnapshot | undefined = undefined;
  private chunks: Buffer[] = [];

  /** `newest` is the log's head; at first, the head of an empty log. */
  constructor(private newest: Head) {}

  async fence(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    return shards.map((shard) => {
      const previous = this.newest;
      const entry = makeFence(shard, previous, undefined);
      this.add([entry]);
      return { shard, previous, entry };
    });
  }

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    return appends.map(({ entries }) => {
      this.add(entries);
      return { type: 'ok' };
    });
  }

  private add(entries: readonly EncodedEntry[]): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.newest = entry.head;
    }
  }

  appendQueueOf(): number {
    return 0;
  }

  async head(): Promise<Head> {
    return this.newest;
  }

  async read(_shard: number, after: Lsn): Promise<readonly Buffer[]> {
    return this.entries.filter(({ head }) => compareLsn(head.lsn, after) > 0).map(({ bytes }) => bytes);
  }

  async snapshots(): Promise<readonly StoredSnapshot[]> {
    return this.snapshot === undefined ? [] : [this.snapshot];
  }

  async readChunks(_shard: number, _id: string, first: number, count: number): Promise<readonly Buffer[]> {
    return this.chunks.slice(first, first + count);
  }

  async beginSnapshot(): Promise<boolean> {
    this.entries = [];
    this.chunks = [];
    return true;
  }

  async writeChunk(_shard: number, _nonce: string, _id: string, index: number, bytes: Buffer): Promise<boolean> {
    this.chunks[index] = bytes;
    return true;
  }

  async publishSnapshot(_shard: number, _nonce: string, id: string, manifest: Buffer): Promise<boolean> {
    this.snapshot = { id, manifest };
    return true;
  }

  async deleteSnapshot(): Promise<boolean> {
    return true;
  }

  async trimLog(): Promise<boolean> {
    return true;
  }
}
