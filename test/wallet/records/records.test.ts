import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  Cursor,
  NUMBER_BYTES_MAX,
  textBytesMax,
  textEnd,
  writeNumber,
  writeSigned,
  writeText,
} from '../../../src/wallet/records/bytes.js';
import { Dictionary } from '../../../src/wallet/records/dictionary.js';
import { HashIndex } from '../../../src/wallet/records/hash-index.js';
import { Rows } from '../../../src/wallet/records/rows.js';
import { Slab } from '../../../src/wallet/records/slab.js';

const NUM_RUNS = 60;

const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.stringMatching(/^[-\w]*$/), fc.uuid());

test('numbers, signed numbers and texts are read back as they were written', () => {
  const bytes = Buffer.alloc(4096);
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeInteger(), texts, (n, z, text) => {
      let end = writeNumber(bytes, 1, n);
      assert.ok(end <= 1 + NUMBER_BYTES_MAX);
      const afterNumber = end;
      end = writeSigned(bytes, end, z);
      assert.ok(end <= afterNumber + NUMBER_BYTES_MAX + 1);
      const textAt = end;
      end = writeText(bytes, end, text);
      assert.ok(end <= textAt + textBytesMax(text));
      const cursor = new Cursor(bytes, 1);
      assert.deepEqual([cursor.number(), cursor.signed(), cursor.text(), cursor.at], [n, z, text, end]);
      cursor.at = textAt;
      cursor.skipText();
      assert.equal(cursor.at, end);
      assert.equal(textEnd(bytes, textAt), end);
    }),
    {
      numRuns: 1000,
      examples: [
        [0, 0, ''],
        [2 ** 53 - 1, -(2 ** 53 - 1), '\ufeff'],
        [2 ** 31, -64, 'ä'],
        [128, 63, '๑'],
      ],
    },
  );
});

test('a text longer than any id is read back as it was written', () => {
  for (const letter of ['a', 'é', '日']) {
    for (const length of [4095, 4096, 4097, 5461, 5462, 100_000, 1_000_000]) {
      const text = letter.repeat(length);
      const bytes = Buffer.alloc(textBytesMax(text));
      const end = writeText(bytes, 0, text);
      assert.equal(textEnd(bytes, 0), end);
      assert.ok(new Cursor(bytes, 0).text() === text, `${length} of ${letter}`);
    }
  }
});

test('rows start as zeros, keep their values and are reused', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 300 }), (steps) => {
      const rows = new Rows(4, 4);
      const model = new Map<number, number>();
      for (const [i, step] of steps.entries()) {
        const known = [...model.keys()];
        const victim = known[step];
        if (step < 8 && victim !== undefined) {
          rows.free(victim);
          model.delete(victim);
          continue;
        }
        const row = rows.allocate();
        assert.ok(!model.has(row));
        const words = rows.wordsOf(row);
        assert.deepEqual([...words.subarray(rows.at(row), rows.at(row) + 4)], [0, 0, 0, 0]);
        words.fill(i + 1, rows.at(row), rows.at(row) + 4);
        model.set(row, i + 1);
      }
      assert.equal(rows.count, model.size);
      for (const [row, value] of model) assert.equal(rows.wordsOf(row)[rows.at(row) + 3], value);
      assert.ok(rows.bytesUsed <= rows.bytes);
      for (const row of model.keys()) rows.free(row);
      assert.equal(rows.bytesUsed, 0);
      assert.ok(rows.bytes <= 4 * 4 * 4, 'one segment is kept');
    }),
    { numRuns: NUM_RUNS },
  );
});

test('blobs keep their bytes while others are added, freed and moved', () => {
  const step = fc.record({ what: fc.constantFrom('allocate', 'free', 'compact'), at: fc.nat(), length: fc.nat(400) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 600 }), (steps) => {
      const slab = new Slab(1024);
      const model = new Map<number, { place: number; bytes: Buffer }>();
      const onMove = (owner: number, place: number) => {
        const blob = model.get(owner);
        assert.ok(blob !== undefined, 'only what is alive is moved');
        blob.place = place;
      };
      const check = () => {
        for (const { place, bytes } of model.values()) {
          const start = slab.startOf(place);
          assert.ok(slab.roomOf(place) >= bytes.length);
          assert.ok(
            slab
              .bytesOf(place)
              .subarray(start, start + bytes.length)
              .equals(bytes),
          );
        }
      };
      let owner = 0;
      for (const { what, at, length } of steps) {
        if (what === 'compact') {
          slab.compact(onMove);
        } else if (what === 'free' && model.size > 0) {
          const victim = [...model.keys()][at % model.size] as number;
          slab.free(model.get(victim)?.place as number);
          model.delete(victim);
        } else {
          const bytes = Buffer.alloc(length, at & 0xff);
          const place = slab.allocate(++owner, length);
          assert.notEqual(place, 0);
          bytes.copy(slab.bytesOf(place), slab.startOf(place));
          model.set(owner, { place, bytes });
        }
      }
      check();
      assert.equal(slab.count, model.size);
      for (let rounds = 0; rounds < 3; rounds++) while (!slab.compact(onMove));
      check();
      // At most half of the space is free, except for one page per length and a few spare pages.
      const lengths = 20;
      assert.ok(slab.bytes <= 1.5 * slab.bytesUsed * 1.3 + (lengths + 4) * 1024, `${slab.bytes} of ${slab.bytesUsed}`);
      for (const { place } of model.values()) slab.free(place);
      assert.equal(slab.bytesUsed, 0);
      assert.ok(slab.bytes <= 4 * 1024);
      slab.clear();
      assert.equal(slab.count, 0);
    }),
    { numRuns: NUM_RUNS },
  );
});

