import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { formatLsn, LSN_ZERO, type Lsn } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import type { StoreMeta } from '../../src/store/meta.js';
import type { StoredLog } from './raw-store.js';

const LOOK_MS = 10;
const PAGE = 1000;

/** Continuously reads a store's logs over a separate connection, and keeps entries that are trimmed later. */
export class Witness implements StoredLog {
  /** Entries of each shard from the very first one, indexed by sequence number minus one. */
  private readonly seen: Buffer[][];
  private readonly newest: Lsn[];
  private readonly format: EntryCodec;
  private isOver = false;
  private readonly watching: Promise<void>;
  /** The newest read. Reads run one after another. */
  private looking: Promise<void> = Promise.resolve();

  private constructor(
    private readonly store: StoredLog,
    private readonly stored: StoreMeta,
  ) {
    this.seen = Array.from({ length: stored.shards }, () => []);
    this.newest = this.seen.map(() => LSN_ZERO);
    this.format = new EntryCodec(stored.storeId);
    this.watching = this.watch();
    this.watching.catch(() => {});
  }

  /** Starts reading a store. Call this before anything is trimmed. */
  static async of(store: StoredLog): Promise<Witness> {
    return new Witness(store, await store.meta());
  }

  /** Stops reading. Rejects if an entry was missed or has changed. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.watching;
  }

  async meta(): Promise<StoreMeta> {
    return this.stored;
  }

  async head(shard: number): Promise<Head> {
    return await this.store.head(shard);
  }

  /** All entries ever written, after checking that they equal those that the store still has. */
  async entries(shard: number, after: Lsn, limit: number): Promise<Buffer[]> {
    if (after.sequence === 0) await this.compare(shard);
    return (this.seen[shard] as Buffer[]).slice(after.sequence, after.sequence + limit);
  }

  /** Number of entries that the store no longer has. */
  async trimmed(): Promise<number> {
    let trimmed = 0;
    for (const shard of this.seen.keys()) {
      const [first] = await this.store.entries(shard, LSN_ZERO, 1);
      if (first !== undefined) trimmed += this.mustLsn(first).sequence - 1;
    }
    return trimmed;
  }

  private async watch(): Promise<void> {
    for (; !this.isOver; await delay(LOOK_MS)) for (const shard of this.seen.keys()) await this.look(shard);
  }

  private look(shard: number): Promise<void> {
    this.looking = this.looking.then(() => this.lookNow(shard));
    return this.looking;
  }

  private async lookNow(shard: number): Promise<void> {
    const seen = this.seen[shard] as Buffer[];
    for (;;) {
      const page = await this.store.entries(shard, this.newest[shard] as Lsn, PAGE);
      for (const bytes of page) {
        const lsn = this.mustLsn(bytes);
        const at = `entry ${formatLsn(lsn)} of shard ${shard}`;
        assert.equal(lsn.sequence, seen.length + 1, `${at} is behind a hole, or the witness was too slow`);
        seen.push(bytes);
        this.newest[shard] = lsn;
      }
      if (page.length < PAGE) return;
    }
  }

  /** Checks that no LSN was used for two different contents. */
  private async compare(shard: number): Promise<void> {
    await this.look(shard);
    const seen = this.seen[shard] as Buffer[];
    for (let after = LSN_ZERO, page: Buffer[] = []; ; ) {
      page = await this.store.entries(shard, after, PAGE);
      for (const bytes of page) {
        after = this.mustLsn(bytes);
        const then = seen[after.sequence - 1] ?? bytes;
        assert.ok(then.equals(bytes), `entry ${formatLsn(after)} of shard ${shard} was another one before`);
      }
      if (page.length < PAGE) return;
    }
  }

  private mustLsn(bytes: Buffer): Lsn {
    const lsn = this.format.tryLsn(bytes);
    assert.ok(lsn !== undefined, 'an entry has a place');
    return lsn;
  }
}
