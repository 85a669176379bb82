/** Hashes are numbers of so many bits: positive 32-bit integers. */
export const HASH_BITS = 31;
/** Behind the last hash of a cursor. */
export const END = -1;
/** Buckets between two of which it is written down where they begin. */
const SAMPLED_BITS = 7;
const SAMPLED = 1 << SAMPLED_BITS;
const HEAD_WORDS = 5;
const TRIMMED_SHARE = 16;

/** Hashes in order, one after the other. */
export interface HashCursor {
  /** `END` when there is none left. */
  next(): number;
}

/**
 * A set of hashes that does not change, in some 12 bits each where there are millions (Elias and Fano's): in order, the
 * lower bits of all in a row, and in unary how many there are of each of their upper bits. There are about as many of
 * these, the buckets, as there are hashes, so that a look goes through one hash or two.
 *
 *   hashes   0|01  0|11  2|10           (two lower bits)
 *   lows     01 11 10
 *   highs    110 0 10 0                 a one for each hash of a bucket, a zero behind the bucket
 */
export class HashRun {
  constructor(
    readonly count: number,
    /** Bits of a hash within its bucket. */
    private readonly lowBits: number,
    private readonly lows: Uint32Array,
    private readonly highs: Uint32Array,
    /** Of every so many buckets: the bit at which it begins. */
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
      // As many zeros stand before it as there are buckets.
      const here = bitsAt(lows, (at - bucket) * lowBits, lowBits);
      if (here >= low) return here === low;
    }
    return false;
  }

  /** In the byte order of this machine. */
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

  /** The bit behind as many zeros as there are buckets before this one. */
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
  /** Of the word at the index, those ones that have not gone by. */
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
    // What stands before it that is not a hash ends a bucket.
    const bucket = this.index * 32 + lowestOf(ones) - gone;
    return (bucket << lowBits) | bitsAt(lows, gone * lowBits, lowBits);
  }
}

/** Makes a run of hashes that come in order; the same twice is one. */
export class HashRunBuilder {
  private readonly lowBits: number;
  private readonly buckets: number;
  private readonly lows: Uint32Array;
  private readonly highs: Uint32Array;
  private readonly samples: Uint32Array;
  private sampled = 0;
  private last = END;
  private count = 0;

  /** `most`: not more hashes than that. */
  constructor(most: number) {
    this.lowBits = lowBitsFor(most);
    this.buckets = 2 ** (HASH_BITS - this.lowBits);
    // A reader looks at the word behind, too.
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

/** As many buckets as there are hashes, or up to twice as many. */
function lowBitsFor(count: number): number {
  return Math.min(HASH_BITS - 1, Math.max(0, Math.floor(Math.log2(2 ** HASH_BITS / Math.max(count, 1)))));
}

/** Megabytes are not copied to win a few bytes. */
function trimmed(words: Uint32Array, length: number): Uint32Array {
  return words.length - length > words.length / TRIMMED_SHARE ? words.slice(0, length) : words;
}

function wordsFor(bits: number): number {
  return Math.ceil(bits / 32);
}

function isSet(words: Uint32Array, at: number): boolean {
  return (((words[at >>> 5] as number) >>> (at & 31)) & 1) === 1;
}

/** A number of so many bits, fewer than 32. */
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

/** The place of the lowest one of a word that has one. */
function lowestOf(word: number): number {
  return 31 - Math.clz32(word & -word);
}
