import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { END, HASH_BITS } from '../../src/archive/hash-run.js';
import { HashTable } from '../../src/archive/hash-table.js';

const MOST = 2 ** HASH_BITS - 1;

test('a table contains exactly its hashes, in order, even where a run wraps around', () => {
  const anywhere = fc.nat(MOST);
  const atTheEnd = fc.nat(2000).map((n) => MOST - n);
  const atTheStart = fc.nat(2000);
  const hashes = fc.array(fc.oneof(anywhere, atTheEnd, atTheStart), { maxLength: 600 });
  fc.assert(
    fc.property(hashes, fc.nat(400), (added, expected) => {
      const table = new HashTable(expected);
      for (const hash of added) table.add(hash);
      const sorted = [...new Set(added)].sort((a, b) => a - b);
      assert.equal(table.count, sorted.length);
      const cursor = table.cursor();
      for (const hash of sorted) assert.equal(cursor.next(), hash);
      assert.equal(cursor.next(), END);
      assert.equal(cursor.next(), END);
      for (const hash of added) {
        for (const near of [hash - 1, hash, hash + 1]) {
          if (near >= 0 && near <= MOST) assert.equal(table.has(near), sorted.includes(near));
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test('a table grows only at its load limit, even if its hashes are clustered', () => {
  for (const count of [100, 1000, 4000]) {
    const table = new HashTable();
    for (let i = 0; i < count; i++) table.add(MOST - i);
    assert.equal(table.count, count);
    assert.ok(table.bytes <= Math.max(1024, (count / 0.7) * 8), `${table.bytes} bytes for ${count}`);
  }
});
