import type { Command } from '../wallet/command.js';
import type { Decision } from '../wallet/decision.js';

/** A decision on a command. Times are readings of the monotonic clock. */
export interface Turn {
  readonly command: Command;
  readonly decision: Decision;
  /** The player's currency; undefined if the player does not exist. */
  readonly currency: string | undefined;
  readonly deadlineMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** A completed append. Times are readings of the monotonic clock. */
export interface CompletedAppend {
  /** The time at which each command was decided. */
  readonly decidedMs: readonly number[];
  readonly completedMs: number;
  readonly replies: number;
  /** Number of events; 0 if the append had no entry and only confirmed that this process still owns the log. */
  readonly events: number;
  readonly bytes: number;
  readonly tookMs: number;
}

/** Receives notifications from a shard; implemented by telemetry. */
export interface ShardObserver {
  decided(shard: number, turn: Turn): void;
  appendCompleted(shard: number, completed: CompletedAppend): void;
  /** Called when an append has failed and will be retried. `nowMs` is a reading of the monotonic clock. */
  appendFailed(shard: number, error: Error, nowMs: number): void;
  /** Called when the store had lost this many entries and the shard has appended them again. */
  healed(shard: number, entries: number): void;
  /** Called when an assertion has failed, so that the shard drops its memory. */
  failed(shard: number): void;
}
