/** Number of bits in a hash. Hashes are non-negative, signed 32-bit integers. */
export const HASH_BITS = 31;
/** Returned by a cursor after its last hash. */
export const END = -1;
/** The start of every 2^SAMPLED_BITS-th bucket is stored as a sample at which a search can begin. */
const SAMPLED_BITS = 7;
const SAMPLED = 1 << SAMPLED_BITS;
const HEAD_WORDS = 5;
const TRIMMED_SHARE = 16;

/** Yields hashes in ascending order. */
export interface HashCursor {
  /** Returns `END` when no hash is left. */
  next(): number;
}

/**
 * An immutable set of hashes (Elias-Fano coding), about 12 bits each in sets of millions. The hashes are sorted, and
 * their lower bits are stored one after another. Hashes with the same upper bits form a bucket; its size is stored in
 * unary notation. There are about as many buckets as hashes, so a lookup visits only one or two hashes.
 *
 *   hashes   0|01  0|11  2|10           (two lower bits)
 *   lows     01 11 10
 *   highs    110 0 10 0                 a one for each hash of a bucket, a zero after the bucket
 */
export class HashRun {
  constructor(
    readonly count: number,
    /** Number of lower bits of a hash, which are stored for each hash of a bucket. */
    private readonly lowBits: number,
    private readonly lows: Uint32Array,
    private readonly highs: Uint32Array,
    /** The position of the bit at which every SAMPLED-th bucket begins. */
    private readonly samples: Uint32Array,
  ) {}

  get bytes(): number {
    return this.lows.byteLength + this.highs.byteLength + this.samples.byteLength;
  }

  has(hash: number): boolean {
    const { lows, highs, lowBits } = this;
    const bucket = hash >>> lowBits;
    const low = hash & ((1 << lowBits) - 1);
    for (let at = this.startOf(bucket); isSet(highs, at); at++) {
      // Each bucket before this one contributes one zero, so `at - bucket` is the index of the hash.
      const here = bitsAt(lows, (at - bucket) * lowBits, lowBits);
      if (here >= low) return here === low;
    }
    return false;
  }

  /** Encodes the set in this machine's byte order. */
  toBytes(): Buffer {
    const { count, lowBits, lows, highs, samples } = this;
    const head = Uint32Array.of(count, lowBits, lows.length, highs.length, samples.length);
    return Buffer.concat(
      [head, lows, highs, samples].map(({ buffer, byteOffset, byteLength }) => {
        return Buffer.from(buffer, byteOffset, byteLength);
      }),
    );
  }

  static fromBytes(bytes: Buffer): HashRun {
    const all = new Uint32Array(bytes.length / 4);
    bytes.copy(Buffer.from(all.buffer));
    const [count = 0, lowBits = 0, lows = 0, highs = 0, samples = 0] = all;
    const highsAt = HEAD_WORDS + lows;
    const samplesAt = highsAt + highs;
    return new HashRun(
      count,
      lowBits,
      all.slice(HEAD_WORDS, highsAt),
      all.slice(highsAt, samplesAt),
      all.slice(samplesAt, samplesAt + samples),
    );
  }

  cursor(): HashCursor {
    return new RunCursor(this.count, this.lowBits, this.lows, this.highs);
  }

  /** The first bit of the bucket: it follows as many zeros as there are buckets before this one. */
  private startOf(bucket: number): number {
    const { highs } = this;
    const at = this.samples[bucket >>> SAMPLED_BITS] as number;
    let left = bucket & (SAMPLED - 1);
    if (left === 0) return at;
    let index = at >>> 5;
    let zeros = ~(highs[index] as number) & (-1 << (at & 31));
    for (let count = onesIn(zeros); count < left; count = onesIn(zeros)) {
      left -= count;
      zeros = ~(highs[++index] as number);
    }
    for (; left > 1; left--) zeros &= zeros - 1;
    return index * 32 + lowestOf(zeros) + 1;
  }
}

class RunCursor implements HashCursor {
  private gone = 0;
  private index = 0;
  /** Unvisited bits of the word at the index. */
  private ones: number;

