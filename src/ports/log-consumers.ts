import type { Lsn } from './lsn.js';

/** Consumers outside of walletd's shards that read the log at their own speed. All methods reject during an outage. */
export interface LogConsumers {
  /** The newest entry of the shard that every consumer has; undefined if the log is not kept for any consumer. */
  slowest(shard: number): Promise<Lsn | undefined>;
  /** The log time of the first entry after `lsn` that is left, in ms; undefined if there is none. */
  timeAfter(shard: number, lsn: Lsn): Promise<number | undefined>;
}
