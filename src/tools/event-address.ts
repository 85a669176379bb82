import type { Lsn } from '../shard/log/lsn.js';

/** The place of an event: an entry of a shard's log, and its place in that entry. */
export interface EventAddress {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly index: number;
}