  constructor(
    private readonly count: number,
    private readonly lowBits: number,
    private readonly lows: Uint32Array,
    private readonly highs: Uint32Array,
  ) {
    this.ones = highs[0] as number;
  }

  next(): number {
    const { gone, lows, highs, lowBits } = this;
    if (gone === this.count) return END;
    let { ones } = this;
    while (ones === 0) ones = highs[++this.index] as number;
    this.ones = ones & (ones - 1);
    this.gone++;
    // Each zero ends a bucket, so the number of zeros before this bit is the number of its bucket.
    const bucket = this.index * 32 + lowestOf(ones) - gone;
    return (bucket << lowBits) | bitsAt(lows, gone * lowBits, lowBits);
  }
}

/** Builds a run from sorted hashes; duplicates count once. */
export class HashRunBuilder {
  private readonly lowBits: number;
  private readonly buckets: number;
  private readonly lows: Uint32Array;
  private readonly highs: Uint32Array;
  private readonly samples: Uint32Array;
  private sampled = 0;
  private last = END;
  private count = 0;

  /** `most` is an upper limit for the number of hashes. */
  constructor(most: number) {
    this.lowBits = lowBitsFor(most);
    this.buckets = 2 ** (HASH_BITS - this.lowBits);
    // Add one extra word, because readers always read the following word as well.
    this.lows = new Uint32Array(wordsFor(most * this.lowBits) + 1);
    this.highs = new Uint32Array(wordsFor(most + this.buckets) + 1);
    this.samples = new Uint32Array(Math.ceil(this.buckets / SAMPLED));
  }

  add(hash: number): void {
    if (hash === this.last) return;
    this.last = hash;
    const { lowBits, highs, lows } = this;
    const bucket = hash >>> lowBits;
    while (this.sampled << SAMPLED_BITS <= bucket) this.sample();
    const at = bucket + this.count;
    highs[at >>> 5] = (highs[at >>> 5] as number) | (1 << (at & 31));
    const lowAt = this.count++ * lowBits;
    const index = lowAt >>> 5;
    const shift = lowAt & 31;
    const low = hash & ((1 << lowBits) - 1);
    lows[index] = (lows[index] as number) | (low << shift);
    if (shift + lowBits > 32) lows[index + 1] = low >>> (32 - shift);
  }

  finish(): HashRun {
    const { count, lowBits, lows, highs, samples } = this;
    while (this.sampled < samples.length) this.sample();
    const ofLows = trimmed(lows, wordsFor(count * lowBits) + 1);
    const ofHighs = trimmed(highs, wordsFor(count + this.buckets) + 1);
    return new HashRun(count, lowBits, ofLows, ofHighs, samples);
  }

  private sample(): void {
    this.samples[this.sampled] = this.sampled * SAMPLED + this.count;
    this.sampled++;
  }
}

/** Number of lower bits per hash. With this number, there are as many buckets as hashes, or up to twice as many. */
function lowBitsFor(count: number): number {
  return Math.min(HASH_BITS - 1, Math.max(0, Math.floor(Math.log2(2 ** HASH_BITS / Math.max(count, 1)))));
}

/** Copies only if this saves a significant share of the memory: a few bytes do not justify copying megabytes. */
function trimmed(words: Uint32Array, length: number): Uint32Array {
  return words.length - length > words.length / TRIMMED_SHARE ? words.slice(0, length) : words;
}

function wordsFor(bits: number): number {
  return Math.ceil(bits / 32);
}

function isSet(words: Uint32Array, at: number): boolean {
  return (((words[at >>> 5] as number) >>> (at & 31)) & 1) === 1;
}

/** Reads a number of `bits` bits, which must be fewer than 32. */
function bitsAt(words: Uint32Array, at: number, bits: number): number {
  const index = at >>> 5;
  const shift = at & 31;
  const word = (words[index] as number) >>> shift;
  const rest = shift + bits > 32 ? (words[index + 1] as number) << (32 - shift) : 0;
  return (word | rest) & ((1 << bits) - 1);
}

function onesIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The position of the lowest set bit of a nonzero word, from 0. */
function lowestOf(word: number): number {
  return 31 - Math.clz32(word & -word);
}
