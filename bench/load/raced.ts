import { median } from '../support/machine.js';
import type { Generated, Load } from './generate.js';

/** One server's results under one load, round by round. */
export interface Raced {
  readonly server: string;
  readonly load: Load;
  readonly rounds: readonly Generated[];
}

/** Median of a value over the rounds. */
export function medianOf({ rounds }: Raced, pick: (result: Generated) => number): number {
  return median(rounds.map(pick));
}

/** Longest answer in all rounds. A median of the longest answers would hide the longest one. */
export function longestOf({ rounds }: Raced): number {
  return Math.max(...rounds.map(({ maxMs }) => maxMs));
}

/** Difference in callbacks per second between the fastest and the slowest round. */
export function spreadOf({ rounds }: Raced): number {
  const all = rounds.map(({ perSecond }) => perSecond);
  return Math.max(...all) - Math.min(...all);
}

export function describeLoad({ rate, connections }: Load): string {
  return rate === undefined ? `${connections} conns` : `${rate}/s`;
}
