import { firstEntry } from '../log/log-reader.js';
import type { StoreReader } from './store-reader.js';

/** Number of entries still in a log, for a progress bar; 0 if the first entry is unreadable. */
export async function logLength(shard: number, reader: StoreReader): Promise<number> {
  const { lsn } = await reader.wal.head(shard);
  const first = await firstEntry(shard, reader).catch(() => undefined);
  return lsn.sequence - (first?.previousLsn.sequence ?? lsn.sequence);
}
