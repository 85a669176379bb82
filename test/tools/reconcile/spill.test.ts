import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { Spill } from '../../../src/tools/reconcile/spill.js';

test('values of any length are read back in order, part by part', () => {
  const spill = new Spill<{ n: number; text: string }>(tmpdir(), 3);
  try {
    const lengths = [0, 1, 5000, 5000, 5461, 5462, 20_000, 3, 16_384, 70_000, 1, 1];
    const put = lengths.map((length, n) => ({ n, text: '€'.repeat(length) }));
    for (const value of put) for (const part of [0, 2]) spill.add(part, value);
    assert.deepEqual(spill.read(0), put);
    assert.deepEqual(spill.read(2), put);
    assert.deepEqual(spill.read(1), []);
    assert.equal(spill.count, 2 * put.length);
  } finally {
    spill.close();
  }
});
