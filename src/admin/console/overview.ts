/** JSON of the console's overview: this node, once a second. The page uses these types too. */

/** Callbacks a second. */
export interface CallbackRate {
  readonly endpoint: string;
  /** `accepted`, or the name of a failure. */
  readonly result: string;
  readonly perSecond: number;
}

export interface Latency {
  /** `whole`: from the headers of a callback to its answer; otherwise a stage of that time. */
  readonly stage: 'whole' | 'queue' | 'decide' | 'durable' | 'reply';
  /** Null: nothing was measured. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface ShardLine {
  readonly shard: number;
  readonly state: string;
  /** Name of a node; null when this node is alone, or no known node serves the shard. */
  readonly owner: string | null;
  readonly players: number;
  readonly waiting: number;
  /** Sequences of the log; null when another node serves the shard. */
  readonly watermarks: ShardWatermarks | null;
  /** Time of the newest snapshot; null: there is none. */
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

/** A followed backup: another process, known to this node only by the file that backup.metricsFile names. */
export type Backup =
  | { readonly state: 'unseen' }
  | { readonly state: 'unreadable'; readonly path: string; readonly reason: string }
  | {
      readonly state: 'seen';
      /** The backup holds everything that the store had at this time. */
      readonly coveredMs: number;
      readonly lagEntries: number;
      readonly fileBytes: number;
      readonly fileBegunMs: number;
      /** Number of failures of the --then command. */
      readonly thenFailures: number;
    };

/** An alert. */
export interface Trouble {
  /** `now`: players feel it. `soon`: look at it in the next days. */
  readonly urgency: 'now' | 'soon';
  readonly what: string;
  readonly action: string;
}

export interface Overview {
  readonly version: string;
  readonly startedMs: number;
  readonly isReady: boolean;
  /** Name of this node; null when it is alone. */
  readonly node: string | null;
  /** Interval of rates and latencies; 0 before there is a second measurement. */
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
  /** Bytes of players' and transactions' records, outside any heap. */
  readonly recordBytes: { readonly taken: number; readonly used: number };
  /** Bytes of rounds known to be in the archive. */
  readonly archiveBytes: number;
  readonly store: {
    readonly isUp: boolean;
    /** Null: not asked yet, or unknown to the store. */
    readonly bytes: number | null;
    readonly freeBytes: number | null;
    readonly appendP99Ms: number | null;
  };
  readonly backup: Backup;
  /** Time of this machine's last benchmarks; null: never, or no report here. */
  readonly benchmarkMs: number | null;
  readonly troubles: readonly Trouble[];
}

/** Ten seconds of the last hour. */
export interface Moment {
  readonly atMs: number;
  /** Rates per second: accepted; refused for a reason of the player's; answered with an error. */
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}
