import type { Steps } from '../../base/steps.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import type { LedgerTotalsJson } from '../../wallet/tallies.js';
import type { Lsn } from '../log/lsn.js';
import type { Head } from '../log/wal.js';

/*
 * A snapshot of a shard: its wallets in chunks, and a manifest, which is written last and completes the snapshot.
 *
 *   log     ... s | s+1 ....................... e | e+1 ...
 *               ^start   while chunks are made    ^end
 *   chunks        [ 0 ][ 1 ] ... [ n ]
 *   manifest                              written when e is durable
 *
 * The shard serves meanwhile, so each wallet is captured at its own moment between start and end. Replay begins
 * after start and skips events that a wallet already has: wallets count their events, and events carry that count.
 */

/** Description of a chunk in the manifest. */
export interface ChunkSummary {
  readonly bytes: number;
  readonly players: number;
  readonly checksum: number;
}

/** A position in the log, and the total bytes of the log from its very first entry up to there. */
export interface LogMark {
  readonly lsn: Lsn;
  readonly bytes: number;
}

/** Completes a snapshot. */
export interface Manifest {
  /** 16 hexadecimal digits. */
  readonly id: string;
  readonly shard: number;
  /** The snapshot holds all of the log up to here: replay begins with the next entry. */
  readonly start: Head;
  /** The snapshot holds nothing of the log after this entry. */
  readonly end: Head;
  /** Log time at publication, in ms: nothing in the snapshot is newer. */
  readonly timeMs: number;
  readonly players: number;
  readonly chunks: readonly ChunkSummary[];
  /** Ledger totals of the log up to `start`; undefined in snapshots of a walletd version without ledger totals. */
  readonly tallies?: LedgerTotalsJson | undefined;
  /** Positions to which the log may be trimmed later, oldest first; the last one is `start`. */
  readonly marks: readonly LogMark[];
}

/** A stored snapshot; without a manifest it is unfinished. */
export interface StoredSnapshot {
  readonly id: string;
  readonly manifest: Buffer | undefined;
}

/**
 * The snapshots of all shards in one store. Each write carries the nonce of the writer's head. The store refuses the
 * write (false) once the log's head has another nonce: a fenced owner can neither publish nor delete nor trim. All
 * methods reject during an outage; the outcome of a write is then unknown, and the same write may be repeated.
 */
export interface SnapshotStore {
  snapshots(shard: number): Promise<readonly StoredSnapshot[]>;
  /** Up to `count` chunks from `first` on; undefined for a missing chunk. */
  readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]>;
  /** Begins a snapshot, which is unfinished until it is published. */
  beginSnapshot(shard: number, nonce: string, id: string): Promise<boolean>;
  /** False also when no unfinished snapshot has this id. */
  writeChunk(shard: number, nonce: string, id: string, index: number, bytes: Buffer): Promise<boolean>;
  /** The manifest is durable when this resolves; so are the chunks written before. False as with `writeChunk`. */
  publishSnapshot(shard: number, nonce: string, id: string, manifest: Buffer): Promise<boolean>;
  /**
   * Deletes a snapshot, complete or not. The store must hold `kept`, byte for byte; otherwise returns false and deletes
   * nothing.
   */
  deleteSnapshot(shard: number, nonce: string, kept: readonly StoredSnapshot[], id: string): Promise<boolean>;
  /**
   * Removes entries before `before` from the log. May leave some of them; never removes the newest entry. The store
   * must hold `kept`, as above.
   */
  trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean>;
}

/** Collects wallets for one chunk. */
export interface ChunkWriter {
  readonly byteLength: number;
  /** Returns false, having added nothing, when the wallet was changed between two steps. */
  add(wallet: Wallet): Steps<boolean>;
  seal(): { readonly bytes: Buffer; readonly summary: ChunkSummary };
}

/** Decodes the wallets of all chunks, in order. */
export interface SnapshotWallets {
  /** Throws a `FormatError` when the bytes differ from the manifest's description. */
  addChunk(bytes: Buffer): Steps<void>;
  /** Called after the last chunk. Throws a `FormatError` when a chunk is missing. */
  finish(): Wallets;
}

/** Encoding of snapshots; see src/store/format/FORMAT.md. */
export interface SnapshotFormat {
  beginChunk(shard: number, id: string, index: number): ChunkWriter;
  sealManifest(manifest: Manifest): Buffer;
  /** Throws a `FormatError` that describes the fault. */
  openManifest(bytes: Buffer): Manifest;
  /** Throws a `FormatError` when the bytes differ from the manifest's description. */
  checkChunk(manifest: Manifest, index: number, bytes: Buffer): void;
  beginReading(manifest: Manifest): SnapshotWallets;
}
