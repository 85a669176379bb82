import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CopyKeeper } from '../../src/cluster/copy-keeper.js';
import type { Copy } from '../../src/shard/log/copies.js';
import type { Head, SealedEntry } from '../../src/shard/log/wal.js';

const GENESIS = headAt(0, 0);
const BYTES_MAX = 1000;

function headAt(epoch: number, sequence: number): Head {
  return { lsn: { epoch, sequence }, nonce: `${epoch}`.repeat(16), checksum: sequence };
}

function entryAt(epoch: number, sequence: number): SealedEntry {
  return { head: headAt(epoch, sequence), bytes: Buffer.from(`${epoch}-${sequence}`) };
}

function copyOf(base: Head, entries: readonly SealedEntry[], isWhole = false): Copy {
  return { shard: 0, base, entries, isWhole };
}

const sequences = (entries: readonly SealedEntry[]) => entries.map(({ head }) => head.lsn.sequence);

test('who holds nothing asks for all, and then takes what follows, once', () => {
  const keeper = new CopyKeeper(BYTES_MAX);
  assert.equal(keeper.put(copyOf(headAt(1, 1), [entryAt(1, 2)]), 0), 'gap');
  assert.equal(keeper.put(copyOf(GENESIS, [entryAt(1, 1), entryAt(1, 2)], true), 0), 'held');
  assert.equal(keeper.put(copyOf(headAt(1, 2), [entryAt(1, 3)]), 0), 'held');
  assert.equal(keeper.put(copyOf(headAt(1, 2), [entryAt(1, 3)]), 0), 'held');
  assert.equal(keeper.put(copyOf(headAt(1, 4), [entryAt(1, 5)]), 0), 'gap');
  assert.deepEqual(sequences(keeper.seal(0, 2, 1, 0)), [2, 3]);
});

test('to ask for the head only is to ask whether all up to it is held', () => {
  const keeper = new CopyKeeper(BYTES_MAX);
  assert.equal(keeper.put(copyOf(headAt(1, 1), []), 0), 'gap');
  keeper.put(copyOf(GENESIS, [entryAt(1, 1)], true), 0);
  assert.equal(keeper.put(copyOf(headAt(1, 1), []), 0), 'held');
  assert.equal(keeper.put(copyOf(headAt(1, 2), []), 0), 'gap');
});

test('what an owner brings after another one has brought something, or asked for it, is refused', () => {
  const keeper = new CopyKeeper(BYTES_MAX);
  keeper.put(copyOf(GENESIS, [entryAt(1, 1)], true), 0);
  keeper.seal(0, 2, 0, 0);
  assert.equal(keeper.put(copyOf(headAt(1, 1), [entryAt(1, 2)]), 1000), 'none');
  assert.equal(keeper.put(copyOf(headAt(1, 1), [entryAt(1, 2)]), 2000), 'held', 'nobody has come');
  keeper.put(copyOf(GENESIS, [entryAt(1, 1), entryAt(1, 2), entryAt(2, 3)], true), 2000);
  assert.equal(keeper.put(copyOf(headAt(1, 2), [entryAt(1, 3)]), 9000), 'none');
  assert.deepEqual(sequences(keeper.seal(0, 3, 0, 9000)), [1, 2, 3]);
});

test('what an owner brings is refused for good when another one is known to have served since', () => {
  const keeper = new CopyKeeper(BYTES_MAX);
  keeper.put(copyOf(GENESIS, [entryAt(1, 1)], true), 0);
  keeper.ownedSince(0, 3);
  keeper.ownedSince(0, 2);
  assert.equal(keeper.put(copyOf(headAt(2, 2), [entryAt(2, 3)], true), 9000), 'none');
  assert.equal(keeper.put(copyOf(headAt(2, 2), [entryAt(3, 3)], true), 9000), 'held');
});

test('of a log no more is held than may be', () => {
  const keeper = new CopyKeeper(BYTES_MAX);
  const entries = Array.from({ length: 2000 }, (_, i) => entryAt(1, i + 1));
  keeper.put(copyOf(GENESIS, entries, true), 0);
  const kept = keeper.seal(0, 2, 0, 0);
  assert.ok(kept.reduce((sum, { bytes }) => sum + bytes.length, 0) <= BYTES_MAX);
  assert.equal(kept.at(-1)?.head.lsn.sequence, 2000);
});
