import type { ConfirmedTime } from '../base/irreversible-time.js';
import type { Metric } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { ShardState } from '../engine/shard.js';
import type { Taking } from '../log/follower.js';
import type { Lsn } from '../ports/lsn.js';
import type { Head, Takeover } from '../ports/wal.js';
import type { Pace, SnapshotResult } from '../snapshot/snapshotter.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';

export interface ShardStatus {
  readonly shard: number;
  readonly state: ShardState;
  readonly players: number;
  readonly waiting: number;
  /** The head of the newest durable entry. */
  readonly head: Head | undefined;
  /**
   * For a shard that is in no thread: the newest entry that threads of this process acknowledged for it. A thread that
   * ends cannot report its last head.
   */
  readonly acknowledged?: Lsn | undefined;
  /** Log time in ms since 1970, an upper bound of all entry timestamps. It is 0 until the log has been read. */
  readonly timeMs: number;
  /** How long the oldest pending append has been waiting, in ms; 0 if there is none. */
  readonly pendingAppendMs: number;
  /** The reason why the shard has stopped. */
  readonly reason: string | undefined;
  /**
   * True if the keys in the archive are unknown here and the archive does not answer. A shard that serves then accepts
   * no new bets.
   */
  readonly lacksNames: boolean;
}

/**
 * Commands for a shard that nodes share.
 *   `follow`   load the shard and follow its log
 *   `bring`    follow without throttling, because no node serves the shard
 *   `take`     fence the log and serve the shard
 *   `pause`    stop deciding requests; the shard resumes by itself unless it is released soon
 *   `resume`   end the pause
 *   `release`  follow the new owner, which has fenced the paused shard
 *   `leave`    unload the shard
 *   `confirm`  check whether this node still owns the log
 *   `recover`  take over this node's own log again after a failed assertion
 *   `abandon`  give up the shard, because another node owns it but the log cannot confirm this
 *   `stop`     stop the shard, because no node can continue its log
 */
export type Move =
  | ({ readonly type: 'take'; readonly shard: number } & Taking)
  | { readonly type: 'stop'; readonly shard: number; readonly reason: string }
  | {
      readonly type: 'follow' | 'bring' | 'pause' | 'resume' | 'release' | 'leave' | 'confirm' | 'recover' | 'abandon';
      readonly shard: number;
    };

/**
 * A paused shard resumes after this time if there is no new owner yet. Its thread's timer and its replica both ensure
 * this. src/replica/timers.ts gives the reason for the value.
 */
export const HANDOVER_MS = 400;

export type MoveResult =
  | { readonly type: 'done' }
  /** The shard is paused. The log contains every acknowledged entry, up to `head`. */
  | { readonly type: 'still'; readonly head: Head }
  /** The shard was taken over and now serves. Its fence is `head`. */
  | { readonly type: 'taken'; readonly head: Head }
  /**
   * The shard was not taken over, because the log lacks acknowledged entries and this node does not have them either.
   */
  | { readonly type: 'short'; readonly head: Head }
  /** The shard was not taken over, because the log ends in this head instead of the expected one. */
  | { readonly type: 'conflict'; readonly head: Head }
  | { readonly type: 'failed'; readonly reason: string; readonly isPermanent: boolean };

/** The shards of a process. They run in its main thread or in workers. */
export interface Shards {
  /**
   * Recovers all shards; the caller has already written their fences. A shard whose log cannot be continued stops and
   * reports the reason.
   */
  start(fences: readonly Takeover[]): Promise<void>;
  /**
   * Executes a command. The replier is called exactly once. A command that has not started by `deadlineMs` (monotonic
   * clock) never starts.
   */
  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void;
  /**
   * Parses a callback, executes its command in the player's shard, and writes the answer; in all other respects it
   * works like `execute`. The text is released after parsing.
   */
  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void;
  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void;
  status(): readonly ShardStatus[];
  /**
   * Metrics of all threads. Each thread has its own series of a metric. A worker's metrics are at most a second old.
   */
  metrics(): readonly Metric[];
  /** Resolves with true once no requests are pending, or with false after `timeoutMs`. */
  drain(timeoutMs: number): Promise<boolean>;
  /** Takes a snapshot of each serving shard that has changed. */
  takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]>;
  /** Executes a move. Never rejects. */
  move(move: Move): Promise<MoveResult>;
  /** Allows events and snapshots of this format from now on, because every node that shares the store can read them. */
  allowFormat(format: number): void;
  /**
   * Sets the confirmed time, which all threads use for irreversible actions. They take no such action before it is set
   * for the first time.
   */
  confirmTime(confirmed: ConfirmedTime): void;
  /** True if memory is so short that no shard opens or follows anything new. */
  readonly isMemoryFull: boolean;
  /** Saves the entries that only this process still has. Called after another process has taken over. */
  keepOrphans(): Promise<void>;
  close(): Promise<void>;
}

/** The shards of one thread. The thread can also replace one that died; see `ShardHost.resume`. */
export interface ThreadShards extends Shards {
  resume(acknowledged: ReadonlyMap<number, Lsn>): Promise<void>;
  /** The newest durable entry of each shard. */
  durable(): readonly (readonly [shard: number, lsn: Lsn])[];
  /**
   * Like `carryOut`, but if another thread has the callback's shard, returns that shard and does not execute the
   * callback.
   */
  tryCarryOut(callback: SentCallback, replier: Replier<CallbackReply>): number | undefined;
}
