import { randomUUID } from 'node:crypto';
import { MemoryWal } from '../support/memory-wal.js';
import { walContract } from './wal-contract.js';

// The log that the actor's tests stand on keeps the contract too.
walContract('in memory', async () => {
  const storeId = randomUUID();
  const wal = new MemoryWal(storeId, 4);
  return { storeId, wal, openAgain: async () => wal, reopen: async () => wal, destroy: async () => {} };
});
