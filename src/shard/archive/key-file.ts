import type { Head } from '../log/wal.js';

/** Keys read from a file: all that the archive has of a log up to `head`. */
export interface KeysInFile {
  readonly head: Head;
  readonly parts: ReadonlyMap<number, Buffer>;
}

/** A set in the file. Sets are encoded one by one, so that other work gets its turn in between. */
export interface KeyPart {
  readonly number: number;
  /** Undefined if the set has been dropped meanwhile. */
  readonly encode: () => Buffer | undefined;
}

/** Files with an archive's keys, one per shard: a start finds the keys without the archive. */
export interface KeyFile {
  /**
   * Undefined if there is no file. Rejects with a sentence if the file is damaged, too large, or belongs to another
   * store or shard.
   */
  read(shard: number): Promise<KeysInFile | undefined>;
  /** Replaces the whole file. Rejects if that is impossible; the former file then stays. */
  write(shard: number, head: Head, parts: readonly KeyPart[]): Promise<void>;
}
