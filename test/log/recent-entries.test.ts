import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecentEntries } from '../../src/log/recent-entries.js';
import type { EncodedEntry, Head } from '../../src/ports/wal.js';

const BYTES_MAX = 50_000;
const START: Head = { lsn: { epoch: 1, sequence: 9 }, nonce: 'a'.repeat(16), checksum: 1 };

/** A new writer's fence, or the number of bytes of an entry of the same writer. */
const step = fc.oneof(
  { arbitrary: fc.constant('fence' as const), weight: 1 },
  { arbitrary: fc.integer({ min: 1, max: 2000 }), weight: 20 },
  { arbitrary: fc.integer({ min: 2000, max: 120_000 }), weight: 1 },
);

function next({ lsn, nonce, checksum }: Head, length: number | 'fence'): EncodedEntry {
  const isFence = length === 'fence';
  const head = {
    lsn: { epoch: lsn.epoch + (isFence ? 1 : 0), sequence: lsn.sequence + 1 },
    nonce: isFence ? String(lsn.epoch).padStart(16, '0') : nonce,
    checksum: (checksum * 1664525 + 1013904223) % 2 ** 32,
  };
  return { head, bytes: Buffer.alloc(isFence ? 100 : length, head.checksum % 256) };
}

test('recent entries are the newest that fit, with their bytes and heads', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const recent = new RecentEntries(START, BYTES_MAX);
      const all: EncodedEntry[] = [];
      for (const step of steps) {
        const entry = next(recent.newest, step);
        all.push(entry);
        recent.add(entry);
      }
      const kept = recent.all();
      assert.deepEqual(kept, all.slice(all.length - kept.length));
      const bytes = kept.reduce((sum, { bytes }) => sum + bytes.length, 0);
      const older = all.at(-kept.length - 1);
      assert.ok(kept.length <= 1 || bytes <= BYTES_MAX);
      assert.ok(older === undefined || bytes + older.bytes.length > BYTES_MAX);
      const heads = [START, ...all.map(({ head }) => head)];
      assert.deepEqual(recent.base, heads[all.length - kept.length]);
      assert.deepEqual(recent.newest, heads.at(-1));
      for (const [i, head] of heads.entries()) {
        const after: readonly EncodedEntry[] | undefined = i < all.length - kept.length ? undefined : all.slice(i);
        assert.deepEqual(recent.findAfter(head), after);
        assert.equal(recent.findAfter({ ...head, checksum: head.checksum + 1 }), undefined);
        assert.equal(recent.findAfter({ ...head, nonce: 'f'.repeat(16) }), undefined);
        const isKept: boolean = after !== undefined && i > all.length - kept.length;
        assert.deepEqual(recent.findHead(head.lsn.sequence), isKept ? head : undefined);
      }
      assert.equal(recent.findHead(recent.newest.lsn.sequence + 1), undefined);
    }),
    { numRuns: 50 },
  );
});
