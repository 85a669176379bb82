import type { Steps } from '../base/steps.js';
import { END, type HashCursor, HashRun, HashRunBuilder } from './hash-run.js';
import { HashTable } from './hash-table.js';

/** New hashes are merged into the run when their number reaches this share of the run, but at least `NEW_MIN`. */
const NEW_SHARE = 1 / 16;
const NEW_MIN = 4096;
/** Number of hashes merged in one step. */
const STEP = 1024;

/**
 * A set of hashes that only grows and takes about 12 bits per hash. Most hashes are in a run; the newest are in a
 * table, which is gradually merged into a new run.
 */
export class HashSet {
  private run = new HashRunBuilder(0).finish();
  private table = new HashTable();
  /** The table being merged. */
  private merging: HashTable | undefined = undefined;
  private steps: Steps<HashRun> | undefined = undefined;

  /** Number of hashes. Until the tables are merged, duplicates may be counted twice. */
  get count(): number {
    return this.run.count + this.table.count + (this.merging?.count ?? 0);
  }

  get bytes(): number {
    return this.run.bytes + this.table.bytes + (this.merging?.bytes ?? 0);
  }

  add(hash: number): void {
    this.table.add(hash);
  }

  /** Encodes the set in this machine's byte order: the number of hashes in tables, these hashes, and the run. */
  toBytes(): Buffer {
    const loose: number[] = [];
    for (const table of [this.table, this.merging]) {
      const cursor = table?.cursor();
      for (let hash = cursor?.next() ?? END; hash !== END; hash = cursor?.next() ?? END) loose.push(hash);
    }
    const words = Uint32Array.from([loose.length, ...loose]);
    return Buffer.concat([Buffer.from(words.buffer), this.run.toBytes()]);
  }

  static fromBytes(bytes: Buffer): HashSet {
    const set = new HashSet();
    const count = bytes.readUInt32LE(0);
    for (let i = 1; i <= count; i++) set.add(bytes.readUInt32LE(i * 4));
    set.run = HashRun.fromBytes(bytes.subarray((1 + count) * 4));
    return set;
  }

  has(hash: number): boolean {
    return this.table.has(hash) || this.run.has(hash) || (this.merging?.has(hash) ?? false);
  }

  /** Runs a short step of merging, which takes about ten microseconds. Returns false if there is nothing to merge. */
  work(): boolean {
    if (this.steps === undefined) {
      if (this.table.count < Math.max(NEW_MIN, this.run.count * NEW_SHARE)) return false;
      this.merging = this.table;
      this.table = new HashTable(this.count * NEW_SHARE);
      this.steps = merged(this.run.cursor(), this.merging.cursor(), this.count);
    }
    const step = this.steps.next();
    if (!step.done) return true;
    this.run = step.value;
    this.merging = undefined;
    this.steps = undefined;
    return true;
  }
}

/** Merges two sorted sequences of hashes into a run. */
function* merged(a: HashCursor, b: HashCursor, most: number): Steps<HashRun> {
  const builder = new HashRunBuilder(most);
  let x = a.next();
  let y = b.next();
  for (let gone = 1; x !== END || y !== END; gone++) {
    if (x !== END && (y === END || x <= y)) {
      builder.add(x);
      x = a.next();
    } else {
      builder.add(y);
      y = b.next();
    }
    if (gone % STEP === 0) yield;
  }
  return builder.finish();
}
