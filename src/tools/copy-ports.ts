import type { Archive } from '../shard/archive/archive.js';
import type { Wal } from '../shard/log/wal.js';
import type { SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { StoreReader } from './store-reader.js';

/** The formats of one store. They check that each entry, chunk and manifest bears the id of the store. */
export type StoreFormats = Pick<StoreReader, 'storeId' | 'shards' | 'format' | 'snapshotFormat' | 'genesis'>;

/** A store to copy from, serving or not. Never written to. */
export type SourceStore = StoreFormats & Pick<StoreReader, 'wal' | 'snapshots' | 'archive'>;

/**
 * Opens the formats that a meta record names. Throws a `FormatError` when the record is damaged or newer than this
 * walletd.
 */
export type OpenFormats = (meta: Buffer) => StoreFormats & {
  /** Creation time of the store. Milliseconds. */
  readonly createdMs: number;
};

/** A store to copy into. */
export interface TargetStore
  extends Pick<Wal, 'append' | 'read'>,
    Pick<SnapshotStore, 'snapshots' | 'beginSnapshot' | 'writeChunk' | 'publishSnapshot' | 'deleteSnapshot'> {
  /**
   * Opens the archive for closed rounds. When undefined there is none, and a store with archived rounds cannot be
   * copied here.
   */
  readonly openArchive?: (storeId: string) => Promise<Pick<Archive, 'put' | 'raiseMark' | 'days'> | undefined>;
  /** Creates the store, not yet fit to serve. Returns false when the target is not empty. */
  createIncomplete(meta: Buffer): Promise<boolean>;
  /** Makes the store fit to serve. Durable when the promise resolves. */
  complete(meta: Buffer): Promise<void>;
}
