import type { Wal } from '../shard/log/wal.js';
import type { SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { StoreReader } from './store-reader.js';

/** How one store's bytes are read. Its id is in each entry, chunk and manifest, so the formats are those of this store. */
export type StoreFormats = Pick<StoreReader, 'storeId' | 'shards' | 'format' | 'snapshotFormat' | 'genesis'>;

/** A store to copy from, serving or not: it is only read. */
export type SourceStore = StoreFormats & Pick<StoreReader, 'wal' | 'snapshots'>;

/** The formats that a meta record asks for. Throws a `FormatError` when it is damaged or newer than this walletd. */
export type OpenFormats = (meta: Buffer) => StoreFormats & {
  /** When the store was created. Milliseconds. */
  readonly createdMs: number;
};

/** A store to copy into. */
export interface TargetStore
  extends Pick<Wal, 'append' | 'read'>,
    Pick<SnapshotStore, 'snapshots' | 'beginSnapshot' | 'writeChunk' | 'publishSnapshot' | 'deleteSnapshot'> {
  /** Creates it, not yet fit to serve; false when it is not empty. */
  createIncomplete(meta: Buffer): Promise<boolean>;
  /** From now on it may serve. Durable when it resolves. */
  complete(meta: Buffer): Promise<void>;
}
