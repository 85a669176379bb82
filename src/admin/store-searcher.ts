import type { IdHit } from '../wallet/find-id.js';

/** What is looked for in the store itself: an id, or what happened to a player from this version on. */
export type StoreQuery = { readonly hitsMax: number } & (
  | { readonly in: 'archive' | 'log'; readonly id: string }
  | { readonly in: 'player'; readonly username: string; readonly fromVersion: number }
);

/** An event of the log, and where it is there. */
export interface LoggedEvent {
  readonly version: number;
  /** The types of its changes, or its own. */
  readonly what: readonly string[];
  /** Undefined where no callback made it. */
  readonly requestId: string | undefined;
  readonly timeMs: number;
  readonly shard: number;
  readonly lsn: string;
}

/** What a search tells. The last line is `end` or `failed`. */
export type SearchLine =
  | { readonly type: 'hit'; readonly hit: IdHit & { readonly shard?: number; readonly lsn?: string | undefined } }
  | ({ readonly type: 'event' } & LoggedEvent)
  /** A share, from 0 to 1. */
  | { readonly type: 'progress'; readonly done: number }
  /** `isCut`: there were more hits. `notes`: sentences about what cannot be known. */
  | { readonly type: 'end'; readonly isCut: boolean; readonly notes: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string };

export interface StoreSearch {
  readonly lines: AsyncIterable<SearchLine>;
  /** It is not wanted any more. May be called again, and after its end. */
  stop(): void;
}

/** Reads archive and log in a process of its own. */
export interface StoreSearcher {
  /** Undefined: another search is under way. */
  maybeBegin(query: StoreQuery): StoreSearch | undefined;
  /** Ends what is under way. */
  close(): void;
}
