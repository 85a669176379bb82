import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CopyKeeper } from '../../src/cluster/copy-keeper.js';
import type { Copy } from '../../src/log/copies.js';
import type { EncodedEntry, Head } from '../../src/ports/wal.js';

const GENESIS = headAt(0, 0);
const BYTES_MAX = 1000;

function headAt(epoch: number, sequence: number): Head {
  return { lsn: { epoch, sequence }, nonce: `${epoch}`.repeat(16), checksum: sequence };
}

function entryAt(epoch: number, sequence: number): EncodedEntry {
  return { head: headAt(epoch, sequence), bytes: Buffer.from(`${epoch}-${sequence}`) };
}

function copyOf(base: Head, entries: readonly EncodedEntry[], isWhole = false): Copy {
  return { shard: 0, base, entries, isWhole };
}

/** Sends copies like an owner, and requests seals like a new owner. */
class Desk {
  private readonly keeper = new CopyKeeper(BYTES_MAX);

  put(copy: Copy, from = 'owner', nowMs = 0): string {
    return this.keeper.put(copy, from, nowMs);
  }

  /** Seals the shard's copies. Returns the sequence numbers of the sealed entries; undefined if the keeper refuses. */
  sealed(sequence: number, by = 'taker', nowMs = 0): readonly number[] | undefined {
    return this.keeper.seal(0, by, sequence, nowMs)?.map(({ head }) => head.lsn.sequence);
  }

  owns(epoch: number, by: string): void {
    this.keeper.ownedSince(0, epoch, by);
  }
}

test('an empty keeper asks for a complete copy, then accepts increments once', () => {
  const desk = new Desk();
  assert.equal(desk.put(copyOf(headAt(1, 1), [entryAt(1, 2)])), 'gap');
  assert.equal(desk.put(copyOf(GENESIS, [entryAt(1, 1), entryAt(1, 2)], true)), 'held');
  assert.equal(desk.put(copyOf(headAt(1, 2), [entryAt(1, 3)])), 'held');
  assert.equal(desk.put(copyOf(headAt(1, 2), [entryAt(1, 3)])), 'held');
  assert.equal(desk.put(copyOf(headAt(1, 4), [entryAt(1, 5)])), 'gap');
  assert.deepEqual(desk.sealed(1), [2, 3]);
});

test('a put without entries answers whether everything up to its head is held', () => {
  const desk = new Desk();
  assert.equal(desk.put(copyOf(headAt(1, 1), [])), 'gap');
  desk.put(copyOf(GENESIS, [entryAt(1, 1)], true));
  assert.equal(desk.put(copyOf(headAt(1, 1), [])), 'held');
  assert.equal(desk.put(copyOf(headAt(1, 2), [])), 'gap');
});

test("during a takeover other nodes' copies are refused, whatever their epoch", () => {
  const desk = new Desk();
  desk.put(copyOf(GENESIS, [entryAt(1, 1)], true));
  assert.deepEqual(desk.sealed(0), [1]);
  assert.equal(desk.put(copyOf(headAt(1, 1), [entryAt(1, 2)]), 'owner', 4999), 'none');
  assert.equal(desk.put(copyOf(headAt(1, 1), [entryAt(7, 2)]), 'another', 4999), 'none');
  assert.equal(desk.put(copyOf(headAt(1, 1), [entryAt(1, 2)]), 'owner', 5000), 'held', 'he has not come');
});

test('only one of two new owners gets copies until its takeover ends or expires', () => {
  const desk = new Desk();
  desk.put(copyOf(GENESIS, [entryAt(1, 1)], true));
  assert.deepEqual(desk.sealed(0, 'one'), [1]);
  assert.equal(desk.sealed(0, 'other', 4999), undefined);
  assert.deepEqual(desk.sealed(0, 'other', 5000), [1]);
  assert.equal(desk.sealed(0, 'one', 5001), undefined);
  assert.equal(desk.put(copyOf(headAt(1, 1), [entryAt(2, 2)]), 'one', 5001), 'none', 'he was too slow');
  desk.owns(2, 'other');
  assert.equal(desk.put(copyOf(headAt(1, 1), [entryAt(2, 2)]), 'other', 5001), 'held');
  assert.deepEqual(desk.sealed(1, 'one', 5002), [2]);
});

test('copies from an earlier owner are refused after a newer owner has sent some', () => {
  const desk = new Desk();
  desk.put(copyOf(GENESIS, [entryAt(1, 1), entryAt(2, 2)], true), 'second');
  assert.equal(desk.put(copyOf(headAt(1, 1), [entryAt(1, 2)]), 'first'), 'none');
  assert.deepEqual(desk.sealed(0), [1, 2]);
});

test('copies from an owner are refused for good after another owner has served', () => {
  const desk = new Desk();
  desk.put(copyOf(GENESIS, [entryAt(1, 1)], true));
  desk.owns(3, 'third');
  desk.owns(2, 'second');
  assert.equal(desk.put(copyOf(headAt(2, 2), [entryAt(2, 3)], true), 'second'), 'none');
  assert.equal(desk.put(copyOf(headAt(2, 2), [entryAt(3, 3)], true), 'third'), 'held');
});

test('a late message about an older epoch does not remove the seal', () => {
  const desk = new Desk();
  desk.owns(1, 'taker');
  desk.put(copyOf(GENESIS, [entryAt(2, 1)], true));
  assert.deepEqual(desk.sealed(0), [1]);
  desk.owns(1, 'taker');
  assert.equal(desk.put(copyOf(headAt(2, 1), [entryAt(2, 2)])), 'none');
  desk.owns(3, 'taker');
  assert.equal(desk.put(copyOf(headAt(2, 1), [entryAt(3, 2)]), 'taker'), 'held');
});

test('the keeper holds at most the allowed bytes of a log', () => {
  const keeper = new CopyKeeper(BYTES_MAX);
  const entries = Array.from({ length: 2000 }, (_, i) => entryAt(1, i + 1));
  keeper.put(copyOf(GENESIS, entries, true), 'owner', 0);
  const kept = keeper.seal(0, 'taker', 0, 0) ?? [];
  assert.ok(kept.reduce((sum, { bytes }) => sum + bytes.length, 0) <= BYTES_MAX);
  assert.equal(kept.at(-1)?.head.lsn.sequence, 2000);
});
