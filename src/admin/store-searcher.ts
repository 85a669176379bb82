import type { IdHit } from '../wallet/find-id.js';

/** Query for a search in the store itself: an id, or a player's events from this version on. */
export type StoreQuery = { readonly hitsMax: number } & (
  | { readonly in: 'archive' | 'log'; readonly id: string }
  | { readonly in: 'player'; readonly username: string; readonly fromVersion: number }
);

/** An event of the log with its position. */
export interface LoggedEvent {
  readonly version: number;
  /** Types of the event's changes, or the event's own type. */
  readonly what: readonly string[];
  /** Undefined when no callback caused the event. */
  readonly requestId: string | undefined;
  readonly timeMs: number;
  readonly shard: number;
  readonly lsn: string;
}

/** A line of a search. The last line is `end` or `failed`. */
export type SearchLine =
  | { readonly type: 'hit'; readonly hit: IdHit & { readonly shard?: number; readonly lsn?: string | undefined } }
  | ({ readonly type: 'event' } & LoggedEvent)
  /** A share, from 0 to 1. */
  | { readonly type: 'progress'; readonly done: number }
  /** `isCut`: there were more hits. `notes`: sentences about gaps in the result. */
  | { readonly type: 'end'; readonly isCut: boolean; readonly notes: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string };

export interface StoreSearch {
  readonly lines: AsyncIterable<SearchLine>;
  /** Cancels the search. May be called again, and after the end. */
  stop(): void;
}

/** Reads archive and log in a separate process. */
export interface StoreSearcher {
  /** Undefined: another search is running. */
  tryBegin(query: StoreQuery): StoreSearch | undefined;
  /** Ends the running search. */
  close(): void;
}
