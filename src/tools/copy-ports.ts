import type { Archive } from '../ports/archive.js';
import type { SnapshotStore } from '../ports/snapshot-store.js';
import type { Wal } from '../ports/wal.js';
import type { StoreReader } from './store-reader.js';

/** Formats of one store. They verify that each entry, chunk and manifest carries the id of that store. */
export type StoreFormats = Pick<StoreReader, 'storeId' | 'shards' | 'format' | 'snapshotFormat' | 'genesis'>;

/** The store to copy from, whether or not it is being served. It is never modified. */
export type SourceStore = StoreFormats & Pick<StoreReader, 'wal' | 'snapshots' | 'archive'>;

/**
 * Opens the formats named by a meta record. Throws a `FormatError` if the record is damaged or requires a newer
 * walletd.
 */
export type OpenFormats = (meta: Buffer) => StoreFormats & {
  /** Creation time of the store, in ms. */
  readonly createdMs: number;
};

/** The store to copy into. */
export interface TargetStore
  extends Pick<Wal, 'append' | 'read'>,
    Pick<SnapshotStore, 'snapshots' | 'beginSnapshot' | 'writeChunk' | 'publishSnapshot' | 'deleteSnapshot'> {
  /**
   * Opens the archive for closed rounds. Undefined if there is no archive; then a store with archived rounds cannot be
   * copied into this target.
   */
  readonly openArchive?: (storeId: string) => Promise<Pick<Archive, 'put' | 'raiseMark' | 'days'> | undefined>;
  /** Creates the store and marks it as not ready to serve. Returns false if the target is not empty. */
  createIncomplete(meta: Buffer): Promise<boolean>;
  /** Marks the store as ready to serve. Durable when the promise resolves. */
  complete(meta: Buffer): Promise<void>;
}
