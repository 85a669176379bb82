/**
 * A 64-bit secret in two signed words. An attacker who does not know it cannot predict which names collide in a hash
 * table.
 */
export interface HashKey {
  readonly low: number;
  readonly high: number;
}

const NO_KEY: HashKey = { low: 0, high: 0 };
let threadKey = NO_KEY;

/**
 * Sets the key for hash tables that this thread creates from now on. Every entry point of the process must call this
 * first.
 */
export function setHashKey(key: HashKey): void {
  threadKey = key;
}

/**
 * The key for this thread's next hash table. All zeros if no entry point has set a key, as in tests and simulations.
 */
export function currentHashKey(): HashKey {
  return threadKey;
}

/** Number of bytes that precede the text: the two words. */
const HEAD_BYTES = 8;

/**
 * HalfSipHash-1-3 of two 32-bit words and a text, with a 32-bit unsigned or a 64-bit result. Linux uses it for its own
 * hash tables. FNV and MurmurHash can be inverted in milliseconds, even with a secret start value. Use this for hash
 * tables only, never for signatures.
 *
 *   message   first (u32) | second (u32) | bytes[start..end) | zeros | length (u8)       little-endian words
 *
 * The round is inlined four times, because a function with its state in an array takes twice as long.
 */
export function keyedHash(
  { low, high }: HashKey,
  first: number,
  second: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  /**
   * If present, the result has 64 bits, and this array receives the upper 32. Both halves are computed in a single pass
   * over the text.
   */
  upper?: Uint32Array,
): number {
  let v0 = low ^ 0;
  let v1 = upper === undefined ? high ^ 0 : high ^ 0xee;
  let v2 = 0x6c796765 ^ low;
  let v3 = 0x74656462 ^ high;

  let word = first | 0;
  v3 ^= word;
  v0 = (v0 + v1) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v0 = (v0 << 16) | (v0 >>> 16);
  v2 = (v2 + v3) | 0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (v0 + v3) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v2 = (v2 + v1) | 0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
  v0 ^= word;

  word = second | 0;
  v3 ^= word;
  v0 = (v0 + v1) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v0 = (v0 << 16) | (v0 >>> 16);
  v2 = (v2 + v3) | 0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (v0 + v3) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v2 = (v2 + v1) | 0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
  v0 ^= word;

  let at = start;
  for (const wholeEnd = end - 3; at < wholeEnd; at += 4) {
    word =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }

  word = (HEAD_BYTES + end - start) << 24;
  for (let shift = 0; at < end; at++, shift += 8) word |= (bytes[at] as number) << shift;
  v3 ^= word;
  // One round for the last word, three to finish, and three more for the upper half.
  let lower = 0;
  for (let round = 0; round < (upper === undefined ? 4 : 7); round++) {
    if (round === 4) {
      lower = (v1 ^ v3) >>> 0;
      v1 ^= 0xdd;
    }
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    if (round === 0) {
      v0 ^= word;
      v2 ^= upper === undefined ? 0xff : 0xee;
    }
  }
  if (upper === undefined) return (v1 ^ v3) >>> 0;
  upper[0] = v1 ^ v3;
  return lower;
}
