import type { ConfirmedTime } from '../base/irreversible-time.js';
import type { Metric } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { Taking } from '../shard/log/follower.js';
import type { Lsn } from '../shard/log/lsn.js';
import type { Head, Takeover } from '../shard/log/wal.js';
import type { ShardState } from '../shard/shard.js';
import type { Pace, SnapshotResult } from '../shard/snapshot/snapshotter.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';

export interface ShardStatus {
  readonly shard: number;
  readonly state: ShardState;
  readonly players: number;
  readonly waiting: number;
  /** Newest durable entry. */
  readonly head: Head | undefined;
  /** Log time: upper bound of all entry timestamps; 0 before the log was read. Milliseconds since 1970. */
  readonly timeMs: number;
  /** How long the oldest pending append has waited; 0 without one. Milliseconds. */
  readonly pendingAppendMs: number;
  /** Why the shard is stopped. */
  readonly reason: string | undefined;
  /**
   * The archive's key filter is unknown here, and the archive does not answer: while serving, the shard accepts no new
   * bet.
   */
  readonly lacksNames: boolean;
}

/**
 * Commands for a shard that nodes share.
 *   `follow`   load the shard, and follow its log
 *   `bring`    follow without throttling, since no node serves the shard
 *   `take`     fence the log and serve the shard
 *   `pause`    decide nothing more; the shard resumes by itself unless it is released soon
 *   `resume`   end the pause
 *   `release`  another owner has fenced the paused shard: follow it
 *   `leave`    unload the shard
 *   `confirm`  check whether this node still owns the log
 *   `abandon`  another node owns the shard, but the log cannot confirm it
 *   `stop`     no node can continue the log
 */
export type Move =
  | ({ readonly type: 'take'; readonly shard: number } & Taking)
  | { readonly type: 'stop'; readonly shard: number; readonly reason: string }
  | {
      readonly type: 'follow' | 'bring' | 'pause' | 'resume' | 'release' | 'leave' | 'confirm' | 'abandon';
      readonly shard: number;
    };

/**
 * A paused shard resumes after this long without a new owner. Resuming while the new owner is fencing costs more than
 * waiting. With 150 ms, many handovers of a rolling restart ended like that on busy nodes and disks.
 */
export const HANDOVER_MS = 400;

export type MoveResult =
  | { readonly type: 'done' }
  /** Paused: every acknowledged entry is in the log up to `head`. */
  | { readonly type: 'still'; readonly head: Head }
  /** Serving since the fence `head`. */
  | { readonly type: 'taken'; readonly head: Head }
  /** Not taken: the log lacks acknowledged entries, and this node does not have them either. */
  | { readonly type: 'short'; readonly head: Head }
  /** Not taken: the log has this head. */
  | { readonly type: 'conflict'; readonly head: Head }
  | { readonly type: 'failed'; readonly reason: string; readonly isPermanent: boolean };

/** Shards of a process, in its own thread or in workers. */
export interface Shards {
  /**
   * Recovers all shards, which have been taken over. A shard whose log cannot be continued is stopped and reports why.
   */
  start(fences: readonly Takeover[]): Promise<void>;
  /**
   * Executes a command. The replier is called once. A command that has not begun by `deadlineMs` (monotonic clock) does
   * not begin.
   */
  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void;
  /**
   * Parses a callback, executes its command in the player's shard, and writes the answer; otherwise like `execute`. The
   * text is not kept after it has been parsed.
   */
  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void;
  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void;
  status(): readonly ShardStatus[];
  /** Metrics of all threads, each metric once per thread. Worker metrics are at most a second old. */
  metrics(): readonly Metric[];
  /** Resolves to true when no request waits any more, or to false after `timeoutMs`. */
  drain(timeoutMs: number): Promise<boolean>;
  /** Takes a snapshot of each serving shard that has changed. */
  takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]>;
  /** Does not reject. */
  move(move: Move): Promise<MoveResult>;
  /** Allows events and snapshots of this format from now on: every node that shares the store reads them. */
  allowFormat(format: number): void;
  /** Sets confirmed time: irreversible acts of all threads count from it, and wait for the first one. */
  confirmTime(confirmed: ConfirmedTime): void;
  /** True while nothing new is opened or followed for lack of memory. */
  readonly isMemoryFull: boolean;
  /** Saves entries that only this process still has, after another process has taken over. */
  keepOrphans(): Promise<void>;
  close(): Promise<void>;
}

/** Shards of one thread, which can also replace a thread that died; see `ShardHost.resume`. */
export interface ThreadShards extends Shards {
  resume(acknowledged: ReadonlyMap<number, Lsn>): Promise<void>;
  /** Newest durable entry of each shard. */
  durable(): readonly (readonly [shard: number, lsn: Lsn])[];
  /** Like `carryOut`, but does not execute a callback for another thread's shard: returns that shard. */
  tryCarryOut(callback: SentCallback, replier: Replier<CallbackReply>): number | undefined;
}