test('pages that have lost some of their blobs are emptied and released', () => {
  const slab = new Slab(64 * 1024);
  const places = Array.from({ length: 50_000 }, (_, i) => slab.allocate(i + 1, 40 + (i % 4) * 10));
  const before = slab.bytes;
  // Free two of every five blobs of each length.
  const kept = places.filter((place, i) => {
    if ((i * 7) % 5 > 1) return true;
    slab.free(place);
    return false;
  });
  for (let rounds = 0; rounds < 4; ) if (slab.compact(() => {})) rounds++;
  assert.equal(slab.count, kept.length);
  assert.ok(slab.bytes < before * 0.75, `${slab.bytes} of ${before}`);
  assert.ok(slab.bytes < slab.bytesUsed * 1.4);
});

test('a long blob that grows slightly is rarely moved', () => {
  const slab = new Slab(64 * 1024);
  let place = slab.allocate(1, 20_000);
  let moves = 0;
  for (let length = 20_000; length <= 200_000; length += 20) {
    assert.ok(slab.roomOf(place) < length * 1.3, 'little is wasted');
    if (length <= slab.roomOf(place)) continue;
    slab.free(place);
    place = slab.allocate(1, length);
    moves++;
  }
  assert.ok(moves < 20, `${moves} moves`);
  slab.free(place);
  assert.equal(slab.bytesUsed, 0);
  assert.equal(slab.bytes, 0);
});

test('an index finds the same rows as a Map, even among equal hashes', () => {
  for (const bits of [0xffffffff, 0xfff00000, 0xff]) {
    const index = new HashIndex();
    const model = new Map<number, number>();
    const hashOf = (row: number) => (Math.imul(row, 0x9e3779b1) & bits) >>> 0;
    let random = 1;
    const next = (below: number) => {
      random = Math.imul(random ^ (random >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
      return (random >>> 0) % below;
    };
    const checkRow = (row: number) => {
      assert.equal(
        index.find(hashOf(row), (one) => one === row),
        model.has(row) ? row : 0,
      );
    };
    const rowsMax = bits === 0xffffffff ? 40_000 : 2000;
    for (let step = 0; step < rowsMax * 4; step++) {
      const row = 1 + next(rowsMax);
      const grows = step < rowsMax * 2;
      if (model.has(row) && !grows) {
        index.delete(hashOf(row), row);
        model.delete(row);
      } else if (!model.has(row) && grows) {
        index.insert(hashOf(row), row);
        model.set(row, row);
      }
      if (step % 7 === 0) checkRow(1 + next(rowsMax));
    }
    assert.equal(index.count, model.size);
    for (let row = 1; row <= rowsMax; row++) checkRow(row);
    for (const row of model.keys()) index.delete(hashOf(row), row);
    assert.equal(index.count, 0);
  }
});

test('an index takes few bytes per entry at any size', () => {
  const index = new HashIndex();
  for (let row = 1; row <= 300_000; row++) {
    index.insert(Math.imul(row, 0x9e3779b1) >>> 0, row);
    if (row % 10_000 === 0) assert.ok(index.bytes / row < 15, `${index.bytes / row} bytes an entry of ${row}`);
  }
});

test('an index sized in advance finds its rows and takes no more bytes', () => {
  for (const rows of [0, 1, 2000, 100_000, 300_000]) {
    const index = new HashIndex();
    index.expect(150_000);
    const expected = index.bytes;
    for (let row = 1; row <= rows; row++) index.insert(Math.imul(row, 0x9e3779b1) >>> 0, row);
    for (let row = 1; row <= rows; row++) assert.equal(index.find(Math.imul(row, 0x9e3779b1) >>> 0, isRow(row)), row);
    assert.equal(index.find(0, isRow(0)), 0);
    assert.equal(index.count, rows);
    if (rows <= 100_000) assert.ok(index.bytes === expected, 'nothing of it has grown');
    assert.ok(index.bytes / Math.max(rows, 150_000) < 15, `${index.bytes} bytes for ${rows}`);
    for (let row = 1; row <= rows; row++) index.delete(Math.imul(row, 0x9e3779b1) >>> 0, row);
    assert.equal(index.count, 0);
  }
});

function isRow(row: number): (other: number) => boolean {
  return (other) => other === row;
}

test('a dictionary removes texts that are no longer used', () => {
  const dictionary = new Dictionary();
  const first = dictionary.take('first');
  for (let i = 0; i < 1000; i++) dictionary.release(dictionary.take(`P${i}`));
  assert.equal(dictionary.take('first'), first);
  dictionary.release(first);
  assert.equal(dictionary.find('first'), first);
  assert.equal(dictionary.text(first), 'first');
  dictionary.release(first);
  assert.equal(dictionary.find('first'), 0);
  const { texts } = dictionary as unknown as { texts: string[] };
  assert.ok(texts.length < 4);
});
