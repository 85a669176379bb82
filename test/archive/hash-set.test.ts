import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { END, HASH_BITS, HashRunBuilder } from '../../src/archive/hash-run.js';
import { HashSet } from '../../src/archive/hash-set.js';

const MOST = 2 ** HASH_BITS - 1;
const hashes = fc.oneof(
  fc.uniqueArray(fc.nat(MOST), { maxLength: 300 }),
  // Evenly distributed hashes, and hashes clustered at both ends.
  fc.uniqueArray(fc.constantFrom(0, 1, MOST, MOST - 1, 2 ** 30, 2 ** 30 - 1, 2 ** 30 + 1)),
  fc.uniqueArray(
    fc.nat(400).map((n) => MOST - n),
    { maxLength: 300 },
  ),
);

test('a run contains exactly its hashes, in order', () => {
  fc.assert(
    fc.property(hashes, fc.nat(50), (set, more) => {
      const sorted = [...set].sort((a, b) => a - b);
      const builder = new HashRunBuilder(sorted.length + more);
      for (const hash of sorted) builder.add(hash);
      const run = builder.finish();
      const cursor = run.cursor();
      for (const hash of sorted) assert.equal(cursor.next(), hash);
      assert.equal(cursor.next(), END);
      for (const hash of sorted) {
        for (const near of [hash - 1, hash, hash + 1]) {
          if (near >= 0 && near <= MOST) assert.equal(run.has(near), set.includes(near), String(near));
        }
      }
    }),
    {
      numRuns: 2000,
      examples: [
        [[], 0],
        [[MOST], 0],
        [[0], 0],
      ],
    },
  );
});

test('a merge keeps all hashes of a set, in a few bits each', () => {
  const set = new HashSet();
  const added: number[] = [];
  let seed = 1;
  const next = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) | 0;
    return (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) >>> 1) as number;
  };
  for (let i = 0; i < 400_000; i++) {
    const hash = next();
    set.add(hash);
    added.push(hash);
    if (i % 7 === 0) set.work();
  }
  assert.ok(added.every((hash) => set.has(hash)));
  while (set.work());
  assert.ok(added.every((hash) => set.has(hash)));
  const distinct = new Set(added).size;
  assert.ok(set.count >= distinct && set.count < distinct + 10, `${set.count} of ${distinct}`);
  const again = HashSet.fromBytes(set.toBytes());
  assert.equal(again.count, set.count);
  assert.ok(
    added.every((hash) => again.has(hash)),
    'also as it is saved',
  );
  const known = new Set(added);
  let wrong = 0;
  for (let i = 0; i < 100_000; i++) {
    const hash = next();
    if (set.has(hash) !== known.has(hash)) wrong++;
  }
  assert.equal(wrong, 0);
  const bits = (set.bytes / set.count) * 8;
  assert.ok(bits < 18, `${bits} bits each`);
});
