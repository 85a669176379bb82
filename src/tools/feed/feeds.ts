import { messageOf } from '../../base/message-of.js';
import { type FeedPosition, formatPosition, newerOf, tryPosition } from '../../feed/position.js';
import type { Feed, FeedAnswer, FeedRefusal, FeedRequest } from '../../feed/request.js';
import type { FeedRecords } from '../../ports/feed-records.js';
import type { StoreReader } from '../store-reader.js';
import { FeedBook } from './feed-book.js';
import { lagsOf } from './feed-lag.js';
import { type FeedPage, FeedReader } from './feed-reader.js';
import { ForeignPositionError } from './shard-cursor.js';

/*
 * The event feed on a store, for the process that reads it. shard-cursor.ts reads one log after a place, feed-reader.ts
 * merges the logs into pages, with currencies from shard-currencies.ts, feed-book.ts keeps the consumers, feed-lag.ts
 * measures what they have not acknowledged, and feeds.ts answers requests. The events themselves are pure functions in src/feed.
 */

export interface FeedsDeps {
  readonly reader: StoreReader;
  readonly records: FeedRecords;
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly newId: () => string;
  /** Resolves after the time, or at once if the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Interval at which a waiting read looks for new entries, in ms: a fixed part, and a part for each shard. */
const POLL_MS = 50;
const POLL_MS_PER_SHARD = 1;

type ReadRequest = Extract<FeedRequest, { type: 'read' }>;

/** Answers requests about the feeds of one store. */
export class Feeds {
  private readonly book: FeedBook;
  private readonly pages: FeedReader;
  /** Changes of the records run one after another, so that two acknowledgements do not overwrite each other. */
  private writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: FeedsDeps) {
    const { reader, records, now, newId } = deps;
    this.book = new FeedBook({ records, storeId: reader.storeId, now, newId });
    this.pages = new FeedReader(reader, (shards) => records.settle(shards));
  }

  /** Answers the request. Aborting the signal ends the wait of a read. Never rejects. */
  async answer(request: FeedRequest, signal: AbortSignal): Promise<FeedAnswer> {
    try {
      return await this.carryOut(request, signal);
    } catch (error) {
      if (error instanceof ForeignPositionError) return refused('feed-position-foreign');
      return { type: 'failed', reason: messageOf(error) };
    }
  }

  private async carryOut(request: FeedRequest, signal: AbortSignal): Promise<FeedAnswer> {
    const { book } = this;
    switch (request.type) {
      case 'list':
        return await this.withLags(await book.list());
      case 'warm-up':
        await this.pages.warmUp();
        return { type: 'warm' };
      case 'find': {
        const feed = await book.find(request.name);
        if (feed === undefined) return refused('feed-not-found');
        return await this.withLags([feed]);
      }
      case 'create':
        return await this.inTurn(() => this.create(request));
      case 'remove':
        return (await this.inTurn(() => book.remove(request.name))) ? { type: 'removed' } : refused('feed-not-found');
      case 'acknowledge':
        return await this.inTurn(() => this.acknowledge(request));
      case 'read':
        return await this.read(request, signal);
    }
  }

  private async withLags(feeds: readonly Feed[]): Promise<FeedAnswer> {
    const { now, reader } = this.deps;
    const lags = await lagsOf(feeds, reader, now());
    const none = { entries: 0, bytes: 0, ms: 0 };
    const all = feeds.map((feed) => ({ ...feed, lag: lags.get(feed.name) ?? none }));
    return { type: 'feeds', feeds: all, timelines: reader.timelines ?? [] };
  }

  private async create(request: Extract<FeedRequest, { type: 'create' }>): Promise<FeedAnswer> {
    const { from } = request;
    if (from !== 'now' && from !== 'start' && this.parsed(from) === undefined) return refused('feed-position-invalid');
    const made = await this.book.create(request, async () => {
      if (from === 'now') return this.format(await this.pages.end());
      if (from === 'start') return this.format(await this.pages.beginning());
      return from;
    });
    return typeof made === 'string' ? refused(made) : { type: 'feed', ...made };
  }

  private async acknowledge({ name, position }: Extract<FeedRequest, { type: 'acknowledge' }>): Promise<FeedAnswer> {
    const given = this.parsed(position);
    if (given === undefined) return refused('feed-position-invalid');
    const feed = await this.book.acknowledge(name, (before) => {
      const acknowledged = this.parsed(before);
      return this.format(acknowledged === undefined ? given : newerOf(acknowledged, given));
    });
    return feed === undefined ? refused('feed-not-found') : { type: 'feed', feed, isNew: false };
  }

  private async read({ name, after, limit, waitMs }: ReadRequest, signal: AbortSignal): Promise<FeedAnswer> {
    const { monotonicMs, pause, reader } = this.deps;
    const endMs = monotonicMs() + waitMs;
    const feed = await this.book.find(name);
    if (feed === undefined) return refused('feed-not-found');
    let position = this.parsed(after ?? feed.position);
    if (position === undefined) return refused('feed-position-invalid');
    for (;;) {
      const page = await this.pages.read(position, feed.filter, limit);
      position = page.next;
      const leftMs = endMs - monotonicMs();
      if (page.events.length > 0 || page.lost.length > 0 || leftMs <= 0 || signal.aborted) {
        const next = this.format(page.next);
        return { type: 'page', json: pageText(page, next), next, damaged: page.damaged };
      }
      if (page.hasMore) continue;
      await pause(Math.min(leftMs, POLL_MS + POLL_MS_PER_SHARD * reader.shards), signal);
    }
  }

  private parsed(text: string): FeedPosition | undefined {
    return tryPosition(text, this.deps.reader.storeId, this.deps.reader.shards);
  }

  private format(position: FeedPosition): string {
    return formatPosition(position, this.deps.reader.storeId);
  }

  private inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.writing.then(run);
    this.writing = result.catch(() => {});
    return result;
  }
}

function refused(reason: FeedRefusal): FeedAnswer {
  return { type: 'refused', reason };
}

/** The page as JSON, whose events are JSON already. `lost` is present only if entries are lost. */
function pageText({ events, lost }: FeedPage, next: string): string {
  const losses = lost.length === 0 ? '' : `"lost":${JSON.stringify(lost)},`;
  return `{${losses}"events":[${events.join(',')}],"next":${JSON.stringify(next)}}`;
}
