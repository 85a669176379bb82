import type { ArchiveRecord } from '../../shard/archive/archive.js';
import { nameOfImage } from '../../wallet/state/round-image.js';
import { ToolError } from '../store-reader.js';

/** What one put numbers stays far below this. */
const INDEXES = 2 ** 13;
const INDEX_END = 2 ** 16;
const OWNERS_MAX = INDEX_END / INDEXES;

/**
 * Moves records of the archive to the shards of another number of them. All of a record but its shard stays what it is. Two
 * players can have the same hash, and rounds of the same name; where they come from different shards into one, the LSN
 * need not tell their records apart any more: the index of the second player's does.
 */
export class MovedRecords {
  /** By player's hash and new shard: the shards of the source that he comes from, all but always one. */
  private readonly sources = new Map<number, number[]>();

  constructor(
    /** The shard of a player, in the new store. Throws a `ToolError` when he is not of that shard of the source. */
    private readonly place: (username: string, source: number) => number,
  ) {}

  moved(record: ArchiveRecord): ArchiveRecord {
    const { username } = nameOfImage(record.image);
    const shard = this.place(username, record.shard);
    const rank = this.rankOf(record, shard);
    return rank === 0 ? { ...record, shard } : { ...record, shard, index: (record.index + rank * INDEXES) % INDEX_END };
  }

  private rankOf({ player, shard: source }: ArchiveRecord, shard: number): number {
    const key = player * INDEX_END + shard;
    const known = this.sources.get(key);
    if (known === undefined) {
      this.sources.set(key, [source]);
      return 0;
    }
    const rank = known.indexOf(source);
    if (rank !== -1) return rank;
    if (known.length === OWNERS_MAX) {
      throw new ToolError('too many players have the same hash in one shard: choose another number of shards');
    }
    return known.push(source) - 1;
  }
}
