import type { Steps } from '../../base/steps.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import type { TalliesJson } from '../../wallet/tallies.js';
import type { Lsn } from '../log/lsn.js';
import type { Head } from '../log/wal.js';

/*
 * A snapshot of a shard: its wallets in chunks, and a manifest that is written last and makes it one.
 *
 *   log     ... s | s+1 ....................... e | e+1 ...
 *               ^start   while chunks are made    ^end
 *   chunks        [ 0 ][ 1 ] ... [ n ]
 *   manifest                              written when e is durable
 *
 * It is taken while the shard serves, so each wallet in it is of another moment between start and end. Replay begins
 * after start, and leaves out what a wallet already has: wallets count their events, and events bear that count.
 */

/** A part of a snapshot, as its manifest names it. */
export interface ChunkSummary {
  readonly bytes: number;
  readonly players: number;
  readonly checksum: number;
}

/** A place in the log, and the bytes of all entries from the first of all up to it. */
export interface LogMark {
  readonly lsn: Lsn;
  readonly bytes: number;
}

/** What makes a snapshot whole. */
export interface Manifest {
  /** 16 hexadecimal digits. */
  readonly id: string;
  readonly shard: number;
  /** All of the log up to here is in the snapshot: replay begins with the entry after it. */
  readonly start: Head;
  /** Nothing of the log after this is in the snapshot. */
  readonly end: Head;
  /** The shard's clock when it was published: nothing in the snapshot is newer. Milliseconds. */
  readonly timeMs: number;
  readonly players: number;
  readonly chunks: readonly ChunkSummary[];
  /** Of all of the log up to `start`; undefined in snapshots of a walletd that kept none. */
  readonly tallies?: TalliesJson | undefined;
  /** Places up to which the log may be trimmed one day, oldest first; the last one is `start`. */
  readonly marks: readonly LogMark[];
}

/** A snapshot that the store holds; one without a manifest has been begun, and not finished. */
export interface StoredSnapshot {
  readonly id: string;
  readonly manifest: Buffer | undefined;
}

/**
 * The snapshots of all shards in one store. Each write names its writer by the nonce of the log's head, and is refused
 * (false) when that is another one by now: who has been fenced can neither publish nor delete nor trim. All methods
 * reject during an outage; then nothing is known about the write, and it may be made again as it is.
 */
export interface SnapshotStore {
  snapshots(shard: number): Promise<readonly StoredSnapshot[]>;
  /** Up to `count` chunks from `first` on; undefined for one that is missing. */
  readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]>;
  /** Begins a snapshot, which is unfinished until it is published. */
  beginSnapshot(shard: number, nonce: string, id: string): Promise<boolean>;
  /** False also when the snapshot is not one that has been begun and not published. */
  writeChunk(shard: number, nonce: string, id: string, index: number, bytes: Buffer): Promise<boolean>;
  /** Durable when it resolves; so are the chunks written before. False as with `writeChunk`. */
  publishSnapshot(shard: number, nonce: string, id: string, manifest: Buffer): Promise<boolean>;
  /** Deletes a snapshot, whole or not. `kept` have to be there, byte for byte, else false and nothing is deleted. */
  deleteSnapshot(shard: number, nonce: string, kept: readonly StoredSnapshot[], id: string): Promise<boolean>;
  /**
   * Removes entries before `before` from the log, perhaps leaving some of them, never the newest entry. `kept` have to
   * be there, as above.
   */
  trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean>;
}

/** Wallets on their way into one chunk. */
export interface ChunkWriter {
  readonly byteLength: number;
  /** Ends with false, and nothing added, when the wallet was changed between two steps. */
  add(wallet: Wallet): Steps<boolean>;
  seal(): { readonly bytes: Buffer; readonly summary: ChunkSummary };
}

/** Wallets on their way out of chunks, in order. */
export interface SnapshotWallets {
  /** Throws a `FormatError` when the bytes are not those that the manifest names. */
  addChunk(bytes: Buffer): Steps<void>;
  /** After the last chunk. Throws a `FormatError` when a chunk is missing. */
  finish(): Wallets;
}

/** How snapshots are written and read; src/store/format/FORMAT.md. */
export interface SnapshotFormat {
  beginChunk(shard: number, id: string, index: number): ChunkWriter;
  sealManifest(manifest: Manifest): Buffer;
  /** Throws a `FormatError` that says what is wrong. */
  openManifest(bytes: Buffer): Manifest;
  /** Throws a `FormatError` when the bytes are not those that the manifest names. */
  checkChunk(manifest: Manifest, index: number, bytes: Buffer): void;
  beginReading(manifest: Manifest): SnapshotWallets;
}
