import type { Metric } from '../base/metric.js';
import type { Lsn } from '../shard/lsn.js';
import type { BusyAnswer } from '../shard/shard.js';
import type { Pace, SnapshotResult } from '../shard/snapshotter.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { ShardStatus } from './shards.js';

/*
 * What the main thread and a worker tell each other. Requests and results travel in batches: a message costs about as
 * much as what is in it, and waking the other thread costs 45 us whatever it carries.
 *
 *   main thread ──requests─> worker ──results─> main thread
 */

interface Addressed {
  readonly shard: number;
  readonly deadlineMs: number;
}

export type NewRequest = Addressed & ({ readonly command: Command } | { readonly query: Query });
export type WireRequest = NewRequest & { readonly id: number };

export type WireResult = Answer | QueryResult | BusyAnswer;

export type ToWorker =
  | { readonly type: 'submit-requests'; readonly requests: readonly WireRequest[] }
  | { readonly type: 'drain-shards'; readonly timeoutMs: number }
  | { readonly type: 'take-snapshots'; readonly pace: Pace }
  | { readonly type: 'keep-orphans' }
  | { readonly type: 'close-shards' };

export type FromWorker =
  | { readonly type: 'shards-opened' }
  | { readonly type: 'open-failed'; readonly message: string }
  /** `durable` are the newest entries of the shards: what is answered here is in the log up to them. */
  | {
      readonly type: 'results';
      readonly ids: readonly number[];
      readonly results: readonly WireResult[];
      readonly durable: readonly (readonly [shard: number, lsn: Lsn])[];
      /** Since when they may be told. They come in one stretch of code, so that one time says it for all. */
      readonly readyMs: number | undefined;
    }
  /** Metrics come with every tenth. */
  | {
      readonly type: 'status';
      readonly shards: readonly ShardStatus[];
      readonly metrics: readonly Metric[] | undefined;
    }
  | { readonly type: 'fenced'; readonly shard: number; readonly takenBy: string }
  | { readonly type: 'drained'; readonly isEmpty: boolean }
  | { readonly type: 'snapshots-taken'; readonly results: readonly SnapshotResult[] }
  | { readonly type: 'orphans-kept' };

/** The half of a MessagePort that both sides need. */
export interface Port<Sent> {
  postMessage(message: Sent): void;
}
