import { normalFilter } from '../../feed/filter.js';
import type { Feed } from '../../feed/request.js';
import type { FeedRecords } from '../../ports/feed-records.js';
import { type Acknowledged, type Definition, feedOf, feedsIn, findDefinition, findFeed } from './recorded-feeds.js';

export interface FeedBookDeps {
  readonly records: FeedRecords;
  readonly storeId: string;
  readonly now: () => number;
  readonly newId: () => string;
}

const FEEDS_MAX = 32;

/** The consumers of a store's feed, as its records have them. */
export class FeedBook {
  constructor(private readonly deps: FeedBookDeps) {}

  async list(): Promise<readonly Feed[]> {
    const { records, storeId } = this.deps;
    return feedsIn(await records.all(), storeId);
  }

  async find(name: string): Promise<Feed | undefined> {
    const { records, storeId } = this.deps;
    return findFeed(await records.all(), storeId, name);
  }

  /**
   * Creates the feed unless it exists. If two nodes create the same name at the same moment, the later definition stays.
   * Therefore `findStart` runs before the last look for the feed: a definition that replaces another begins before the
   * other was answered, and the consumer misses no event.
   */
  async create(
    { name, filter: wanted, from }: Pick<Feed, 'name' | 'filter' | 'from'>,
    findStart: () => Promise<string>,
  ): Promise<{ readonly feed: Feed; readonly isNew: boolean } | 'feed-differs' | 'feeds-full'> {
    const { records, storeId, now, newId } = this.deps;
    const filter = normalFilter(wanted);
    const known = (feeds: readonly Feed[]) => {
      const feed = feeds.find((one) => one.name === name);
      if (feed === undefined) return undefined;
      const isSame = feed.from === from && JSON.stringify(feed.filter) === JSON.stringify(filter);
      return isSame ? ({ feed, isNew: false } as const) : ('feed-differs' as const);
    };
    // A repeat needs no log, and succeeds while a shard is away.
    const before = known(await this.list());
    if (before !== undefined) return before;
    const start = await findStart();
    const feeds = await this.list();
    const since = known(feeds);
    if (since !== undefined) return since;
    if (feeds.length >= FEEDS_MAX) return 'feeds-full';
    const definition: Definition = { storeId, id: newId(), createdMs: now(), filter, from, start };
    await records.put(`d:${name}`, JSON.stringify(definition));
    return { feed: feedOf(name, definition), isNew: true };
  }

  async remove(name: string): Promise<boolean> {
    if ((await this.find(name)) === undefined) return false;
    await this.deps.records.remove([`d:${name}`, `p:${name}`]);
    return true;
  }

  /** Replaces the acknowledged position with the result of `newest`. Undefined if there is no such feed. */
  async acknowledge(name: string, newest: (acknowledged: string) => string): Promise<Feed | undefined> {
    const { records, storeId, now } = this.deps;
    const all = await records.all();
    const feed = findFeed(all, storeId, name);
    const definition = findDefinition(all, storeId, name);
    if (feed === undefined || definition === undefined) return undefined;
    const acknowledged: Acknowledged = { id: definition.id, position: newest(feed.position), timeMs: now() };
    await records.put(`p:${name}`, JSON.stringify(acknowledged));
    return feedOf(name, definition, acknowledged);
  }
}
