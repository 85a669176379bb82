import type { IdHit } from '../wallet/queries/find-id.js';

/** Query for a search in the store itself: an ID, or a player's events starting at a version. */
export type StoreQuery = { readonly hitsMax: number } & (
  | { readonly in: 'archive' | 'log'; readonly id: string }
  | { readonly in: 'player'; readonly username: string; readonly fromVersion: number }
);

/** A log event with its position. */
export interface LoggedEvent {
  readonly version: number;
  /** Types of the event's changes, or the event's own type. */
  readonly what: readonly string[];
  /** The ID of the request that caused the event; undefined if no callback caused it. */
  readonly requestId: string | undefined;
  readonly timeMs: number;
  readonly shard: number;
  readonly lsn: string;
}

/** A line of a search. The last line is `end` or `failed`. */
export type SearchLine =
  | { readonly type: 'hit'; readonly hit: IdHit & { readonly shard?: number; readonly lsn?: string | undefined } }
  | ({ readonly type: 'event' } & LoggedEvent)
  /** `done` is the fraction that has been searched, from 0 to 1. */
  | { readonly type: 'progress'; readonly done: number }
  /** `isCut` means that there were more hits. `notes` are sentences about gaps in the result. */
  | { readonly type: 'end'; readonly isCut: boolean; readonly notes: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string };

export interface StoreSearch {
  readonly lines: AsyncIterable<SearchLine>;
  /** Cancels the search. May be called repeatedly, and after the search has ended. */
  stop(): void;
}

/** Searches the archive and the log in a separate process. */
export interface StoreSearcher {
  /** Begins a search. Returns undefined if another search is running. */
  tryBegin(query: StoreQuery): StoreSearch | undefined;
  /** Ends the search that is running, if any. */
  close(): void;
}
