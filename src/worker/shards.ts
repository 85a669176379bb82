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
  /** What is durable. */
  readonly head: Head | undefined;
  /** Log time: no entry is newer. 0 before the log was read. Milliseconds since 1970. */
  readonly timeMs: number;
  /** How long what it has decided waits for its log; 0 when nothing does. Milliseconds. */
  readonly flightMs: number;
  /** Why it is stopped. */
  readonly reason: string | undefined;
  /** The names of its archive are not known here, and the archive does not answer: no new bet is taken where it serves. */
  readonly lacksNames: boolean;
}

/**
 * What is asked of a shard that several nodes share. `bring`: follow its log, without rests, since nobody serves it. `take`: fence
 * its log and serve it. `pause`: decide nothing more; it goes on by itself when it is not released soon. `release`: another owner has
 * fenced it, follow that one. `confirm`: look whether the log is still ours. `abandon`: it is another node's, which cannot be looked
 * up. `stop`: its log cannot be continued.
 */
export type Move =
  | ({ readonly type: 'take'; readonly shard: number } & Taking)
  | { readonly type: 'stop'; readonly shard: number; readonly reason: string }
  | {
      readonly type: 'follow' | 'bring' | 'pause' | 'resume' | 'release' | 'leave' | 'confirm' | 'abandon';
      readonly shard: number;
    };

/**
 * What is paused for another node goes on when nobody has it by then. To go on while the other one is fencing costs more than to
 * wait: with 150 ms many hand-overs of a rolling restart ended like that where nodes and disks were busy.
 */
export const HANDOVER_MS = 400;

export type MoveResult =
  | { readonly type: 'done' }
  /** It is paused, and all that it told is in the log up to `head`. */
  | { readonly type: 'still'; readonly head: Head }
  /** It serves since the fence `head`. */
  | { readonly type: 'taken'; readonly head: Head }
  /** Not taken: the log lacks what was told, which is not here either. */
  | { readonly type: 'short'; readonly head: Head }
  /** Not taken: the log has this head. */
  | { readonly type: 'conflict'; readonly head: Head }
  | { readonly type: 'failed'; readonly reason: string; readonly isPermanent: boolean };

/** The shards of a process, in its own thread or in workers. */
export interface Shards {
  /** Recovers all shards, which have been taken over. One whose log cannot be continued is stopped, and says why. */
  start(fences: readonly Takeover[]): Promise<void>;
  /** The replier is called once; after `deadlineMs` (of the monotonic clock) what has not been begun is not begun. */
  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void;
  /**
   * Reads a callback, executes its command where its player is, and writes the answer; else like `execute`. Its text is
   * kept no longer than it takes to read it.
   */
  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void;
  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void;
  status(): readonly ShardStatus[];
  /** What its threads have counted, each metric once per thread. Of workers it is a second old at the most. */
  metrics(): readonly Metric[];
  /** Resolves when nothing waits any more, or after `timeoutMs`; says which. */
  drain(timeoutMs: number): Promise<boolean>;
  /** Takes one of each shard that serves and has changed. */
  takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]>;
  /** Does not reject. */
  move(move: Move): Promise<MoveResult>;
  /** Events and snapshots of this format may be written from now on: every node that shares the store reads them. */
  allowFormat(format: number): void;
  /** Confirmed time: irreversible acts of all threads count from it, and wait for the first one. */
  confirmTime(confirmed: ConfirmedTime): void;
  /** Nothing new is opened or followed for want of memory. */
  readonly isMemoryFull: boolean;
  /** After another process has taken over: puts what only this one still has where people find it. */
  keepOrphans(): Promise<void>;
  close(): Promise<void>;
}

/** The shards of one thread, which can also take the place of some that died with theirs; see `ShardHost.resume`. */
export interface ThreadShards extends Shards {
  resume(acknowledged: ReadonlyMap<number, Lsn>): Promise<void>;
  /** The newest durable entry of each shard. */
  durable(): readonly (readonly [shard: number, lsn: Lsn])[];
  /** As `carryOut`, but a callback for a shard of another thread is left alone: returns that shard. */
  maybeCarryOut(callback: SentCallback, replier: Replier<CallbackReply>): number | undefined;
}
