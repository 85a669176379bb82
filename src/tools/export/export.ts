import { setTimeout as delay } from 'node:timers/promises';
import { isPermanent } from '../../ports/retry-policy.js';
import type { Head } from '../../ports/wal.js';
import { Outage } from '../outage.js';
import { type StoreReader, ToolError } from '../store-reader.js';
import { ExportFeed } from './export-feed.js';

/*
 * Export writes every event of a store as one JSON line. export-start.ts finds the first entry. export-feed.ts reads
 * the log of one shard. export.ts merges the shards into batches. export-line.ts formats the lines, with decimals from
 * ../currencies.ts. export-pump.ts writes the batches, and export-cursor.ts stores the position, so that each event is
 * written at least once.
 */

/** A batch of lines, and the position of the export after the batch is written. */
export interface ExportBatch {
  /** JSON lines; empty if the batch contains only fences or nothing new. */
  readonly text: string;
  /** The newest entry of each shard whose events are in this batch or an earlier one. */
  readonly positions: readonly Head[];
}

export interface ExportOptions {
  /** Entries after which the export begins, by shard. */
  readonly starts: readonly Head[];
  /** If set, the export follows the log after reaching its end. `live` is the store without retries. */
  readonly following: { readonly live: StoreReader; readonly warn: (sentence: string) => void } | undefined;
  /** Aborting ends the export after the next batch. */
  readonly signal: AbortSignal;
}

const BATCH_CHARACTERS = 64 * 1024;
const POLL_MS = 200;

/**
 * All events of a store, in batches of about 64 KiB. Events of one shard are in log order. Shards are merged by time,
 * as far as the pages of their logs are in memory. An empty batch signals that the end of all logs was reached. Without
 * `following`, the export ends with the entries that were newest when it began. With `following`, it waits out outages.
 * Throws a `ToolError` or a `RecoveryError` if the log cannot be continued.
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
      throw new ToolError('the log ends before its head: `walletd verify` shows where');
    yield { text, positions };
    if (isIdle) await pause(signal);
    await reader.yieldTurn();
  }
}

/** Takes waiting entries, oldest first, until the batch is full or no entries are waiting. */
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
      // A log that cannot be read at the moment adds nothing to this batch; the other logs continue.
      failure = (await tryFill(feed, outage)) ?? failure;
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

/** Fills the feed. Returns the error of an outage that should be waited out, and throws any other error. */
async function tryFill(feed: ExportFeed, outage: Outage | undefined): Promise<Error | undefined> {
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
