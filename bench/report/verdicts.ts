import { describeLoad, medianOf, type Raced } from '../load/raced.js';
import { short } from './chart.js';

/*
 * Verdicts: the sentence above a picture, for readers who read nothing else. Each verdict compares with the baseline
 * under the same load if there is one, and otherwise with the first server.
 */
const FLOORS = ['durable echo', 'echo'];

/** A verdict about the largest load, which is the chart's rightmost point. */
export function throughputVerdict(raced: readonly Raced[]): string {
  const perSecond = (one: Raced) => medianOf(one, (result) => result.perSecond);
  return verdict(raced, perSecond, (value) => `answered ${short(value)} callbacks/s`);
}

/** `what` names the measured answers, for example "99 in 100 answers". */
export function latencyVerdict(raced: readonly Raced[], what: string, pick: (one: Raced) => number): string {
  return verdict(raced, pick, (value) => `had ${what} within ${short(value)} ms`);
}

/** A verdict on bars: the largest and the smallest one. */
export function barsVerdict(unit: string, bars: readonly (readonly [name: string, value: number])[]): string {
  const sorted = [...bars].sort(([, a], [, b]) => b - a);
  const [most, least] = [sorted[0], sorted.at(-1)];
  if (most === undefined || least === undefined) return '';
  if (most === least) return `${most[0]}: ${short(most[1])} ${unit}.`;
  const times = short(most[1] / least[1]);
  return `From ${short(least[1])} ${unit} (${least[0]}) to ${short(most[1])} ${unit} (${most[0]}), ${times} times as much.`;
}

function verdict(raced: readonly Raced[], pick: (one: Raced) => number, say: (value: number) => string): string {
  const last = raced.at(-1);
  if (last === undefined) return '';
  const load = describeLoad(last.load);
  const alike = raced.filter((one) => describeLoad(one.load) === load);
  const floor = FLOORS.map((name) => alike.find(({ server }) => server === name)).find((one) => one !== undefined);
  const base = floor ?? (alike[0] as Raced);
  const others = alike.filter((one) => one !== base && !FLOORS.includes(one.server));
  const lines = (others.length > 0 ? others : [base]).map((one) => {
    const value = pick(one);
    const beside = one === base ? '' : `, ${short(value / pick(base))} times the ${base.server}`;
    return `${one.server} ${say(value)}${beside}`;
  });
  return `With ${load}, ${lines.join('; ')}.`;
}
