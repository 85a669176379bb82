import type { OpenFormats } from '../restore/ports.js';
import { EntryCodec, genesisHead } from '../store/format/entry-codec.js';
import { SnapshotCodec } from '../store/format/snapshot-codec.js';
import { decodeMeta } from '../store/meta.js';

export const openFormats: OpenFormats = (bytes) => {
  const { storeId, shards } = decodeMeta(bytes);
  return {
    storeId,
    shards,
    format: new EntryCodec(storeId),
    snapshotFormat: new SnapshotCodec(storeId),
    genesis: (shard) => genesisHead(storeId, shard),
  };
};
