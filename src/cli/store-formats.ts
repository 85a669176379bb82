import { EntryCodec, genesisHead } from '../store/format/entry-codec.js';
import { SnapshotCodec } from '../store/format/snapshot-codec.js';
import { decodeMeta, type StoreMeta } from '../store/meta.js';
import type { OpenFormats } from '../tools/ports.js';

/** How the bytes of a store are read that has this record. */
export function formatsOf({ storeId, shards, createdMs }: StoreMeta): ReturnType<OpenFormats> {
  return {
    storeId,
    createdMs,
    shards,
    format: new EntryCodec(storeId),
    snapshotFormat: new SnapshotCodec(storeId),
    genesis: (shard) => genesisHead(storeId, shard),
  };
}

export const openFormats: OpenFormats = (bytes) => formatsOf(decodeMeta(bytes));
