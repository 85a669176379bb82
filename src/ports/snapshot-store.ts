import type { Steps } from '../base/steps.js';
import type { LedgerTotalsJson } from '../wallet/ledger-totals.js';
import type { Wallet } from '../wallet/state/wallet.js';
import type { Wallets } from '../wallet/state/wallets.js';
import type { Lsn } from './lsn.js';
import type { Head } from './wal.js';

/*
 * A snapshot of a shard: its wallets in chunks, and a manifest, which is written last and completes the snapshot.
 *
 *   log     ... s | s+1 ....................... e | e+1 ...
 *               ^start   while chunks are made    ^end
 *   chunks        [ 0 ][ 1 ] ... [ n ]
 *   manifest                              written when e is durable
 *
 * The shard continues to serve during a snapshot, so each wallet is captured at a different moment between start and
 * end. Replay begins after start and skips events that a wallet already contains. It recognizes them because wallets
 * count their events and each event contains that count.
 */

/** The description of a chunk in the manifest. */
export interface ChunkSummary {
  readonly bytes: number;
  readonly players: number;
  readonly checksum: number;
}

/** A position in the log, with the total bytes of the log from its first entry up to that position. */
export interface LogMark {
  readonly lsn: Lsn;
  readonly bytes: number;
}

/** Describes a snapshot. Once the manifest is stored, the snapshot is complete. */
export interface Manifest {
  /** The snapshot's id: 16 hexadecimal digits. */
  readonly id: string;
  readonly shard: number;
  /** The snapshot contains all events up to here; replay begins with the next entry. */
  readonly start: Head;
  /** The snapshot contains no event after this entry. */
  readonly end: Head;
  /** Log time at publication, in ms. No event in the snapshot is newer. */
  readonly timeMs: number;
  readonly players: number;
  readonly chunks: readonly ChunkSummary[];
  /** Ledger totals of the log up to `start`. Undefined if a walletd version without ledger totals took the snapshot. */
  readonly tallies?: LedgerTotalsJson | undefined;
  /** Positions up to which the log may be trimmed later, oldest first. The last one is `start`. */
  readonly marks: readonly LogMark[];
}

/** A stored snapshot; without a manifest it is unfinished. */
export interface StoredSnapshot {
  readonly id: string;
  readonly manifest: Buffer | undefined;
}

/**
 * The snapshots of all shards in one store. Each write includes the nonce of the writer's head. If the log's head has a
 * different nonce, the store refuses the write by returning false, so a fenced owner can neither publish nor delete nor
 * trim. All methods reject during an outage; the outcome of a write is then unknown, and the same write may be
 * repeated.
 */
export interface SnapshotStore {
  snapshots(shard: number): Promise<readonly StoredSnapshot[]>;
  /** Up to `count` chunks, beginning with `first`; undefined for a missing chunk. */
  readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]>;
  /** Begins a snapshot, which is unfinished until it is published. */
  beginSnapshot(shard: number, nonce: string, id: string): Promise<boolean>;
  /** Writes a chunk. Also returns false if no unfinished snapshot has this id. */
  writeChunk(shard: number, nonce: string, id: string, index: number, bytes: Buffer): Promise<boolean>;
  /**
   * Publishes a snapshot. The manifest and the chunks written before are durable when this resolves. Returns false in
   * the same cases as `writeChunk`.
   */
  publishSnapshot(shard: number, nonce: string, id: string, manifest: Buffer): Promise<boolean>;
  /**
   * Deletes a snapshot, whether complete or not. Returns false and deletes nothing if the store does not contain the
   * snapshots in `kept` with exactly these manifests.
   */
  deleteSnapshot(shard: number, nonce: string, kept: readonly StoredSnapshot[], id: string): Promise<boolean>;
  /**
   * Removes entries before `before` from the log. May leave some of them, and never removes the newest entry. Like
   * `deleteSnapshot`, does nothing if the store does not contain `kept`.
   */
  trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean>;
}

/** Collects wallets for one chunk. */
export interface ChunkWriter {
  readonly byteLength: number;
  /** Adds a wallet. Returns false and adds nothing if the wallet was changed between two steps. */
  add(wallet: Wallet): Steps<boolean>;
  seal(): { readonly bytes: Buffer; readonly summary: ChunkSummary };
}

/** Decodes the wallets of all chunks, in order. */
export interface SnapshotWallets {
  /**
   * Adds the wallets of the next chunk. Throws a `FormatError` if the bytes differ from the description in the
   * manifest.
   */
  addChunk(bytes: Buffer): Steps<void>;
  /** Ends decoding; called after the last chunk. Throws a `FormatError` if a chunk is missing. */
  finish(): Wallets;
}

/** Encoding of snapshots; see src/store/format/FORMAT.md. */
export interface SnapshotFormat {
  beginChunk(shard: number, id: string, index: number): ChunkWriter;
  sealManifest(manifest: Manifest): Buffer;
  /** Decodes a manifest. Throws a `FormatError` that describes the damage. */
  openManifest(bytes: Buffer): Manifest;
  /** Checks a chunk. Throws a `FormatError` if the bytes differ from the description in the manifest. */
  checkChunk(manifest: Manifest, index: number, bytes: Buffer): void;
  beginReading(manifest: Manifest): SnapshotWallets;
}
