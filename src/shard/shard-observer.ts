import type { Command } from '../wallet/command.js';
import type { Decision } from '../wallet/decision.js';

/** A command that has been decided. Times are of the monotonic clock. */
export interface Turn {
  readonly command: Command;
  readonly decision: Decision;
  /** The player's; undefined when there is no player. */
  readonly currency: string | undefined;
  readonly deadlineMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** A flight that has arrived. Times are of the monotonic clock. */
export interface Landing {
  /** When each of its commands had been decided. */
  readonly decidedMs: readonly number[];
  readonly landedMs: number;
  readonly replies: number;
  /** 0: it had nothing to append, and has only confirmed that the log is ours. */
  readonly events: number;
  readonly bytes: number;
  readonly tookMs: number;
}

/** What a shard tells about its work; telemetry listens. */
export interface ShardObserver {
  decided(shard: number, turn: Turn): void;
  landed(shard: number, landing: Landing): void;
  /** An append did not get through; it goes again. `nowMs` is of the monotonic clock. */
  appendFailed(shard: number, error: Error, nowMs: number): void;
  /** The store had lost so many entries; they are there again. */
  healed(shard: number, entries: number): void;
  /** An assertion failed: the shard drops its memory. */
  failed(shard: number): void;
}
