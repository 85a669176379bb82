import { setTimeout as delay } from 'node:timers/promises';
import { isPermanent } from '../../shard/log/patience.js';
import type { Head } from '../../shard/log/wal.js';
import { Outage } from '../outage.js';
import { type StoreReader, ToolError } from '../store-reader.js';
import { ExportFeed } from './export-feed.js';

/** Lines that belong together, and where the export is when they have been written. */
export interface ExportBatch {
  /** Newline-delimited JSON; empty when there were only fences, or nothing new. */
  readonly text: string;
  /** By shard: the newest entry whose events are in this batch or an earlier one. */
  readonly positions: readonly Head[];
}

export interface ExportOptions {
  /** By shard: entries after these are exported. */
  readonly starts: readonly Head[];
  /** Goes on when the end of the log has been reached; then `live` is the store without patience. */
  readonly following: { readonly live: StoreReader; readonly warn: (sentence: string) => void } | undefined;
  /** Ends it behind the next batch. */
  readonly signal: AbortSignal;
}

const BATCH_CHARACTERS = 64 * 1024;
const POLL_MS = 200;

/**
 * All events of a store in batches of some 64 KiB. Within a shard they come in order; between shards by time, as far as
 * pages of their logs are in memory. At the end of the logs a batch is empty. Who does not follow ends with the entries
 * that were the newest when it began. While it follows, bad weather is waited out. Throws a `ToolError` or a
 * `RecoveryError` when the log cannot be gone on with.
 */
export async function* exportEvents(reader: StoreReader, options: ExportOptions): AsyncGenerator<ExportBatch, void> {
  const { starts, following, signal } = options;
  const outage = following && new Outage(following.warn);
  const ends = await Promise.all(starts.map((_, shard) => reader.wal.head(shard)));
  const feeds: ExportFeed[] = [];
  for (const [shard, start] of starts.entries()) {
    feeds.push(await ExportFeed.open(shard, start, reader, following?.live ?? reader));
  }
  const isOpen = ({ shard, position }: ExportFeed) =>
    following !== undefined || position.lsn.sequence < (ends[shard]?.lsn.sequence ?? 0);
  while (!signal.aborted) {
    const open = feeds.filter(isOpen);
    if (open.length === 0) return;
    const before = feeds.map(({ position }) => position);
    const text = await nextLines(open, isOpen, outage);
    const positions = feeds.map(({ position }) => position);
    const isIdle = positions.every((position, shard) => position === before[shard]);
    if (isIdle && following === undefined)
      throw new ToolError('the log ends before its head: `walletd verify` says where');
    yield { text, positions };
    if (isIdle) await pause(signal);
    await reader.yieldTurn();
  }
}

/** Takes what there is, oldest first, until a batch is full or nothing waits. */
async function nextLines(
  feeds: readonly ExportFeed[],
  isOpen: (feed: ExportFeed) => boolean,
  outage: Outage | undefined,
): Promise<string> {
  const open = new Set(feeds);
  let text = '';
  let failure: Error | undefined;
  while (text.length < BATCH_CHARACTERS) {
    for (const feed of open) {
      // Of a log that cannot be read now nothing comes in this batch; the others go on.
      failure = (await maybeFailure(feed, outage)) ?? failure;
      if (feed.waiting === undefined) open.delete(feed);
    }
    const next = oldestOf(open);
    if (next === undefined) break;
    text += next.take();
    if (!isOpen(next)) open.delete(next);
  }
  if (failure === undefined) outage?.end();
  else outage?.begin(failure);
  return text;
}

/** Bad weather for who waits it out; everything else is thrown. */
async function maybeFailure(feed: ExportFeed, outage: Outage | undefined): Promise<Error | undefined> {
  try {
    await feed.fill();
    return undefined;
  } catch (error) {
    if (outage === undefined || isPermanent(error) || error instanceof ToolError) throw error;
    return error as Error;
  }
}

function oldestOf(feeds: Iterable<ExportFeed>): ExportFeed | undefined {
  let oldest: ExportFeed | undefined;
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const feed of feeds) {
    const timeMs = feed.waiting?.timeMs ?? Number.POSITIVE_INFINITY;
    if (timeMs < oldestMs) [oldest, oldestMs] = [feed, timeMs];
  }
  return oldest;
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(POLL_MS, undefined, { signal }).catch(() => {});
}
