import type { ArchiveRecord } from '../../ports/archive.js';
import { nameOfSerialized } from '../../wallet/state/serialized-round.js';
import { ToolError } from '../store-reader.js';

/** Number of indexes reserved per source shard. One put uses far fewer. */
const INDEXES = 2 ** 13;
const INDEX_END = 2 ** 16;
const OWNERS_MAX = INDEX_END / INDEXES;

/**
 * Moves archive records to the shards of a store with a different shard count. Only the shard of a record changes. Two
 * players can have the same hash, and rounds with the same name. If such players move from different shards into one,
 * their records may have the same LSN. In that case the index of the second player's records is changed to tell them
 * apart.
 */
export class MovedRecords {
  /** The source shards of players, by the players' hash and new shard. There is almost always only one. */
  private readonly sources = new Map<number, number[]>();

  constructor(
    /**
     * Returns the shard of a player in the new store. Throws a `ToolError` if the player does not belong to the given
     * source shard.
     */
    private readonly place: (username: string, source: number) => number,
  ) {}

  moved(record: ArchiveRecord): ArchiveRecord {
    const { username } = nameOfSerialized(record.image);
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
      throw new ToolError('too many players in one shard have the same hash: choose a different number of shards');
    }
    return known.push(source) - 1;
  }
}
