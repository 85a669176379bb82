import { setImmediate as yieldTurn } from 'node:timers/promises';
import { formatsOf } from '../../store/format/store-formats.js';
import { decodeMeta, type StoreMeta } from '../../store/meta.js';
import { shardOf } from '../../threads/placement.js';
import type { StoreReader } from '../../tools/store-reader.js';
import { ScaleTable } from '../../wallet/amount.js';

type Contents = Pick<StoreReader, 'wal' | 'snapshots' | 'archive'>;

/** Read access to a store for tools, with the shard count and scales with which the store was created. */
export function readerOf({ wal, snapshots }: Contents, meta: StoreMeta, archive?: Contents['archive']): StoreReader {
  return { ...formatsToRead(meta), wal, snapshots, archive };
}

/**
 * The formats by which a reader decodes the store, without access to the store itself. Throws a `FormatError` if the
 * meta record is damaged or newer than this walletd.
 */
export function readerFormats(meta: Buffer): Omit<StoreReader, keyof Contents> {
  return formatsToRead(decodeMeta(meta));
}

function formatsToRead(meta: StoreMeta): Omit<StoreReader, keyof Contents> {
  return {
    ...formatsOf(meta),
    scales: new ScaleTable(meta.scales),
    timelines: meta.timelines,
    shardOf: (username) => shardOf(username, meta.shards),
    yieldTurn,
  };
}
