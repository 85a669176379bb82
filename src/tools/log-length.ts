import { firstEntry } from '../shard/log/log-reader.js';
import type { StoreReader } from './store-reader.js';

/** How many entries a log still has, for a progress bar: 0 when its first one cannot be read. */
export async function logLength(shard: number, reader: StoreReader): Promise<number> {
  const { lsn } = await reader.wal.head(shard);
  const first = await firstEntry(shard, reader).catch(() => undefined);
  return lsn.sequence - (first?.previousLsn.sequence ?? lsn.sequence);
}
