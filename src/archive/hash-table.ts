import { END, HASH_BITS, type HashCursor } from './hash-run.js';

const LEAST = 256;
/** The table grows when more than this share of its slots is in use. */
const LOAD_MAX = 0.7;
const SPACE = 2 ** HASH_BITS;

/**
 * A growable set of hashes: open addressing with linear probing and wrap-around. The table grows only when its load
 * requires it. A hash's first slot comes from its high bits, so hashes are sorted, except within a run of used slots
 * and where a run wraps around.
 */
export class HashTable {
  count = 0;
  /** The hash plus one; 0 in a free slot. */
  private slots: Uint32Array;

  /** `expected` is the number of hashes that fit without growing the table. */
  constructor(expected = 0) {
    this.slots = new Uint32Array(Math.max(LEAST, Math.ceil(expected / LOAD_MAX)));
  }

  get bytes(): number {
    return this.slots.byteLength;
  }

  has(hash: number): boolean {
    return this.slots[this.slotOf(hash)] !== 0;
  }

  add(hash: number): void {
    const slot = this.slotOf(hash);
    if (this.slots[slot] !== 0) return;
    this.slots[slot] = hash + 1;
    this.count++;
    if (this.count > this.slots.length * LOAD_MAX) this.grow();
  }

  cursor(): HashCursor {
    return new TableCursor(this.slots);
  }

  /** The slot that holds the hash, or the free slot where it belongs. */
  private slotOf(hash: number): number {
    const { slots } = this;
    const { length } = slots;
    let slot = firstSlot(hash, length);
    for (let held = slots[slot]; held !== 0 && held !== hash + 1; held = slots[slot]) if (++slot === length) slot = 0;
    return slot;
  }

  private grow(): void {
    const { slots } = this;
    this.slots = new Uint32Array(slots.length * 2);
    for (const held of slots) if (held !== 0) this.slots[this.slotOf(held - 1)] = held;
  }
}

function firstSlot(hash: number, length: number): number {
  return Math.floor((hash * length) / SPACE);
}

/**
 * Visits the runs of used slots and sorts each. The run that wraps comes last:
 *
 *   slots     | w w a b . c d . . e f . g h |     w: first slot at the end of the table
 *   in order        a b   c d     e f   g h w w
 */
class TableCursor implements HashCursor {
  private slot = 0;
  /** The sorted hashes of one run. */
  private run: readonly number[];
  private gone = 0;
  private wrapped: readonly number[];

  constructor(private readonly slots: Uint32Array) {
    const first = this.takeRun();
    const { length } = slots;
    // A hash that has not wrapped is in its first slot or after it, and no run is as long as the table.
    this.wrapped = first.filter((hash) => firstSlot(hash, length) >= this.slot);
    this.run = this.wrapped.length === 0 ? first : first.filter((hash) => firstSlot(hash, length) < this.slot);
  }

  next(): number {
    if (this.gone === this.run.length) this.nextRun();
    return this.run[this.gone++] ?? END;
  }

  private nextRun(): void {
    const { slots } = this;
    while (this.slot < slots.length && slots[this.slot] === 0) this.slot++;
    this.run = this.takeRun();
    this.gone = 0;
    if (this.slot < slots.length || this.wrapped.length === 0) return;
    this.run = inOrder([...this.run, ...this.wrapped]);
    this.wrapped = [];
  }

  /** The hashes in the used slots from here to the next free slot. */
  private takeRun(): number[] {
    const { slots } = this;
    const run: number[] = [];
    while (this.slot < slots.length && slots[this.slot] !== 0) run.push((slots[this.slot++] as number) - 1);
    return inOrder(run);
  }
}

function inOrder(hashes: number[]): number[] {
  return hashes.length > 1 ? hashes.sort((a, b) => a - b) : hashes;
}
