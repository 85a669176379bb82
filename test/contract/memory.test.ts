import { randomUUID } from 'node:crypto';
import { MemoryWal } from '../support/memory-wal.js';
import { snapshotContract } from './snapshot-contract.js';
import type { StoreUnderTest } from './store-under-test.js';
import { walContract } from './wal-contract.js';

async function makeStore(): Promise<StoreUnderTest> {
  const storeId = randomUUID();
  const memory = new MemoryWal(storeId, 4);
  const store = { wal: memory, snapshots: memory };
  return { storeId, ...store, openAgain: async () => store, reopen: async () => store, destroy: async () => {} };
}

// The in-memory store, which the actor's tests use, must fulfil the contracts as well.
walContract('in memory', makeStore);
snapshotContract('in memory', makeStore);
