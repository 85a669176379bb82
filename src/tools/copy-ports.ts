import type { Archive } from '../shard/archive/archive.js';
import type { Wal } from '../shard/log/wal.js';
import type { SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { StoreReader } from './store-reader.js';

/** The formats of one store: they check that each entry, chunk and manifest bears its id. */
export type StoreFormats = Pick<StoreReader, 'storeId' | 'shards' | 'format' | 'snapshotFormat' | 'genesis'>;

/** A store to copy from, serving or not. It is only read. */
export type SourceStore = StoreFormats & Pick<StoreReader, 'wal' | 'snapshots' | 'archive'>;

/** Opens the formats that a meta record names. Throws a `FormatError` when it is damaged or newer than this walletd. */
export type OpenFormats = (meta: Buffer) => StoreFormats & {
  /** When the store was created. Milliseconds. */
  readonly createdMs: number;
};

/** A store to copy into. */
export interface TargetStore
  extends Pick<Wal, 'append' | 'read'>,
    Pick<SnapshotStore, 'snapshots' | 'beginSnapshot' | 'writeChunk' | 'publishSnapshot' | 'deleteSnapshot'> {
  /** Opens where closed rounds go; undefined: nowhere, and a store that has some elsewhere cannot be copied here. */
  readonly openArchive?: (storeId: string) => Promise<Pick<Archive, 'put' | 'raiseMark' | 'days'> | undefined>;
  /** Creates the store, not yet fit to serve; false when it is not empty. */
  createIncomplete(meta: Buffer): Promise<boolean>;
  /** Makes the store fit to serve. Durable when it resolves. */
  complete(meta: Buffer): Promise<void>;
}
