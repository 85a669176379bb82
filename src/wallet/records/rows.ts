/** Rows of one segment: few objects for the collector, and no long pause when one is added. */
export const SEGMENT_ROWS = 4096;

/**
 * Records of one fixed length outside V8's heap, in segments of typed arrays. A row is named by its number, from 1 on,
 * and stays where it is until it is freed; 0 names none. Freed rows are used again.
 *
 *   row 1        row 2        ...          words, and doubles at even ones
 *   | w w w w w w | w w w w w w | ...
 */
export class Rows {
  /** Rows in use. */
  count = 0;
  private readonly words: Uint32Array[] = [];
  private readonly doubles: Float64Array[] = [];
  private readonly shift: number;
  private readonly mask: number;
  /** Rows that have been in use, with those that were freed since. */
  private used = 0;
  /** The first of the freed ones; each names the next in its first word. */
  private freed = 0;

  /** `length`: words of a row, an even number where it has doubles. `segmentRows`: a power of two. */
  constructor(
    private readonly length: number,
    segmentRows = SEGMENT_ROWS,
  ) {
    this.shift = Math.log2(segmentRows);
    this.mask = segmentRows - 1;
  }

  /** A row of zeros. */
  allocate(): number {
    this.count++;
    const row = this.freed;
    if (row === 0) return this.next();
    const words = this.wordsOf(row);
    const at = this.at(row);
    this.freed = words[at] as number;
    words.fill(0, at, at + this.length);
    return row;
  }

  free(row: number): void {
    this.wordsOf(row)[this.at(row)] = this.freed;
    this.freed = row;
    this.count--;
  }

  /** The words in which the row is, and `at` where it begins. They stay the same for as long as it lives. */
  wordsOf(row: number): Uint32Array {
    return this.words[(row - 1) >>> this.shift] as Uint32Array;
  }

  /** The same memory as doubles, of which two words make one. */
  doublesOf(row: number): Float64Array {
    return this.doubles[(row - 1) >>> this.shift] as Float64Array;
  }

  at(row: number): number {
    return ((row - 1) & this.mask) * this.length;
  }

  get bytes(): number {
    return this.words.length * (this.mask + 1) * this.length * 4;
  }

  get bytesUsed(): number {
    return this.count * this.length * 4;
  }

  /** Frees all; keeps one segment. */
  clear(): void {
    this.words.length = Math.min(this.words.length, 1);
    this.doubles.length = this.words.length;
    this.words[0]?.fill(0);
    this.count = 0;
    this.used = 0;
    this.freed = 0;
  }

  private next(): number {
    const row = ++this.used;
    if ((row - 1) >>> this.shift === this.words.length) {
      const memory = new ArrayBuffer((this.mask + 1) * this.length * 4);
      this.words.push(new Uint32Array(memory));
      this.doubles.push(new Float64Array(memory));
    }
    return row;
  }
}
