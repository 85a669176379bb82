import type { Head } from '../log/wal.js';

/** Keys read from a file: all the archive's keys for a log up to `head`. */
export interface KeysInFile {
  readonly head: Head;
  readonly parts: ReadonlyMap<number, Buffer>;
}

/** A set in the file. Sets are encoded one at a time, so that other work can run in between. */
export interface KeyPart {
  readonly number: number;
  /** Undefined if the set has been dropped meanwhile. */
  readonly encode: () => Buffer | undefined;
}

/** Files with an archive's keys, one per shard, from which a node can load the keys at startup without the archive. */
export interface KeyFile {
  /**
   * Undefined if there is no file. Rejects with a descriptive error if the file is damaged, too large, or belongs to a
   * different store or shard.
   */
  read(shard: number): Promise<KeysInFile | undefined>;
  /** Replaces the whole file. Rejects if it cannot; the old file is then left in place. */
  write(shard: number, head: Head, parts: readonly KeyPart[]): Promise<void>;
}
