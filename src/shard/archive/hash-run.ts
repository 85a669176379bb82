/** Hashes are numbers of so many bits: positive 32-bit integers. */
export const HASH_BITS = 31;
/** Behind the last hash of a cursor. */
export const END = -1;
/** Hashes per bucket, about: half of them are gone through at each look. */
const BUCKET_HASHES = 32;
const RUN_HEAD_WORDS = 5;

/** Hashes in order, one after the other. */
export interface HashCursor {
  /** `END` when there is none left. */
  next(): number;
}

/**
 * A set of hashes that does not change, in some 12 bits each where there are millions: sorted, in buckets by their upper
 * bits, as distances from one to the next. A distance is its upper part in ones, a zero, and its lower part.
 */
export class HashRun {
  static readonly EMPTY = new HashRun(0, HASH_BITS, 0, new Uint32Array(2), new Uint32Array(2));

  constructor(
    readonly count: number,
    /** Bits of a hash within its bucket. */
    private readonly bucketBits: number,
    /** Bits of the lower part of a distance. */
    private readonly lowBits: number,
    /** By bucket: the bit at which it begins; and the end of the last one. */
    private readonly starts: Uint32Array,
    private readonly words: Uint32Array,
  ) {}

  get bytes(): number {
    return this.starts.byteLength + this.words.byteLength;
  }

  has(hash: number): boolean {
    const { words, lowBits, starts } = this;
    const mask = (1 << lowBits) - 1;
    const bucket = hash >>> this.bucketBits;
    const end = starts[bucket + 1] as number;
    let at = starts[bucket] as number;
    let value = bucket << this.bucketBits;
    while (at < end && value <= hash) {
      const ones = onesAt(words, at);
      at += ones + 1;
      value += (ones << lowBits) + (wordAt(words, at) & mask);
      at += lowBits;
      if (value === hash) return true;
    }
    return false;
  }

  /** In the byte order of this machine. */
  toBytes(): Buffer {
    const { count, bucketBits, lowBits, starts, words } = this;
    const head = Uint32Array.of(count, bucketBits, lowBits, starts.length, words.length);
    return Buffer.concat(
      [head, starts, words].map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
    );
  }

  static fromBytes(bytes: Buffer): HashRun {
    const all = new Uint32Array(bytes.length / 4);
    bytes.copy(Buffer.from(all.buffer));
    const [count = 0, bucketBits = 0, lowBits = 0, starts = 0, words = 0] = all;
    const at = RUN_HEAD_WORDS + starts;
    return new HashRun(count, bucketBits, lowBits, all.slice(RUN_HEAD_WORDS, at), all.slice(at, at + words));
  }

  cursor(): HashCursor {
    return new RunCursor(this.words, this.starts, this.bucketBits, this.lowBits);
  }
}

class RunCursor implements HashCursor {
  private bucket = 0;
  private value = 0;
  private at = 0;
  private end: number;

  constructor(
    private readonly words: Uint32Array,
    private readonly starts: Uint32Array,
    private readonly bucketBits: number,
    private readonly lowBits: number,
  ) {
    this.end = starts[1] as number;
  }

  next(): number {
    const { words, starts, lowBits } = this;
    while (this.at >= this.end) {
      if (++this.bucket + 1 >= starts.length) return END;
      this.end = starts[this.bucket + 1] as number;
      this.value = this.bucket << this.bucketBits;
    }
    const ones = onesAt(words, this.at);
    const low = wordAt(words, this.at + ones + 1) & ((1 << lowBits) - 1);
    this.at += ones + 1 + lowBits;
    this.value += (ones << lowBits) + low;
    return this.value;
  }
}

/** Makes a run of hashes that come in order; the same twice is one. */
export class HashRunBuilder {
  private readonly bucketBits: number;
  private readonly lowBits: number;
  private readonly starts: Uint32Array;
  private words: Uint32Array;
  private at = 0;
  private bucket = 0;
  private last = END;
  private value = 0;
  private count = 0;

  /** `most`: not more hashes than that. */
  constructor(most: number) {
    const log = Math.max(0, Math.round(Math.log2(Math.max(most, 1) / BUCKET_HASHES)));
    this.bucketBits = HASH_BITS - log;
    const mean = 2 ** HASH_BITS / Math.max(most, 1);
    this.lowBits = Math.min(Math.max(0, Math.floor(Math.log2(mean * Math.LN2))), HASH_BITS - 1);
    this.starts = new Uint32Array(2 ** log + 1);
    this.words = new Uint32Array(Math.ceil((most * (this.lowBits + 2)) / 32) + 4);
  }

  add(hash: number): void {
    if (hash === this.last) return;
    this.last = hash;
    const bucket = hash >>> this.bucketBits;
    if (bucket !== this.bucket) {
      this.endBuckets(bucket);
      this.value = bucket << this.bucketBits;
    }
    const distance = hash - this.value;
    const ones = distance >>> this.lowBits;
    this.room(ones + 1 + this.lowBits);
    for (let left = ones; left > 0; left -= HASH_BITS) {
      const some = Math.min(left, HASH_BITS);
      this.write(2 ** some - 1, some);
    }
    this.at++;
    this.write(distance & ((1 << this.lowBits) - 1), this.lowBits);
    this.value = hash;
    this.count++;
  }

  finish(): HashRun {
    this.endBuckets(this.starts.length - 1);
    // A reader looks at the word behind, too.
    const words = this.words.slice(0, (this.at >>> 5) + 2);
    return new HashRun(this.count, this.bucketBits, this.lowBits, this.starts, words);
  }

  private endBuckets(next: number): void {
    while (this.bucket < next) this.starts[++this.bucket] = this.at;
  }

  private write(value: number, bits: number): void {
    const { words } = this;
    const index = this.at >>> 5;
    const shift = this.at & 31;
    words[index] = (words[index] as number) | (value << shift);
    if (shift + bits > 32) words[index + 1] = (words[index + 1] as number) | (value >>> (32 - shift));
    this.at += bits;
  }

  private room(bits: number): void {
    const needed = ((this.at + bits) >>> 5) + 2;
    if (needed <= this.words.length) return;
    const larger = new Uint32Array(Math.ceil(needed * 1.2));
    larger.set(this.words);
    this.words = larger;
  }
}

/** 32 bits from this one on, the first of them the lowest. */
function wordAt(words: Uint32Array, at: number): number {
  const index = at >>> 5;
  const shift = at & 31;
  const first = words[index] as number;
  return shift === 0 ? first | 0 : (first >>> shift) | ((words[index + 1] as number) << (32 - shift));
}

/** How many ones stand there before the next zero. */
function onesAt(words: Uint32Array, at: number): number {
  let ones = 0;
  let zeros = ~wordAt(words, at);
  while (zeros === 0) {
    ones += 32;
    zeros = ~wordAt(words, at + ones);
  }
  return ones + 31 - Math.clz32(zeros & -zeros);
}
