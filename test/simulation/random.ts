/** Seeded random numbers (SplitMix32): the same seed produces the same run. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Random number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** Random integer from 0 (inclusive) to `count` (exclusive). */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('there is nothing to pick');
    return items[this.below(items.length)] as T;
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16)).join('');
  }

  /** Independent stream of random numbers, which does not depend on how many numbers are drawn from this one. */
  fork(): Random {
    return new Random(this.below(2 ** 32));
  }
}
