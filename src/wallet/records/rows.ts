/**
 * Number of rows per segment: large enough that the garbage collector sees few objects, and small enough that adding a
 * segment causes no long pause.
 */
export const SEGMENT_ROWS = 8192;

/** Consecutive rows in one block of memory. */
interface Segment {
  readonly number: number;
  readonly words: Uint32Array;
  /** Number of rows in use. */
  count: number;
  /** Number of rows that have ever been in use, including freed ones. */
  begun: number;
  /**
   * The head of the list of freed rows. The first word of each freed row is the number of the next; 0 ends the list.
   */
  freed: number;
  /** Links in the list of segments with free space. */
  newer: Segment | undefined;
  older: Segment | undefined;
}

const NOTHING = new Uint32Array(0);

/**
 * Fixed-length records outside V8's heap, in segments of typed arrays. A row is identified by its number, from 1; 0
 * means no row. A row stays in place until it is freed. Freed rows are reused, and empty segments are released.
 *
 *   row 1        row 2        ...          words (w); a double starts at an even word
 *   | w w w w w w | w w w w w w | ...
 */
export class Rows {
  /** Number of rows in use. */
  count = 0;
  private readonly segments: (Segment | undefined)[] = [];
  /** Each segment's memory, as words and as doubles. */
  private readonly words: Uint32Array[] = [];
  private readonly doubles: Float64Array[] = [];
  private readonly freeNumbers: number[] = [];
  /** The newest segment with free space. */
  private roomy: Segment | undefined = undefined;
  private readonly shift: number;
  private readonly mask: number;

  /**
   * `length` is the number of words in a row, which must be even if the row has doubles. `segmentRows` must be a power
   * of two.
   */
  constructor(
    private readonly length: number,
    segmentRows = SEGMENT_ROWS,
  ) {
    this.shift = Math.log2(segmentRows);
    this.mask = segmentRows - 1;
  }

  /** Allocates a zeroed row: a freed row if there is one, otherwise a new one. */
  allocate(): number {
    const segment = this.roomy ?? this.newSegment();
    let row = segment.freed;
    if (row === 0) {
      row = (segment.number << this.shift) + ++segment.begun;
    } else {
      const at = this.at(row);
      segment.freed = segment.words[at] as number;
      segment.words.fill(0, at, at + this.length);
    }
    this.count++;
    if (++segment.count > this.mask) this.unlink(segment);
    return row;
  }

  free(row: number): void {
    const segment = this.segments[(row - 1) >>> this.shift] as Segment;
    segment.words[this.at(row)] = segment.freed;
    segment.freed = row;
    if (segment.count > this.mask) this.link(segment);
    segment.count--;
    this.count--;
    const isLastWithRoom = this.roomy === segment && segment.older === undefined;
    if (segment.count === 0 && !isLastWithRoom) this.release(segment);
  }

  /** The words that hold the row, from index `at` on. Array and index stay the same until the row is freed. */
  wordsOf(row: number): Uint32Array {
    return this.words[(row - 1) >>> this.shift] as Uint32Array;
  }

  /** The same memory as doubles; two words make one double. */
  doublesOf(row: number): Float64Array {
    return this.doubles[(row - 1) >>> this.shift] as Float64Array;
  }

  at(row: number): number {
    return ((row - 1) & this.mask) * this.length;
  }

  get bytes(): number {
    return (this.segments.length - this.freeNumbers.length) * (this.mask + 1) * this.length * 4;
  }

  get bytesUsed(): number {
    return this.count * this.length * 4;
  }

  /** Frees all rows; keeps one segment. */
  clear(): void {
    this.count = 0;
    this.roomy = undefined;
    this.freeNumbers.length = 0;
    for (const list of [this.segments, this.words, this.doubles]) list.length = Math.min(list.length, 1);
    const [first] = this.segments;
    if (first === undefined) return;
    first.words.fill(0);
    Object.assign(first, { count: 0, begun: 0, freed: 0, newer: undefined, older: undefined });
    this.link(first);
  }

  private newSegment(): Segment {
    const number = this.freeNumbers.pop() ?? this.segments.length;
    const memory = new ArrayBuffer((this.mask + 1) * this.length * 4);
    const words = new Uint32Array(memory);
    const segment = { number, words, count: 0, begun: 0, freed: 0, newer: undefined, older: undefined };
    this.segments[number] = segment;
    this.words[number] = words;
    this.doubles[number] = new Float64Array(memory, 0, memory.byteLength >> 3);
    this.link(segment);
    return segment;
  }

  private release(segment: Segment): void {
    const { number } = segment;
    this.unlink(segment);
    this.segments[number] = undefined;
    this.words[number] = NOTHING;
    this.doubles[number] = new Float64Array(NOTHING.buffer);
    this.freeNumbers.push(number);
  }

  private link(segment: Segment): void {
    segment.older = this.roomy;
    segment.newer = undefined;
    if (this.roomy !== undefined) this.roomy.newer = segment;
    this.roomy = segment;
  }

  private unlink(segment: Segment): void {
    if (segment.newer === undefined) this.roomy = segment.older;
    else segment.newer.older = segment.older;
    if (segment.older !== undefined) segment.older.newer = segment.newer;
    segment.newer = undefined;
    segment.older = undefined;
  }
}
