import { randomUUID } from 'node:crypto';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { feedRecordsContract, type RecordsUnderTest } from './feed-records-contract.js';
import { feedRetentionContract } from './feed-retention-contract.js';
import { snapshotContract } from './snapshot-contract.js';
import type { StoreUnderTest } from './store-under-test.js';
import { walContract } from './wal-contract.js';

const scales = { default: 4, byCurrency: {} };

async function makeStore(): Promise<StoreUnderTest & RecordsUnderTest> {
  const folder = makeTempFolder();
  const storeId = randomUUID();
  const meta: StoreMeta = { storeId, formatVersion: META_VERSION, shards: 4, hash: 'h', scales, createdMs: 0 };
  let open: LmdbStore[] = [LmdbStore.open(folder.path)];
  const [{ wal, snapshots, feeds, meta: record }] = open as [LmdbStore];
  await record.create(meta);

  function openAnother(): LmdbStore {
    const store = LmdbStore.open(folder.path);
    open.push(store);
    return store;
  }

  async function closeAll(): Promise<void> {
    for (const store of open) await store.close();
    open = [];
  }

  return {
    storeId,
    wal,
    snapshots,
    feeds,
    openAgain: async () => openAnother(),
    reopen: async () => {
      await closeAll();
      return openAnother();
    },
    destroy: async () => {
      await closeAll();
      folder.remove();
    },
  };
}

walContract('LMDB', makeStore);
feedRecordsContract('LMDB', makeStore);
feedRetentionContract('LMDB', makeStore);
snapshotContract('LMDB', makeStore);
