import { must } from '../../../base/assert.js';
import { compareLsn, type Lsn } from '../../../ports/lsn.js';
import type { SnapshotStore, StoredSnapshot } from '../../../ports/snapshot-store.js';
import type { Append, AppendOutcome, EncodedEntry, Head, MakeFence, Takeover, Wal } from '../../../ports/wal.js';

/** A shard's log and newest snapshot. */
interface ShardFiles {
  /** At first, the head of an empty log. */
  newest: Head;
  /** The entries since the newest snapshot was begun. */
  entries: EncodedEntry[];
  snapshot: StoredSnapshot | undefined;
  chunks: Buffer[];
}

/** A store in memory, for a rehearsal. */
export class ScratchStore implements Wal, SnapshotStore {
  private readonly files: readonly ShardFiles[];

  constructor(shards: readonly number[], genesis: (shard: number) => Head) {
    this.files = shards.map((shard) => ({ newest: genesis(shard), entries: [], snapshot: undefined, chunks: [] }));
  }

  async fence(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    return shards.map((shard) => {
      const previous = this.of(shard).newest;
      const entry = makeFence(shard, previous, undefined);
      this.add(shard, [entry]);
      return { shard, previous, entry };
    });
  }

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    return appends.map(({ shard, entries }) => {
      this.add(shard, entries);
      return { type: 'ok' };
    });
  }

  /** Frees the memory of all logs and snapshots. */
  discard(): void {
    for (const files of this.files) {
      files.entries = [];
      files.snapshot = undefined;
      files.chunks = [];
    }
  }

  private add(shard: number, entries: readonly EncodedEntry[]): void {
    const files = this.of(shard);
    for (const entry of entries) {
      files.entries.push(entry);
      files.newest = entry.head;
    }
  }

  private of(shard: number): ShardFiles {
    return must(this.files[shard], 'a rehearsal uses its own shards');
  }

  appendQueueOf(): number {
    return 0;
  }

  async head(shard: number): Promise<Head> {
    return this.of(shard).newest;
  }

  async read(shard: number, after: Lsn): Promise<readonly Buffer[]> {
    return this.of(shard)
      .entries.filter(({ head }) => compareLsn(head.lsn, after) > 0)
      .map(({ bytes }) => bytes);
  }

  async snapshots(shard: number): Promise<readonly StoredSnapshot[]> {
    const { snapshot } = this.of(shard);
    return snapshot === undefined ? [] : [snapshot];
  }

  async readChunks(shard: number, _id: string, first: number, count: number): Promise<readonly Buffer[]> {
    return this.of(shard).chunks.slice(first, first + count);
  }

  async beginSnapshot(shard: number): Promise<boolean> {
    const files = this.of(shard);
    files.entries = [];
    files.chunks = [];
    return true;
  }

  async writeChunk(shard: number, _nonce: string, _id: string, index: number, bytes: Buffer): Promise<boolean> {
    this.of(shard).chunks[index] = bytes;
    return true;
  }

  async publishSnapshot(shard: number, _nonce: string, id: string, manifest: Buffer): Promise<boolean> {
    this.of(shard).snapshot = { id, manifest };
    return true;
  }

  async deleteSnapshot(): Promise<boolean> {
    return true;
  }

  async trimLog(): Promise<boolean> {
    return true;
  }
}
