import type { FeedWithLag } from '../../../feed/request.js';
import type { FeedRecords } from '../../../ports/feed-records.js';
import { lagsOf } from '../../../tools/feed/feed-lag.js';
import { feedsIn } from '../../../tools/feed/recorded-feeds.js';
import type { StoreReader } from '../../../tools/store-reader.js';

const EVERY_MS = 15_000;

/**
 * Measures the lag of all feeds at regular intervals, because a consumer that stands still sends no requests. Costs one
 * read of the store while there are no feeds.
 */
export class FeedGauge {
  /** The latest measurement. Undefined until the store has responded once, and while it does not respond. */
  newest: readonly Pick<FeedWithLag, 'name' | 'lag'>[] | undefined = undefined;
  private readonly timer: NodeJS.Timeout;
  private isLooking = false;

  constructor(
    private readonly records: Pick<FeedRecords, 'all'>,
    private readonly reader: StoreReader,
    private readonly now: () => number,
    everyMs = EVERY_MS,
  ) {
    this.timer = setInterval(() => void this.look(), everyMs).unref();
    void this.look();
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** Does nothing while a measurement of a slow store is under way. Never rejects. */
  async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      const feeds = feedsIn(await this.records.all(), this.reader.storeId);
      const lags = await lagsOf(feeds, this.reader, this.now());
      this.newest = [...lags].map(([name, lag]) => ({ name, lag }));
    } catch {
      this.newest = undefined;
    }
    this.isLooking = false;
  }
}
