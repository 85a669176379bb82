import { median } from '../support/machine.js';
import type { Generated, Load } from './generate.js';

/** Results of one server under one load, round by round. */
export interface Raced {
  readonly server: string;
  readonly load: Load;
  readonly rounds: readonly Generated[];
}

/** The median over the rounds. */
export function medianOf({ rounds }: Raced, pick: (result: Generated) => number): number {
  return median(rounds.map(pick));
}

/** Longest answer of all rounds: a median of longest answers would leave out the longest. */
export function longestOf({ rounds }: Raced): number {
  return Math.max(...rounds.map(({ maxMs }) => maxMs));
}

/** Callbacks per second between the slowest round and the fastest. */
export function spreadOf({ rounds }: Raced): number {
  const all = rounds.map(({ perSecond }) => perSecond);
  return Math.max(...all) - Math.min(...all);
}

export function describeLoad({ rate, connections }: Load): string {
  return rate === undefined ? `${connections} conns` : `${rate}/s`;
}
