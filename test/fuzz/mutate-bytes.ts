import type { Random } from './random.js';

const RUN_MAX = 40;

/** A NUL, an overlong slash, half of a surrogate pair, invalid UTF-8, a byte order mark, line breaks. */
const INSERTS = ['00', 'c0af', 'eda080', 'f4908080', 'ff', 'fe', 'efbbbf', '0d0a', '0d0a0d0a', 'c3', '80'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

type Mutation = (random: Random, bytes: Buffer, at: number) => Buffer;

const MUTATIONS: readonly Mutation[] = [
  (random, bytes, at) => {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.between(0, 7));
    return flipped;
  },
  (_, bytes, at) => bytes.subarray(0, at),
  (random, bytes, at) => Buffer.concat([bytes.subarray(0, at), random.pick(INSERTS), bytes.subarray(at)]),
  (random, bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.between(1, RUN_MAX))]),
  (random, bytes, at) => Buffer.concat([bytes.subarray(0, at + random.between(1, RUN_MAX)), bytes.subarray(at)]),
];

/** Makes one mutation that leaves most of the bytes meaningful. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  return random.pick(MUTATIONS)(random, bytes, random.between(0, bytes.length - 1));
}
