import type { SnapshotFormat } from '../../ports/snapshot-store.js';
import type { EntryFormat, Head } from '../../ports/wal.js';
import { decodeMeta, type StoreMeta } from '../meta.js';
import { EntryCodec, genesisHead } from './entry-codec.js';
import { SnapshotCodec } from './snapshot-codec.js';

/** Decoders for one store. Each entry, chunk and manifest contains the store's id. */
export interface StoreFormats extends Pick<StoreMeta, 'storeId' | 'createdMs' | 'shards'> {
  readonly format: EntryFormat;
  readonly snapshotFormat: SnapshotFormat;
  readonly genesis: (shard: number) => Head;
}

export function formatsOf({ storeId, createdMs, shards }: StoreMeta): StoreFormats {
  return {
    storeId,
    createdMs,
    shards,
    format: new EntryCodec(storeId),
    snapshotFormat: new SnapshotCodec(storeId),
    genesis: (shard) => genesisHead(storeId, shard),
  };
}

/**
 * Decoders for the store with this meta record. Throws a `FormatError` if the record is damaged or newer than this
 * walletd.
 */
export function openFormats(meta: Buffer): StoreFormats {
  return formatsOf(decodeMeta(meta));
}
