import assert from 'node:assert/strict';
import { formatLsn, isSameLsn } from '../../src/ports/lsn.js';
import { type Entry, type Head, isSameHead } from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import type { CallbackApplied } from '../../src/wallet/event.js';
import type { StoredLog } from './raw-store.js';

const PAGE = 1000;
const PAGES_MAX = 10_000;
const UNITS = 10_000;

/** A callback as recorded in the log, in whole currency units. */
export interface Booked {
  readonly username: string;
  readonly before: number;
  readonly after: number;
  /** The ID of the process whose fence began the entry's epoch. */
  readonly pid: number;
}

/**
 * All logs of a store from their first entries, read without any code that appends or recovers. Checks that there are
 * no gaps, that every entry was written by the owner of its epoch, and that balances follow from one event to the next.
 */
export class Books {
  entries = 0;
  readonly callbacks = new Map<string, Booked[]>();
  readonly balances = new Map<string, number>();

  static async read(log: StoredLog): Promise<Books> {
    const books = new Books();
    const meta = await log.meta();
    const format = new EntryCodec(meta.storeId);
    for (let shard = 0; shard < meta.shards; shard++) {
      let last = genesisHead(meta.storeId, shard);
      let pid = 0;
      let isAtHead = false;
      // Limit the number of pages, because archiving keeps adding entries to the log while it is read.
      for (let pages = 0; !isAtHead && pages < PAGES_MAX; pages++) {
        const page = await log.entries(shard, last.lsn, PAGE);
        for (const bytes of page) {
          const entry = format.decode(bytes);
          follows(entry, shard, last);
          pid = entry.owner?.pid ?? pid;
          books.add(entry, pid);
          last = entry.head;
        }
        if (page.length < PAGE) isAtHead = isSameHead(await log.head(shard), last);
      }
      assert.ok(isAtHead, `the head of shard ${shard} is its newest entry`);
    }
    return books;
  }

  private add(entry: Entry, pid: number): void {
    this.entries++;
    for (const event of entry.events) {
      const { username } = event;
      if (event.type === 'player-imported') this.balances.set(username, event.balance / UNITS);
      if (event.type === 'callback-applied') this.book(event, pid);
    }
  }

  private book(event: CallbackApplied, pid: number): void {
    const { username, requestId } = event;
    const before = event.before / UNITS;
    const after = (event.changes.at(-1)?.after ?? Number.NaN) / UNITS;
    assert.equal(before, this.balances.get(username), `${requestId} starts from the balance that is there`);
    this.balances.set(username, after);
    const booked = this.callbacks.get(requestId) ?? [];
    this.callbacks.set(requestId, [...booked, { username, before, after, pid }]);
  }
}

function follows(entry: Entry, shard: number, last: Head): void {
  const at = `entry ${formatLsn(entry.lsn)} of shard ${shard}`;
  assert.equal(entry.shard, shard, at);
  assert.ok(isSameLsn(entry.previousLsn, last.lsn), `${at} names the LSN before it`);
  assert.equal(entry.previousChecksum, last.checksum, `${at} names the checksum before it`);
  assert.equal(entry.lsn.sequence, last.lsn.sequence + 1, `${at} has the next sequence`);
  if (entry.owner === undefined) {
    assert.equal(entry.nonce, last.nonce, `${at} is by the owner of its epoch`);
    assert.equal(entry.lsn.epoch, last.lsn.epoch, `${at} is of the epoch of its fence`);
  } else {
    assert.ok(entry.lsn.epoch > last.lsn.epoch, `${at} is a fence and begins an epoch`);
  }
}
