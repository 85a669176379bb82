import { HashIndex } from '../../../wallet/records/hash-index.js';
import { Rows } from '../../../wallet/records/rows.js';
import { Slab } from '../../../wallet/records/slab.js';

/** Enough rows for a partition of the index to be split several times. */
const ROWS = 10_000;
/** Enough blobs for a page to become full, and for a full page to have room again. */
const BLOBS = 1000;
const BLOB_BYTES = 200;
const PAGE_BYTES = 65_536;
/** More rows than a segment has. */
const SEGMENT_ROWS = 1024;
const FREED_ROWS = 2 * SEGMENT_ROWS;
const ROW_WORDS = 4;
/** Rows in order have hashes in no order: 2^32 divided by the golden ratio. */
const GOLDEN = 0x9e3779b9;

/**
 * Fills and empties an index, rows and a slab. Their rare steps, such as the split of a full partition, are inlined into the
 * code of every callback. V8 would discard that code at the first such step after the start.
 */
export function rehearseTables(): void {
  const index = new HashIndex();
  for (let row = 1; row <= ROWS; row++) index.insert(hashOf(row), row);
  for (let row = 1; row <= ROWS; row++) index.delete(hashOf(row), row);
  const rows = new Rows(ROW_WORDS, SEGMENT_ROWS);
  for (let time = 0; time < 2; time++) {
    const allocated = Array.from({ length: FREED_ROWS }, () => rows.allocate());
    for (const row of allocated) rows.free(row);
  }
  const slab = new Slab(PAGE_BYTES);
  const places = Array.from({ length: BLOBS }, (_, blob) => slab.allocate(blob + 1, BLOB_BYTES));
  for (const place of places) slab.free(place);
}

function hashOf(row: number): number {
  return Math.imul(row, GOLDEN) >>> 0;
}
