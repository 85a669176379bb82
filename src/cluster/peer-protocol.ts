import type { Head } from '../ports/wal.js';
import type { SnapshotResult } from '../snapshot/snapshotter.js';
import type { CallbackColumns, ReplyColumns } from '../threads/columns.js';
import type { WireRequest, WireResult } from '../threads/protocol.js';

/** A shard that a member serves, and the newest entry that the member may have acknowledged. */
export interface Serving {
  readonly shard: number;
  readonly head: Head;
}

/**
 * Heartbeat over a link, with the facts that peers need to forward callbacks or take over shards. Times are on the
 * sender's clocks.
 */
export interface LinkHeartbeat {
  readonly type: 'pulse';
  /** Sender's monotonic clock. */
  readonly clockMs: number;
  readonly nowMs: number;
  readonly serving: readonly Serving[];
  /**
   * Shards that the sender serves or should take but cannot, because their logs have not answered for a while or its
   * memory is full.
   */
  readonly stuck: readonly number[];
  /** True if the registry has answered the sender recently. */
  readonly seesTable: boolean;
}

/**
 * Messages between members. Any message may be lost or arrive twice, because only the registry and the logs decide.
 *
 *   `pulse`    heartbeat, every 200 ms
 *   `calls`    callbacks for the receiver's shards; deadlines are on the receiver's clock. Answered by `replies`
 *   `asks`     operators' commands and queries; deadlines as in `calls`. Answered by `results`
 *   `want`     handover request: I am the assigned owner, and have read the log up to `sequence`
 *   `take`     handover offer: I am paused, and acknowledged nothing after `head`. Fence exactly this head before
 *              `untilMs` on the receiver's clock
 *   `own`      I have served the shard since the fence of this epoch
 *   `look`     the registry has changed
 *   `snap`     take snapshots of the shards that you serve. Answered by `snapped`
 *   `out`      these console sessions have been signed out
 *   `unknown`  this release does not know your message of type `of`; ends the wait for the answer with its `id`
 */
export type PeerMessage =
  | LinkHeartbeat
  | { readonly type: 'calls'; readonly callbacks: CallbackColumns }
  | { readonly type: 'replies'; readonly replies: ReplyColumns }
  | { readonly type: 'asks'; readonly requests: readonly WireRequest[] }
  | { readonly type: 'results'; readonly ids: readonly number[]; readonly results: readonly WireResult[] }
  | { readonly type: 'want'; readonly shard: number; readonly sequence: number }
  | { readonly type: 'take'; readonly shard: number; readonly head: Head; readonly untilMs: number }
  | { readonly type: 'own'; readonly shard: number; readonly epoch: number }
  | { readonly type: 'look' }
  | { readonly type: 'snap'; readonly id: number }
  | { readonly type: 'snapped'; readonly id: number; readonly results: readonly SnapshotResult[] }
  | { readonly type: 'out'; readonly signedOut: readonly SignedOut[] }
  | { readonly type: 'unknown'; readonly of: string; readonly id: number | undefined };

/** An operator's signed-out console sessions; see src/admin/console/signed-out-sessions.ts. */
export interface SignedOut {
  readonly name: string;
  readonly untilMs: number;
  readonly sessions: readonly (readonly [id: string, endsMs: number])[];
}

export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

export interface PeerEvents {
  onMessage(tag: string, message: PeerMessage): void;
  onUp(tag: string): void;
  /** The link is down. Messages in transit may or may not have arrived. */
  onDown(tag: string): void;
  /** No process listens at the member's address, or a different process does. */
  onRefused(tag: string): void;
}

/** Links between members: one per pair, maintained by both ends. */
export interface PeerLinks {
  /** Resolves with the port. Rejects if the node cannot listen there. */
  listen(): Promise<number>;
  /** Keeps links to exactly these members. */
  keep(peers: ReadonlyMap<string, PeerAddress>): void;
  isUp(tag: string): boolean;
  /** Returns false if there is no link. */
  send(tag: string, message: PeerMessage): boolean;
  /** Sets the certificate for new links. */
  setCertificate(certificate: { readonly cert: Buffer; readonly key: Buffer }): void;
  close(): Promise<void>;
}
