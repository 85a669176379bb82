import { setTimeout as delay } from 'node:timers/promises';
import type { Head } from '../shard/ports.js';
import { isFinal } from '../shard/take-over.js';
import { ExportFeed } from './export-feed.js';
import { type StoreReader, ToolError } from './store-reader.js';

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
  /** True: goes on when the end of the log has been reached. */
  readonly isFollowing: boolean;
  /** Ends it behind the next batch. */
  readonly signal: AbortSignal;
}

const BATCH_CHARACTERS = 64 * 1024;
const POLL_MS = 200;

/**
 * All events of a store in batches of some 64 KiB. Within a shard they come in order; between shards by time, as far as
 * pages of their logs are in memory. At the end of the logs a batch is empty. Without `isFollowing` it ends with the entries that were the newest when it began.
 * While it follows, bad weather is waited out. Throws a `ToolError` or a `RecoveryError` when the log cannot be gone on
 * with.
 */
export async function* exportEvents(reader: StoreReader, options: ExportOptions): AsyncGenerator<ExportBatch, void> {
  const { starts, isFollowing, signal } = options;
  const ends = await Promise.all(starts.map((_, shard) => reader.wal.head(shard)));
  const feeds: ExportFeed[] = [];
  for (const [shard, start] of starts.entries()) feeds.push(await ExportFeed.open(shard, start, reader));
  const isOpen = ({ shard, position }: ExportFeed) =>
    isFollowing || position.lsn.sequence < (ends[shard]?.lsn.sequence ?? 0);
  while (!signal.aborted) {
    const open = feeds.filter(isOpen);
    if (open.length === 0) return;
    const before = feeds.map(({ position }) => position);
    const text = await nextLines(open, isOpen, isFollowing);
    const positions = feeds.map(({ position }) => position);
    const isIdle = positions.every((position, shard) => position === before[shard]);
    if (isIdle && !isFollowing) throw new ToolError('the log ends before its head: `walletd verify` says where');
    yield { text, positions };
    if (isIdle) await pause(signal);
    await reader.yieldTurn();
  }
}

/** Takes what there is, oldest first, until a batch is full or nothing waits. */
async function nextLines(
  feeds: readonly ExportFeed[],
  isOpen: (feed: ExportFeed) => boolean,
  isFollowing: boolean,
): Promise<string> {
  const open = new Set(feeds);
  let text = '';
  while (text.length < BATCH_CHARACTERS) {
    for (const feed of open) if (!(await hasMore(feed, isFollowing))) open.delete(feed);
    const next = oldestOf(open);
    if (next === undefined) break;
    text += next.take();
    if (!isOpen(next)) open.delete(next);
  }
  return text;
}

/** Of a log that cannot be read now nothing comes in this batch; the others go on. */
async function hasMore(feed: ExportFeed, isFollowing: boolean): Promise<boolean> {
  try {
    await feed.fill();
  } catch (error) {
    if (!isFollowing || isFinal(error) || error instanceof ToolError) throw error;
  }
  return feed.waiting !== undefined;
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
