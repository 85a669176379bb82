import { type FeedFilter, normalFilter } from '../../feed/filter.js';
import type { Feed } from '../../feed/request.js';
import type { FeedRecords } from '../../ports/feed-records.js';

/** Record of a consumer's definition; see src/store/format/FORMAT.md. */
interface Definition {
  readonly storeId: string;
  readonly id: string;
  readonly createdMs: number;
  readonly filter: FeedFilter;
  readonly from: string;
  readonly start: string;
}

/** Record of a consumer's acknowledged position. */
interface Acknowledged {
  readonly id: string;
  readonly position: string;
  readonly timeMs: number;
}

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
    const records = await this.deps.records.all();
    const feeds: Feed[] = [];
    for (const key of records.keys()) {
      const feed = key.startsWith('d:') ? this.feedIn(records, key.slice(2)) : undefined;
      if (feed !== undefined) feeds.push(feed);
    }
    return feeds.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async find(name: string): Promise<Feed | undefined> {
    return this.feedIn(await this.deps.records.all(), name);
  }

  /**
   * Creates the feed unless it exists. `findStart` is called for a new feed. Two nodes that create the same name at the
   * same moment leave the definition of the later one.
   */
  async create(
    { name, filter: wanted, from }: Pick<Feed, 'name' | 'filter' | 'from'>,
    findStart: () => Promise<string>,
  ): Promise<{ readonly feed: Feed; readonly isNew: boolean } | 'feed-differs' | 'feeds-full'> {
    const { records, storeId, now, newId } = this.deps;
    const filter = normalFilter(wanted);
    const feeds = await this.list();
    const feed = feeds.find((one) => one.name === name);
    if (feed !== undefined) {
      const isSame = feed.from === from && JSON.stringify(feed.filter) === JSON.stringify(filter);
      return isSame ? { feed, isNew: false } : 'feed-differs';
    }
    if (feeds.length >= FEEDS_MAX) return 'feeds-full';
    const start = await findStart();
    const definition: Definition = { storeId, id: newId(), createdMs: now(), filter, from, start };
    await records.put(`d:${name}`, JSON.stringify(definition));
    return { feed: feedOf(name, definition, undefined), isNew: true };
  }

  async remove(name: string): Promise<boolean> {
    if ((await this.find(name)) === undefined) return false;
    await this.deps.records.remove([`d:${name}`, `p:${name}`]);
    return true;
  }

  /** Writes the position that `newest` makes of the acknowledged one. Undefined if there is no such feed. */
  async acknowledge(name: string, newest: (acknowledged: string) => string): Promise<Feed | undefined> {
    const { records, now } = this.deps;
    const all = await records.all();
    const feed = this.feedIn(all, name);
    const definition = this.definitionIn(all, name);
    if (feed === undefined || definition === undefined) return undefined;
    const acknowledged: Acknowledged = { id: definition.id, position: newest(feed.position), timeMs: now() };
    await records.put(`p:${name}`, JSON.stringify(acknowledged));
    return feedOf(name, definition, acknowledged);
  }

  private feedIn(records: ReadonlyMap<string, string>, name: string): Feed | undefined {
    const definition = this.definitionIn(records, name);
    const text = records.get(`p:${name}`);
    const acknowledged = text === undefined ? undefined : (JSON.parse(text) as Acknowledged);
    // An acknowledgement can be written while the feed is removed. It then belongs to no later feed of that name.
    return definition && feedOf(name, definition, acknowledged?.id === definition.id ? acknowledged : undefined);
  }

  private definitionIn(records: ReadonlyMap<string, string>, name: string): Definition | undefined {
    const text = records.get(`d:${name}`);
    const definition = text === undefined ? undefined : (JSON.parse(text) as Definition);
    return definition?.storeId === this.deps.storeId ? definition : undefined;
  }
}

function feedOf(name: string, { filter, from, start, createdMs }: Definition, last: Acknowledged | undefined): Feed {
  return { name, filter, from, position: last?.position ?? start, createdMs, acknowledgedMs: last?.timeMs };
}
