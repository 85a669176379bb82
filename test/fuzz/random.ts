import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { hashString } from '../../src/base/hash.js';

/** Reproducible random numbers, all derived from the seed. */
export class Random {
  private readonly generator;

  constructor(private readonly seed: number) {
    this.generator = xoroshiro128plus(seed);
  }

  /** Independent stream for `name`, regardless of what has been drawn from this one. */
  fork(name: string): Random {
    return new Random(hashString(`${this.seed} ${name}`));
  }

  /** Integer in a range that includes both ends. */
  between(least: number, most: number): number {
    if (least > most) throw new Error(`there is no number from ${least} to ${most}`);
    return uniformInt(this.generator, least, most);
  }

  /** True with a probability of one in `times`. */
  oneIn(times: number): boolean {
    return this.between(1, times) === 1;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('there is nothing to pick from');
    return from[this.between(0, from.length - 1)] as T;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.between(0, 255)));
  }

  /** Random text of these characters. */
  text(length: number, alphabet: string): string {
    return Array.from({ length }, () => alphabet[this.between(0, alphabet.length - 1)]).join('');
  }

  /** A list of `length` results of `make`. */
  list<T>(length: number, make: (n: number) => T): T[] {
    return Array.from({ length }, (_, n) => make(n));
  }
}
