import type { Head } from '../log/wal.js';

/** Names that a file has: all that the archive has of a log up to `head`. */
export interface NamesInFile {
  readonly head: Head;
  readonly parts: ReadonlyMap<number, Buffer>;
}

/** One of the sets that go into a file; encoded one by one, so that other work has its turn in between. */
export interface NamesPart {
  readonly number: number;
  /** Undefined where it is gone meanwhile. */
  readonly encode: () => Buffer | undefined;
}

/** Files with the names that are known of an archive, one for each shard, where a start finds them without the archive. */
export interface NamesFile {
  /** Undefined where there is none. Rejects with a sentence where it is damaged, too large, or of another store or shard. */
  read(shard: number): Promise<NamesInFile | undefined>;
  /** Replaces the file as a whole. Rejects where that cannot be; then the former one stays. */
  write(shard: number, head: Head, parts: readonly NamesPart[]): Promise<void>;
}
