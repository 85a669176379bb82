import type { Random } from './random.js';

const RUN_MAX = 40;

/** A NUL, a slash in too many bytes, half of a pair, what no UTF-8 has, a byte order mark, line ends. */
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

/** One mutation of bytes that may mean something. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  return random.pick(MUTATIONS)(random, bytes, random.between(0, bytes.length - 1));
}
