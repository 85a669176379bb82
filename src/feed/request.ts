import type { Timeline } from '../ports/timeline.js';
import type { FeedFilter } from './filter.js';

/** A consumer of the feed. */
export interface Feed {
  readonly name: string;
  readonly filter: FeedFilter;
  /** The feed's beginning: `now`, `start` or a position. */
  readonly from: string;
  /** Everything up to this position is acknowledged. */
  readonly position: string;
  readonly createdMs: number;
  /** The time of the newest acknowledgement; undefined before the first one. */
  readonly acknowledgedMs: number | undefined;
}

/** The log after a feed's acknowledged position, over all shards. */
export interface FeedLag {
  /** Number of entries, including those that were trimmed. */
  readonly entries: number;
  /**
   * Approximate size in bytes: exact for a few entries in each shard. The size of further ones is estimated from these.
   */
  readonly bytes: number;
  /** Age of the oldest entry that is left. */
  readonly ms: number;
}

export interface FeedWithLag extends Feed {
  readonly lag: FeedLag;
}

/** A request about the feeds. */
export type FeedRequest =
  | { readonly type: 'create'; readonly name: string; readonly filter: FeedFilter; readonly from: string }
  | { readonly type: 'list' }
  /** Loads what the first read would load. */
  | { readonly type: 'warm-up' }
  | { readonly type: 'find'; readonly name: string }
  | { readonly type: 'remove'; readonly name: string }
  | { readonly type: 'acknowledge'; readonly name: string; readonly position: string }
  | {
      readonly type: 'read';
      readonly name: string;
      /** Undefined: the acknowledged position. */
      readonly after: string | undefined;
      readonly limit: number;
      /** How long to wait for the first event. */
      readonly waitMs: number;
    };

/** The reason why a request about the feeds is refused. */
export type FeedRefusal =
  | 'feed-not-found'
  | 'feed-differs'
  | 'feeds-full'
  | 'feed-position-invalid'
  | 'feed-position-foreign';

/** Entries that a consumer did not get: those after `from` up to `to`, as LSNs. */
export interface LostEntries {
  readonly shard: number;
  readonly from: string;
  readonly to: string;
  /** `trimmed`: no longer in the log. `accepted-loss`: an operator continued without acknowledged entries. */
  readonly reason: 'trimmed' | 'accepted-loss';
}

/** A shard whose log cannot be read on after the position of a page. */
export interface DamagedLog {
  readonly shard: number;
  readonly reason: string;
}

/** The answer to a request. A page is already JSON text, because only the reading process builds events. */
export type FeedAnswer =
  | { readonly type: 'feed'; readonly feed: Feed; readonly isNew: boolean }
  | { readonly type: 'feeds'; readonly feeds: readonly FeedWithLag[]; readonly timelines: readonly Timeline[] }
  | { readonly type: 'removed' }
  | { readonly type: 'warm' }
  | {
      readonly type: 'page';
      readonly json: string;
      readonly next: string;
      readonly damaged: readonly DamagedLog[];
    }
  | { readonly type: 'refused'; readonly reason: FeedRefusal }
  /** A temporary failure, such as an outage of the store. */
  | { readonly type: 'failed'; readonly reason: string };
