import type { Database } from 'lmdb';
import type { FeedRecords } from '../../ports/feed-records.js';
import type { Commits } from './commits.js';
import type { FileGrowth } from './file-growth.js';

/** Keys begin with this text, and sort before `END`. Older versions read only the key `meta` of this database. */
const PREFIX = 'feed:';
const END = 'feed;';

/** Records of the feeds' consumers, in the database of the meta record. */
export class LmdbFeedRecords implements FeedRecords {
  constructor(
    private readonly database: Database<Buffer, Buffer>,
    private readonly commits: Commits,
    private readonly growth: FileGrowth,
  ) {}

  async all(): Promise<ReadonlyMap<string, string>> {
    const records = new Map<string, string>();
    for (const { key, value } of this.database.getRange({ start: Buffer.from(PREFIX), end: Buffer.from(END) })) {
      records.set(Buffer.from(key).toString().slice(PREFIX.length), value.toString());
    }
    return records;
  }

  async put(key: string, text: string): Promise<void> {
    const value = Buffer.from(text);
    await this.growth.room(value.length, 1);
    await this.commits.completed(this.database.put(keyOf(key), value));
  }

  async remove(keys: readonly string[]): Promise<void> {
    await this.growth.roomToRemove(keys.length);
    await this.commits.completed(Promise.all(keys.map((key) => this.database.remove(keyOf(key)))));
  }

  /** LMDB shows an entry only after its commit, which is durable. */
  async settle(): Promise<void> {}
}

function keyOf(key: string): Buffer {
  return Buffer.from(PREFIX + key);
}
