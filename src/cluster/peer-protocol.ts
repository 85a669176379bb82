import type { Head } from '../shard/log/wal.js';
import type { CallbackColumns, ReplyColumns } from '../worker/columns.js';
import type { WireRequest, WireResult } from '../worker/protocol.js';

/** What another member serves, and the newest entry of which it has told. */
export interface Serving {
  readonly shard: number;
  readonly head: Head;
}

/**
 * What members tell each other. Nothing depends on any of it arriving, or arriving once: the table and the logs decide.
 *
 *   pulse    each 200 ms: alive, and what it serves; `clockMs` is its monotonic clock
 *   calls    callbacks for shards of the other one; deadlines are of the other one's clock. Answered by `replies`
 *   asks     commands and queries of operators, likewise. Answered by `results`
 *   want     I am to own it, and have read its log up to `sequence`
 *   take     I have stopped, all I told is up to `head`: fence over exactly this
 *   own      I serve it, since the fence of this epoch
 *   look     the table has changed
 */
export type PeerMessage =
  | { readonly type: 'pulse'; readonly clockMs: number; readonly serving: readonly Serving[] }
  | { readonly type: 'calls'; readonly callbacks: CallbackColumns }
  | { readonly type: 'replies'; readonly replies: ReplyColumns }
  | { readonly type: 'asks'; readonly requests: readonly WireRequest[] }
  | { readonly type: 'results'; readonly ids: readonly number[]; readonly results: readonly WireResult[] }
  | { readonly type: 'want'; readonly shard: number; readonly sequence: number }
  | { readonly type: 'take'; readonly shard: number; readonly head: Head }
  | { readonly type: 'own'; readonly shard: number; readonly epoch: number }
  | { readonly type: 'look' };

export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

export interface PeerEvents {
  onMessage(tag: string, message: PeerMessage): void;
  onUp(tag: string): void;
  /** What was on its way may have arrived or not. */
  onDown(tag: string): void;
  /** Nobody listens at its address, or somebody else does. */
  onRefused(tag: string): void;
}

/** Links between members: one for each pair, kept up by both. */
export interface PeerLinks {
  /** Keeps links to these members, and to no others. */
  keep(peers: ReadonlyMap<string, PeerAddress>): void;
  isUp(tag: string): boolean;
  /** False when there is no link. */
  send(tag: string, message: PeerMessage): boolean;
  close(): Promise<void>;
}
