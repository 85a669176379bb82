/** JSON overview of this node, sent to the console once a second. The page uses these types as well. */

/** Rate of the callbacks to one endpoint with one result. */
export interface CallbackRate {
  readonly endpoint: string;
  /** `accepted`, or the name of a failure. */
  readonly result: string;
  readonly perSecond: number;
}

export interface Latency {
  /** `whole` covers the time from a callback's headers to its answer; the other stages are parts of it. */
  readonly stage: 'whole' | 'queue' | 'decide' | 'durable' | 'reply';
  /** Median in milliseconds. Like `p99Ms`, it is null if nothing was measured. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface ShardLine {
  readonly shard: number;
  readonly state: string;
  /** The node name; null if this node has no cluster, or if no known node serves the shard. */
  readonly owner: string | null;
  readonly players: number;
  readonly waiting: number;
  /** Log sequence numbers; null if another node serves the shard. */
  readonly watermarks: ShardWatermarks | null;
  /** The time of the newest snapshot; null if there is none. */
  readonly snapshotMs: number | null;
  readonly reason: string | null;
}

export interface ShardWatermarks {
  readonly applied: number;
  readonly appended: number;
  readonly durable: number;
  readonly snapshot: number;
}

export interface ThreadHeap {
  readonly thread: string;
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/**
 * A backup in follow mode. It runs in another process, which this node knows only through the file named by
 * backup.metricsFile.
 */
export type Backup =
  | { readonly state: 'unseen' }
  | { readonly state: 'unreadable'; readonly path: string; readonly reason: string }
  | {
      readonly state: 'seen';
      /** The backup contains everything that the store contained at this time. */
      readonly coveredMs: number;
      readonly lagEntries: number;
      readonly fileBytes: number;
      readonly fileBegunMs: number;
      /** Number of times the --then command failed. */
      readonly thenFailures: number;
    };

export interface Alert {
  /** `now`: players are affected. `soon`: the problem needs attention within the next few days. */
  readonly urgency: 'now' | 'soon';
  readonly what: string;
  readonly action: string;
}

export interface Overview {
  readonly version: string;
  readonly startedMs: number;
  readonly isReady: boolean;
  /** True while the node executes callbacks of its own before it takes its shards. */
  readonly isWarmingUp: boolean;
  /** The name of this node; null if it has no cluster. */
  readonly node: string | null;
  /** Interval over which rates and latencies are measured; 0 until there is a second measurement. */
  readonly seconds: number;
  readonly callbacks: readonly CallbackRate[];
  readonly latencies: readonly Latency[];
  readonly inFlight: number;
  readonly connections: number;
  readonly players: number;
  readonly transactions: number;
  readonly shards: readonly ShardLine[];
  readonly heaps: readonly ThreadHeap[];
  readonly residentBytes: number;
  /** Bytes of player and transaction records, which are stored outside the heap. */
  readonly recordBytes: { readonly taken: number; readonly used: number };
  /** Bytes of memory that the archive's key filter takes. */
  readonly archiveBytes: number;
  readonly store: {
    readonly isUp: boolean;
    /** Null if not queried yet, or if the store does not know. */
    readonly bytes: number | null;
    readonly freeBytes: number | null;
    readonly appendP99Ms: number | null;
  };
  readonly backup: Backup;
  /** The time of this machine's last benchmarks; null if there is no report on this machine. */
  readonly benchmarkMs: number | null;
  readonly troubles: readonly Alert[];
}

/** Activity during a ten-second interval of the last hour. */
export interface Moment {
  readonly atMs: number;
  /**
   * Rates per second: accepted callbacks, callbacks refused because of the player's state, and callbacks answered with
   * an error.
   */
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}
