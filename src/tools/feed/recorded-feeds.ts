import type { FeedFilter } from '../../feed/filter.js';
import type { Feed } from '../../feed/request.js';

/** The record of a consumer's definition; see src/store/format/FORMAT.md. */
export interface Definition {
  readonly storeId: string;
  readonly id: string;
  readonly createdMs: number;
  readonly filter: FeedFilter;
  readonly from: string;
  readonly start: string;
}

/** The record of a consumer's acknowledged position. */
export interface Acknowledged {
  readonly id: string;
  readonly position: string;
  readonly timeMs: number;
}

type Records = ReadonlyMap<string, string>;

/** All feeds in the records, by name. */
export function feedsIn(records: Records, storeId: string): readonly Feed[] {
  const feeds: Feed[] = [];
  for (const key of records.keys()) {
    const feed = key.startsWith('d:') ? findFeed(records, storeId, key.slice(2)) : undefined;
    if (feed !== undefined) feeds.push(feed);
  }
  return feeds.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function findFeed(records: Records, storeId: string, name: string): Feed | undefined {
  const definition = findDefinition(records, storeId, name);
  const text = records.get(`p:${name}`);
  const acknowledged = text === undefined ? undefined : (JSON.parse(text) as Acknowledged);
  // An acknowledgement can be written while the feed is removed. It then belongs to no later feed of that name.
  return definition && feedOf(name, definition, acknowledged?.id === definition.id ? acknowledged : undefined);
}

export function findDefinition(records: Records, storeId: string, name: string): Definition | undefined {
  const text = records.get(`d:${name}`);
  const definition = text === undefined ? undefined : (JSON.parse(text) as Definition);
  return definition?.storeId === storeId ? definition : undefined;
}

export function feedOf(name: string, { filter, from, start, createdMs }: Definition, last?: Acknowledged): Feed {
  return { name, filter, from, position: last?.position ?? start, createdMs, acknowledgedMs: last?.timeMs };
}
