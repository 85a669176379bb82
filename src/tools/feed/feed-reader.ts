import { type FeedSource, feedEventsOf } from '../../feed/events-of.js';
import { type FeedFilter, passes } from '../../feed/filter.js';
import type { FeedPosition } from '../../feed/position.js';
import type { DamagedLog, LostEntries } from '../../feed/request.js';
import { tryEntry } from '../../log/log-reader.js';
import { formatLsn } from '../../ports/lsn.js';
import { type Entry, type Head, isAt } from '../../ports/wal.js';
import { predecessorOf, type StoreReader, shardsOf } from '../store-reader.js';
import { ShardCurrencies } from './shard-currencies.js';
import { ShardCursor } from './shard-cursor.js';

/** Limits of one page; entries without wanted events count as well. */
const ENTRIES_MAX = 5000;
const PAGE_CHARACTERS = 1024 * 1024;
const YIELD_ENTRIES = 64;

/** Events after a position. */
export interface FeedPage {
  /** Each event as JSON text. */
  readonly events: readonly string[];
  readonly next: FeedPosition;
  readonly lost: readonly LostEntries[];
  /** Shards whose place does not move, because their logs are damaged there. */
  readonly damaged: readonly DamagedLog[];
  /** True if the page ends before the end of a log that can be read on. */
  readonly hasMore: boolean;
}

/**
 * Reads the logs of all shards as pages of events. Events of one shard, and therefore of one player, are in log order.
 * Shards are merged by time, so that no busy shard holds back another one.
 */
export class FeedReader {
  private readonly currencies: readonly ShardCurrencies[];

  constructor(
    private readonly reader: StoreReader,
    /** Resolves once the entries of these shards that were read before are durable. */
    private readonly settle: (shards: readonly number[]) => Promise<void>,
  ) {
    this.currencies = shardsOf(reader).map((shard) => new ShardCurrencies(shard, reader));
  }

  /**
   * At most `limit` events after the position. A damaged log ends at the damage, or continues with the next fence of an
   * accepted loss. Throws a `ForeignPositionError` if a log has another history, and any other error during an outage.
   */
  async read(position: FeedPosition, filter: FeedFilter, limit: number): Promise<FeedPage> {
    const cursors = position.map((place, shard) => new ShardCursor(shard, place, this.reader));
    await Promise.all(cursors.map((cursor) => cursor.fill()));
    const open = new Set(cursors.filter(({ waiting }) => waiting !== undefined));
    const events: string[] = [];
    let characters = 0;
    let entries = 0;
    const isFull = () => events.length === limit || characters > PAGE_CHARACTERS || entries === ENTRIES_MAX;
    while (open.size > 0 && !isFull()) {
      const cursor = oldestOf(open);
      for (const text of await this.take(cursor, filter, limit - events.length)) {
        events.push(text);
        characters += text.length;
      }
      entries++;
      if (entries % YIELD_ENTRIES === 0) await this.reader.yieldTurn();
      await cursor.fill();
      if (cursor.waiting === undefined) open.delete(cursor);
    }
    const next = cursors.map(({ place }) => place);
    const moved = cursors.filter(({ shard }) => isMoved(position, next, shard));
    await this.settle(moved.map(({ shard }) => shard));
    await Promise.all(moved.map((cursor) => this.confirm(cursor)));
    return {
      events,
      next,
      lost: cursors.flatMap(({ lost }) => lost),
      damaged: cursors.flatMap(({ shard, damage }) => (damage === undefined ? [] : { shard, reason: damage })),
      hasMore: open.size > 0,
    };
  }

