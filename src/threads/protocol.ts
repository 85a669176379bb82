import type { ConfirmedTime } from '../base/irreversible-time.js';
import type { Metric } from '../base/metric.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { Lsn } from '../ports/lsn.js';
import type { Head } from '../ports/wal.js';
import type { Pace, SnapshotResult } from '../snapshot/snapshotter.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { CallbackColumns, ReplyColumns } from './columns.js';
import type { Move, MoveResult, ShardStatus } from './shards.js';

/*
 * Messages between the main thread and a worker. Everything is batched: the fixed cost of a message is about as high as
 * the cost of its contents, and waking the other thread takes 45 us for a message of any size.
 *
 *   main thread ──callbacks──> worker ──replies──> main thread
 *   main thread ──requests───> worker ──results──> main thread      (operators)
 */

interface Addressed {
  readonly shard: number;
  readonly deadlineMs: number;
}

export type NewRequest = Addressed & ({ readonly command: Command } | { readonly query: Query });
export type WireRequest = NewRequest & { readonly id: number };

export type WireResult = Answer | QueryResult | BusyAnswer;

export type ToWorker =
  | { readonly type: 'submit-callbacks'; readonly callbacks: CallbackColumns }
  | { readonly type: 'submit-requests'; readonly requests: readonly WireRequest[] }
  | { readonly type: 'drain-shards'; readonly timeoutMs: number }
  | { readonly type: 'take-snapshots'; readonly pace: Pace }
  | { readonly type: 'move-shard'; readonly id: number; readonly move: Move }
  | { readonly type: 'allow-format'; readonly format: number }
  | { readonly type: 'confirm-time'; readonly confirmed: ConfirmedTime }
  | { readonly type: 'keep-orphans' }
  | { readonly type: 'close-shards' };

/** Fields that every message with replies or results has. */
interface Durable {
  /** The newest durable entry of each shard. This entry covers everything that the answers in this message show. */
  readonly durable: readonly (readonly [shard: number, lsn: Lsn])[];
  /**
   * The time at which the answers became ready to be sent. One synchronous run adds all of them, so they share one
   * time.
   */
  readonly readyMs: number | undefined;
}

export type FromWorker =
  | { readonly type: 'shards-opened' }
  | { readonly type: 'open-failed'; readonly message: string }
  | (Durable & { readonly type: 'replies'; readonly replies: ReplyColumns })
  | (Durable & { readonly type: 'results'; readonly ids: readonly number[]; readonly results: readonly WireResult[] })
  /**
   * The worker does not have this callback's shard. The main thread only guesses a callback's player; after a wrong
   * guess, the worker returns the callback with the number of the right shard.
   */
  | {
      readonly type: 'misplaced-callback';
      readonly id: number;
      readonly shard: number;
      readonly callback: SentCallback;
    }
  /** The worker's status. Only every tenth status contains metrics. */
  | {
      readonly type: 'status';
      readonly shards: readonly ShardStatus[];
      readonly isMemoryFull: boolean;
      readonly metrics: readonly Metric[] | undefined;
    }
  | { readonly type: 'fenced'; readonly shard: number; readonly takenBy: string; readonly head: Head }
  | { readonly type: 'drained'; readonly isEmpty: boolean }
  | { readonly type: 'snapshots-taken'; readonly results: readonly SnapshotResult[] }
  | { readonly type: 'shard-moved'; readonly id: number; readonly result: MoveResult }
  | { readonly type: 'orphans-kept' };

/** The part of a MessagePort that both sides use. */
export interface Port<Sent> {
  postMessage(message: Sent): void;
}
