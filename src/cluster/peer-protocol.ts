import type { Copy, CopyOutcome } from '../shard/log/copies.js';
import type { Head, SealedEntry } from '../shard/log/wal.js';
import type { SnapshotResult } from '../shard/snapshot/snapshotter.js';
import type { CallbackColumns, ReplyColumns } from '../worker/columns.js';
import type { WireRequest, WireResult } from '../worker/protocol.js';

/** A shard that a member serves, and the newest entry that it may have told of. */
export interface Serving {
  readonly shard: number;
  readonly head: Head;
}

/** A sign of life, and what those need who send callbacks or take over. Times are the sender's. */
export interface Pulse {
  readonly type: 'pulse';
  /** Of its monotonic clock. */
  readonly clockMs: number;
  readonly nowMs: number;
  readonly serving: readonly Serving[];
  /** Shards that it serves, or is to take, and whose logs it has not reached for a while, or that it has no memory for. */
  readonly stuck: readonly number[];
  /** The table has answered it lately. */
  readonly seesTable: boolean;
}

/**
 * What members tell each other. Nothing depends on any of it arriving, or arriving once: the table and the logs decide.
 *
 *   pulse    each 200 ms
 *   calls    callbacks for shards of the other one; deadlines are of the other one's clock. Answered by `replies`
 *   asks     commands and queries of operators, likewise. Answered by `results`
 *   want     I am to own it, and have read its log up to `sequence`
 *   take     I have stopped, all I told is up to `head`: fence over exactly this, before `untilMs` of the other one's clock
 *   own      I serve it, since the fence of this epoch
 *   look     the table has changed
 *   snap     take snapshots of what you serve. Answered by `snapped`
 *   copy     hold this of the logs that I write. Answered by `copied`
 *   seal     I am about to fence this log: take nothing from anybody else, and tell what you hold behind `sequence`.
 *            Answered by `sealed`, without entries while another one is about to
 *   unseal   I do not fence it, and nothing of mine is on its way to it
 *   known    from now on I ask you, too, before I fence a log; what I am about to fence you have been told
 *   out      these sessions of the console have been signed out
 */
export type PeerMessage =
  | Pulse
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
  | { readonly type: 'copy'; readonly id: number; readonly copies: readonly Copy[] }
  | { readonly type: 'copied'; readonly id: number; readonly outcomes: readonly CopyOutcome[] }
  | { readonly type: 'seal'; readonly id: number; readonly shard: number; readonly sequence: number }
  | { readonly type: 'sealed'; readonly id: number; readonly entries: readonly SealedEntry[] | undefined }
  | { readonly type: 'unseal'; readonly shard: number }
  | { readonly type: 'known' }
  | { readonly type: 'out'; readonly signedOut: readonly SignedOut[] };

/** Sessions of an operator at the console: see src/admin/console/signed-out-sessions.ts. */
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
  /** What was on its way may have arrived or not. */
  onDown(tag: string): void;
  /** Nobody listens at its address, or somebody else does. */
  onRefused(tag: string): void;
}

/** Links between members: one for each pair, kept up by both. */
export interface PeerLinks {
  /** Resolves to the port. Rejects when it cannot listen there. */
  listen(): Promise<number>;
  /** Keeps links to these members, and to no others. */
  keep(peers: ReadonlyMap<string, PeerAddress>): void;
  isUp(tag: string): boolean;
  /** False when there is no link. */
  send(tag: string, message: PeerMessage): boolean;
  /** Whom to be from now on, for links that are made from now on. */
  setCertificate(certificate: { readonly cert: Buffer; readonly key: Buffer }): void;
  close(): Promise<void>;
}
