import type { Command } from '../wallet/command.js';
import type { Decision } from '../wallet/decision.js';

/** A decided command. Times are on the monotonic clock. */
export interface Turn {
  readonly command: Command;
  readonly decision: Decision;
  /** The player's currency; undefined when the player does not exist. */
  readonly currency: string | undefined;
  readonly deadlineMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** A completed append. Times are on the monotonic clock. */
export interface CompletedAppend {
  /** When each of its commands was decided. */
  readonly decidedMs: readonly number[];
  readonly landedMs: number;
  readonly replies: number;
  /** 0 if the append had no entry and only confirmed that this process still owns the log. */
  readonly events: number;
  readonly bytes: number;
  readonly tookMs: number;
}

/** Receives the events of a shard's work; telemetry implements this. */
export interface ShardObserver {
  decided(shard: number, turn: Turn): void;
  landed(shard: number, landing: CompletedAppend): void;
  /** An append failed and will be retried. `nowMs` is on the monotonic clock. */
  appendFailed(shard: number, error: Error, nowMs: number): void;
  /** The store had lost this many entries and has them again. */
  healed(shard: number, entries: number): void;
  /** An assertion failed: the shard drops its memory. */
  failed(shard: number): void;
}
