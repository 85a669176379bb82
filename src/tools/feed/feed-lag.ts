import { UserError } from '../../base/user-error.js';
import { type FeedPosition, type ShardPlace, tryPosition } from '../../feed/position.js';
import type { Feed, FeedLag } from '../../feed/request.js';
import { firstTimeOf } from '../../log/log-reader.js';
import type { Head } from '../../ports/wal.js';
import { type StoreReader, shardsOf } from '../store-reader.js';

/**
 * Number of unacknowledged entries of a shard that are measured. The bytes of further ones are estimated from these.
 */
const SAMPLE_ENTRIES = 8;

/**
 * Measures the part of the log that each feed has not acknowledged. Reads one shard after the other, so that a
 * measurement delays no other work of the store's connection for long. A damaged log counts as far as it can be read.
 * Rejects during an outage.
 */
export async function lagsOf(
  feeds: readonly Pick<Feed, 'name' | 'position'>[],
  reader: StoreReader,
  nowMs: number,
): Promise<ReadonlyMap<string, FeedLag>> {
  const lags = new Map<string, FeedLag>();
  if (feeds.length === 0) return lags;
  const heads: (Head | undefined)[] = [];
  for (const shard of shardsOf(reader)) heads.push(await tryHead(shard, reader));
  for (const { name, position } of feeds) {
    const places = tryPosition(position, reader.storeId, reader.shards);
    if (places !== undefined) lags.set(name, await lagAfter(places, heads, reader, nowMs));
  }
  return lags;
}

/** The head of a log; undefined if it is damaged. */
async function tryHead(shard: number, { wal }: StoreReader): Promise<Head | undefined> {
  try {
    return await wal.head(shard);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return undefined;
  }
}

async function lagAfter(
  places: FeedPosition,
  heads: readonly (Head | undefined)[],
  reader: StoreReader,
  nowMs: number,
): Promise<FeedLag> {
  let lag: FeedLag = { entries: 0, bytes: 0, ms: 0 };
  for (const [shard, place] of places.entries()) {
    const entries = (heads[shard]?.lsn.sequence ?? 0) - place.lsn.sequence;
    if (entries <= 0) continue;
    const { bytes, ms } = await unreadIn(shard, place, entries, reader, nowMs);
    lag = { entries: lag.entries + entries, bytes: lag.bytes + bytes, ms: Math.max(lag.ms, ms) };
  }
  return lag;
}

async function unreadIn(
  shard: number,
  { lsn }: ShardPlace,
  entries: number,
  { wal, format }: StoreReader,
  nowMs: number,
): Promise<{ readonly bytes: number; readonly ms: number }> {
  const sample = await wal.read(shard, lsn, Math.min(entries, SAMPLE_ENTRIES));
  if (sample.length === 0) return { bytes: 0, ms: 0 };
  const sampleBytes = sample.reduce((sum, { length }) => sum + length, 0);
  const bytes = Math.round((sampleBytes / sample.length) * entries);
  return { bytes, ms: Math.max(0, nowMs - (firstTimeOf(sample, format) ?? nowMs)) };
}
