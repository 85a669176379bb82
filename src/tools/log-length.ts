import { firstEntry } from '../shard/log/log-reader.js';
import type { StoreReader } from './store-reader.js';

/** The number of entries that a log still has, for a progress bar; 0 when the first one is unreadable. */
export async function logLength(shard: number, reader: StoreReader): Promise<number> {
  const { lsn } = await reader.wal.head(shard);
  const first = await firstEntry(shard, reader).catch(() => undefined);
  return lsn.sequence - (first?.previousLsn.sequence ?? lsn.sequence);
}