  /**
   * Loads the currencies of all players, or those of new players since the last load. A shard that fails does not keep
   * the others from loading.
   */
  async warmUp(): Promise<void> {
    const heads = await this.heads();
    const moved = this.currencies.flatMap((currencies, shard) => {
      const head = heads[shard] as Head;
      return currencies.hasReached(head) ? [] : [{ shard, currencies, head }];
    });
    if (moved.length === 0) return;
    // A master that fails over can lose entries that no replica has, and then the players whom they created.
    await this.settle(moved.map(({ shard }) => shard));
    let failure: unknown;
    for (const { currencies, head } of moved) {
      try {
        await currencies.load(head);
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  /** The newest positions of all logs. */
  async end(): Promise<FeedPosition> {
    const heads = await this.heads();
    return heads.map(({ lsn, checksum }) => ({ lsn, checksum, items: 0 }));
  }

  /** The positions before the oldest entries that are left, or before the whole log if the oldest entry is damaged. */
  async beginning(): Promise<FeedPosition> {
    const { reader } = this;
    return await Promise.all(
      shardsOf(reader).map(async (shard) => {
        const [bytes] = await reader.wal.read(shard, { epoch: 0, sequence: 0 }, 1);
        const first = bytes && tryEntry(bytes, reader.format);
        if (first !== undefined) return { lsn: first.previousLsn, checksum: first.previousChecksum, items: 0 };
        const { lsn, checksum } = bytes === undefined ? await reader.wal.head(shard) : reader.genesis(shard);
        return { lsn, checksum, items: 0 };
      }),
    );
  }

  private heads(): Promise<Head[]> {
    return Promise.all(shardsOf(this.reader).map((shard) => this.reader.wal.head(shard)));
  }

  /**
   * Throws if the log has lost the newest entry that was taken: a master failed over between the read and `settle`, which
   * then waited for the replicas of its successor.
   */
  private async confirm({ shard, newest }: ShardCursor): Promise<void> {
    if (newest === undefined) return;
    const { wal, format } = this.reader;
    const { epoch, sequence } = newest.lsn;
    const [bytes] = await wal.read(shard, { epoch, sequence: sequence - 1 }, 1);
    const found = bytes === undefined ? await wal.head(shard) : format.decodeHeader(bytes).head;
    // A later entry is found if the log was trimmed in the meantime.
    if (isAt(found, newest) || found.lsn.sequence > sequence) return;
    throw new Error(`the log of shard ${shard} has lost the entry ${formatLsn(newest.lsn)}, which was read`);
  }

  /** Like `takeWanted`. Takes nothing if the players of a damaged log cannot be loaded. */
  private async take(cursor: ShardCursor, filter: FeedFilter, limit: number): Promise<string[]> {
    try {
      return await this.takeWanted(cursor, filter, limit);
    } catch (error) {
      await cursor.skipDamage(error);
      return [];
    }
  }

  /** Takes wanted events of the waiting entry, and passes the entry unless more than `limit` are wanted. */
  private async takeWanted(cursor: ShardCursor, filter: FeedFilter, limit: number): Promise<string[]> {
    const entry = cursor.waiting as Entry;
    const taken: string[] = [];
    if (entry.events.length > 0) {
      const { shard, items } = cursor;
      const currencies = await (this.currencies[shard] as ShardCurrencies).at(entry, predecessorOf(entry));
      const { storeId, scales, timelines } = this.reader;
      const source: FeedSource = {
        storeId,
        timelines,
        currencyOf: (username) => currencies.of(username),
        scaleOf: (currency) => scales.of(currency),
      };
      for (const { index, event } of feedEventsOf(entry, source)) {
        if (index < items || !passes(filter, event)) continue;
        if (taken.length === limit) {
          cursor.items = index;
          return taken;
        }
        taken.push(JSON.stringify(event));
      }
    }
    cursor.pass();
    return taken;
  }
}

function oldestOf(cursors: Iterable<ShardCursor>): ShardCursor {
  let oldest: ShardCursor | undefined;
  for (const cursor of cursors) {
    if (oldest === undefined || (cursor.waiting as Entry).timeMs < (oldest.waiting as Entry).timeMs) oldest = cursor;
  }
  return oldest as ShardCursor;
}

function isMoved(before: FeedPosition, after: FeedPosition, shard: number): boolean {
  const [from, to] = [before[shard], after[shard]];
  return from?.lsn.sequence !== to?.lsn.sequence || from?.items !== to?.items;
}
