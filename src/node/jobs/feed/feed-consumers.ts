import { tryPosition } from '../../../feed/position.js';
import { firstTimeOf } from '../../../log/log-reader.js';
import type { LogConsumers } from '../../../ports/log-consumers.js';
import { compareLsn, type Lsn } from '../../../ports/lsn.js';
import type { Store } from '../../../store/store.js';
import { feedsIn } from '../../../tools/feed/recorded-feeds.js';
import type { StoreReader } from '../../../tools/store-reader.js';

/** The share of free space below which no log is kept for feeds. The alert WalletdStoreFilling has the same limit. */
const FREE_SHARE_MIN = 0.1;
/** Number of entries that are read to find the time of one, because some may be damaged. */
const SAMPLE_ENTRIES = 8;

/** The consumers of the event feed. A store that fills up keeps no log for them, because callbacks need the space. */
export class FeedConsumers implements LogConsumers {
  constructor(
    private readonly store: Pick<Store, 'feeds' | 'room'>,
    private readonly reader: Pick<StoreReader, 'storeId' | 'shards' | 'wal' | 'format'>,
  ) {}

  async slowest(shard: number): Promise<Lsn | undefined> {
    const { storeId, shards } = this.reader;
    let slowest: Lsn | undefined;
    for (const { position } of feedsIn(await this.store.feeds.all(), storeId)) {
      const lsn = tryPosition(position, storeId, shards)?.[shard]?.lsn;
      if (lsn !== undefined && (slowest === undefined || compareLsn(lsn, slowest) < 0)) slowest = lsn;
    }
    if (slowest === undefined) return undefined;
    const { usedBytes, freeBytes } = await this.store.room();
    const isFilling = freeBytes !== undefined && freeBytes < FREE_SHARE_MIN * (freeBytes + usedBytes);
    return isFilling ? undefined : slowest;
  }

  async timeAfter(shard: number, lsn: Lsn): Promise<number | undefined> {
    const { wal, format } = this.reader;
    return firstTimeOf(await wal.read(shard, lsn, SAMPLE_ENTRIES), format);
  }
}
