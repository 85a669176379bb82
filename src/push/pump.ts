import type { Logger } from '../base/logger.js';
import { type Retry, Stopped } from './retry.js';
import { type PushedEvent, type Sink, SinkClosed } from './sink.js';

export interface FeedPage {
  readonly events: readonly PushedEvent[];
  /** The position after the page. */
  readonly next: string;
  /** Parts of the log that were deleted before this feed read them. */
  readonly lost?: readonly object[];
  /** True if no page follows. A feed never ends, but a file of events does. */
  readonly isLast?: true;
}

export interface FeedSource {
  /** Creates the feed, unless it exists. */
  open(): Promise<void>;
  /** Resolves to the events after the acknowledged position. Waits for a while if there are none. */
  pull(): Promise<FeedPage>;
  /** Acknowledges everything up to a position. Resolves when the acknowledgement is durable. */
  acknowledge(position: string): Promise<void>;
}

export interface PumpDeps {
  readonly source: FeedSource;
  readonly sink: Sink;
  readonly sourceRetry: Retry;
  readonly sinkRetry: Retry;
  readonly log: Logger;
  /** Aborted when the process has to end: the current page is finished, and acknowledged if the sink confirms it. */
  readonly stop: AbortSignal;
  /** Resolves when the next page may be pulled. Limits the pulls and acknowledgements of a feed with few events. */
  readonly pace: (page: FeedPage) => Promise<void>;
}

/** The outcome of a pump. */
export interface Pumped {
  events: number;
}

/**
 * Hands the events of a feed to a sink, one page after the other, until the process has to end, the source ends or the
 * sink is closed. Holds one page in memory, however long the sink is away.
 */
export async function pump(deps: PumpDeps): Promise<Pumped> {
  const pumped = { events: 0 };
  try {
    await pumpPages(deps, pumped);
  } catch (error) {
    if (!(error instanceof Stopped || error instanceof SinkClosed)) throw error;
  }
  return pumped;
}

async function pumpPages(deps: PumpDeps, pumped: Pumped): Promise<void> {
  const { source, sink, sourceRetry, sinkRetry, log, stop, pace } = deps;
  await sourceRetry.run(() => source.open());
  let position: string | undefined;
  while (!stop.aborted) {
    const page = await sourceRetry.run(() => source.pull());
    const { events, next, lost, isLast } = page;
    if (lost !== undefined && lost.length > 0) {
      log.error({ code: 'feed-events-lost', lost }, 'events were deleted before the feed read them');
    }
    if (events.length > 0) await sinkRetry.run(() => sink.send(events));
    if (next !== position) await sourceRetry.run(() => source.acknowledge(next));
    pumped.events += events.length;
    position = next;
    if (isLast) return;
    await pace(page);
  }
}
