import { FeedConsumers } from '../../src/node/jobs/feed/feed-consumers.js';
import type { FeedRecords } from '../../src/ports/feed-records.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { shardOf } from '../../src/threads/placement.js';
import { Feeds } from '../../src/tools/feed/feeds.js';
import type { StoreReader } from '../../src/tools/store-reader.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import type { Random } from './random.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { SimulatedStore } from './simulated-store.js';

/** The part of the event feed that all nodes share. */
export interface SharedFeed {
  readonly records: Map<string, string>;
  readonly random: Random;
}

const RECORDS_SERVER = 0;
const ID_DIGITS = 16;
const SCALES = new ScaleTable({ default: 4, byCurrency: {} });

/** The event feed as one node serves it: the real code, in a process that ends with the node's. */
export class SimulatedFeeds {
  readonly feeds: Feeds;
  readonly consumers: FeedConsumers;

  constructor(
    store: SimulatedStore,
    { records: shared, random }: SharedFeed,
    process: SimulatedProcess,
    isCut: (server: number) => boolean,
  ) {
    const { storeId, shardCount } = store;
    const access = store.accessOf(process, isCut, random);
    const reader: StoreReader = {
      storeId,
      shards: shardCount,
      scales: SCALES,
      wal: access,
      format: new EntryCodec(storeId),
      snapshots: access,
      snapshotFormat: new SnapshotCodec(storeId),
      genesis: (shard) => genesisHead(storeId, shard),
      shardOf: (username) => shardOf(username, shardCount),
      yieldTurn: async () => {},
    };
    const call = <T>(run: () => T, waitsMs = 0) => store.call(process, RECORDS_SERVER, isCut, run, waitsMs, random);
    const replicated = <T>(run: () => T) => call(run, store.replicationMsMax(RECORDS_SERVER));
    const records: FeedRecords = {
      all: () => call(() => new Map(shared)),
      put: (key, text) => replicated(() => void shared.set(key, text)),
      remove: (keys) =>
        replicated(() => {
          for (const key of keys) shared.delete(key);
        }),
      settle: (shards) => access.settle(shards),
    };
    this.feeds = new Feeds({
      reader,
      records,
      now: () => process.now(),
      monotonicMs: () => process.monotonicMs(),
      newId: () => random.hex(ID_DIGITS),
      pause: (ms) => new Promise((resolve) => void process.after(ms, resolve)),
    });
    const room = async () => ({ usedBytes: 0, freeBytes: undefined });
    this.consumers = new FeedConsumers({ feeds: records, room }, reader);
  }
}
