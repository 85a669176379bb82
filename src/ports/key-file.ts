import type { Head } from './wal.js';

/** Keys read from a file: all of the archive's keys for the log up to `head`. */
export interface KeysInFile {
  readonly head: Head;
  readonly parts: ReadonlyMap<number, Buffer>;
}

/** One set of the file. The sets are encoded one at a time, so that other work can run in between. */
export interface KeyPart {
  readonly number: number;
  /** Encodes the set. Returns undefined if the set has been dropped in the meantime. */
  readonly encode: () => Buffer | undefined;
}

/** Files with an archive's keys, one per shard, from which a node can load the keys at startup without the archive. */
export interface KeyFile {
  /**
   * Reads a shard's file; undefined if there is none. Rejects with a descriptive error if the file is damaged, too
   * large, or belongs to a different store or shard.
   */
  read(shard: number): Promise<KeysInFile | undefined>;
  /** Replaces the whole file. If this fails, rejects and leaves the old file in place. */
  write(shard: number, head: Head, parts: readonly KeyPart[]): Promise<void>;
}
