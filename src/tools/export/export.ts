import { setTimeout as delay } from 'node:timers/promises';
import { isPermanent } from '../../shard/log/retry-policy.js';
import type { Head } from '../../shard/log/wal.js';
import { Outage } from '../outage.js';
import { type StoreReader, ToolError } from '../store-reader.js';
import { ExportFeed } from './export-feed.js';

/*
 * Export writes every event of a store as a line of JSON. export-start.ts finds the beginning, and export-feed.ts reads
 * one shard's log. This file merges the shards into batches. export-line.ts makes the lines, with the decimals of
 * currencies.ts. export-pump.ts writes the batches, and export-cursor.ts keeps the position, so that each event comes
 * at least once.
 */

/** A group of lines, and the position of the export once they are written. */
export interface ExportBatch {
  /** JSON lines; empty when the batch has only fences or nothing new. */
  readonly text: string;
  /** By shard: the newest entry whose events are in this batch or an earlier one. */
  readonly positions: readonly Head[];
}

export interface ExportOptions {
  /** By shard: the export begins after these entries. */
  readonly starts: readonly Head[];
  /** When set, the export continues at the end of the log; `live` is the store without retries. */
  readonly following: { readonly live: StoreReader; readonly warn: (sentence: string) => void } | undefined;
  /** Ends the export after the next batch. */
  readonly signal: AbortSignal;
}

const BATCH_CHARACTERS = 64 * 1024;
const POLL_MS = 200;

/**
 * All events of a store in batches of some 64 KiB. Events of a shard come in order; shards are merged by time, as far
 * as pages of their logs are in memory. At the end of the logs a batch is empty. Without following, the export ends
 * with the entries that were the newest when it began. With following, it waits out outages. Throws a `ToolError` or a
 * `RecoveryError` when the log cannot be continued.
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

/** Takes waiting entries, oldest first, until the batch is full or no entry waits. */
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
      // An unreadable log adds nothing to this batch; the other logs go on.
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

/** Returns the error of an outage that is waited out; throws every other error. */
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
