/*
 * What the console's overview shows, as JSON: this node, once a second. The page reads these types too.
 */

/** Callbacks a second. */
export interface CallbackRate {
  readonly endpoint: string;
  /** `accepted`, or the name of a failure. */
  readonly result: string;
  readonly perSecond: number;
}

export interface Latency {
  /** `whole`, from the headers of a callback to its answer, or a stage of it. */
  readonly stage: 'whole' | 'queue' | 'decide' | 'durable' | 'reply';
  /** Null: nothing was measured. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface ShardLine {
  readonly shard: number;
  readonly state: string;
  /** The name of a node; null where this node is alone, or nobody is known to serve it. */
  readonly owner: string | null;
  readonly players: number;
  readonly waiting: number;
  /** Sequences of the log; null where another node serves the shard. */
  readonly watermarks: ShardWatermarks | null;
  /** When the newest snapshot was taken; null: there is none. */
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

/** A followed backup: another process, which this node knows only by the file that backup.metricsFile names. */
export type Backup =
  | { readonly state: 'unseen' }
  | { readonly state: 'unreadable'; readonly path: string; readonly reason: string }
  | {
      readonly state: 'seen';
      /** All that the store had then is in it. */
      readonly coveredMs: number;
      readonly lagEntries: number;
      readonly fileBytes: number;
      readonly fileBegunMs: number;
      /** Times that the command of --then has failed. */
      readonly thenFailures: number;
    };

/** Something that is not as it should be. */
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
  /** The name of this node; null where it is alone. */
  readonly node: string | null;
  /** What rates and latencies are over; 0 when there is nothing to compare with yet. */
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
  /** Of players and transactions, outside of any heap. */
  readonly recordBytes: { readonly taken: number; readonly used: number };
  /** Of what is known to be in the archive. */
  readonly archiveBytes: number;
  readonly store: {
    readonly isUp: boolean;
    /** Null: not asked yet, or it does not say. */
    readonly bytes: number | null;
    readonly freeBytes: number | null;
    readonly appendP99Ms: number | null;
  };
  readonly backup: Backup;
  /** When the benchmarks of this machine were measured last; null: never, or what was written is not here. */
  readonly benchmarkMs: number | null;
  readonly troubles: readonly Trouble[];
}

/** Ten seconds of the last hour. */
export interface Moment {
  readonly atMs: number;
  /** A second: accepted; refused for a reason of the player's; answered with an error. */
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}
