import type { Metric } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import type { Head, Takeover } from '../shard/log/wal.js';
import type { BusyAnswer } from '../shard/request.js';
import type { ShardState } from '../shard/shard.js';
import type { Pace, SnapshotResult } from '../shard/snapshot/snapshotter.js';
import type { Command, Endpoint } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';

export interface ShardStatus {
  readonly shard: number;
  readonly state: ShardState;
  readonly players: number;
  readonly waiting: number;
  /** What is durable. */
  readonly head: Head | undefined;
  /** Why it is stopped. */
  readonly reason: string | undefined;
}

/** A callback as the platform sent it. */
export interface SentCallback {
  readonly endpoint: Endpoint;
  /** Of its body. */
  readonly text: string;
  readonly deadlineMs: number;
}

/** The answer to a callback, and the body that says it to the platform; empty when nobody has read the callback. */
export interface CallbackReply {
  readonly answer: Answer;
  readonly body: string;
}

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
  /** Of all shards that serve and have changed. */
  takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]>;
  /** After another process has taken over: puts what only this one still has where people find it. */
  keepOrphans(): Promise<void>;
  close(): Promise<void>;
}
