import type { Lsn } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import type { StoreMeta } from '../../src/store/meta.js';

/** Logs of a store, read according to FORMAT.md without any code that appends or recovers. */
export interface StoredLog {
  meta(): Promise<StoreMeta>;
  head(shard: number): Promise<Head>;
  /** Returns up to `limit` entries after `after`, in order. */
  entries(shard: number, after: Lsn, limit: number): Promise<Buffer[]>;
}

/** A store whose bytes can be read and damaged while any process serves from it. */
export interface RawStore extends StoredLog {
  /** The value of WALLETD_STORE. */
  readonly url: string;
  putEntry(shard: number, lsn: Lsn, bytes: Buffer): Promise<void>;
  removeEntry(shard: number, lsn: Lsn): Promise<void>;
  putHead(shard: number, head: Head): Promise<void>;
  removeHead(shard: number): Promise<void>;
  /** Manifests by ID; empty for an unfinished snapshot. */
  manifests(shard: number): Promise<Map<string, Buffer>>;
  putManifest(shard: number, id: string, bytes: Buffer): Promise<void>;
  chunk(shard: number, id: string, index: number): Promise<Buffer | undefined>;
  putChunk(shard: number, id: string, index: number, bytes: Buffer): Promise<void>;
  removeChunk(shard: number, id: string, index: number): Promise<void>;
  /** Entire contents of the store, as text. */
  dump(): Promise<string[]>;
}
