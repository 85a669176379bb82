import { plural } from '../../src/cli/print/format.js';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import type { LoadResult } from './generator.js';
import { describeLoad, medianOf, type Raced, spreadOf } from './raced.js';

/** From here on the generator may be what is measured. */
const GENERATOR_SHARE_MAX = 0.9;

export const RACED_COLUMNS: readonly Column[] = [
  '',
  ...['load', '/s', '±', 'p50 ms', 'p99 ms', 'p99.9 ms', 'ratio', 'gen. CPU'].map((right) => ({ right })),
];

/** One round, for people. */
export function resultLine({ perSecond, p50Ms, p99Ms, p999Ms, generatorCpuShare }: LoadResult): string {
  const latencies = `p50 ${p50Ms.toFixed(2)}  p99 ${p99Ms.toFixed(2)}  p99.9 ${p999Ms.toFixed(2)} ms`;
  return `${Math.round(perSecond)}/s  ${latencies}  generator ${percent(generatorCpuShare)}`;
}

/** Medians, in 80 columns. */
export function printRaced(raced: readonly Raced[]): void {
  console.log(`\nmedians of ${plural(raced[0]?.rounds.length ?? 0, 'round')}`);
  console.log(
    formatTable(
      RACED_COLUMNS,
      raced.map((one) => racedRow(one, raced)),
    ),
  );
  console.log('load: connections that wait for each answer (closed loop), or requests/s sent');
  console.log('by the clock (open loop; latency counts from when each was due)');
  console.log('±: half of the way from the slowest to the fastest round');
  console.log('ratio: throughput beside the first line of the same load');
  for (const sentence of generatorSentences(
    raced.map((one) => medianOf(one, ({ generatorCpuShare }) => generatorCpuShare)),
  )) {
    console.log(`* ${sentence}`);
  }
}

/** What has to be said about these shares of a core. */
export function generatorSentences(shares: readonly number[]): string[] {
  const isFull = shares.some((share) => share > GENERATOR_SHARE_MAX);
  return isFull ? ['the generator had no CPU left: the server may be faster than this'] : [];
}

export function racedRow(one: Raced, all: readonly Raced[]): string[] {
  const of = (pick: (result: LoadResult) => number) => medianOf(one, pick);
  const perSecond = of((result) => result.perSecond);
  const first = all.find(({ load }) => describeLoad(load) === describeLoad(one.load)) as Raced;
  const share = of((result) => result.generatorCpuShare);
  return [
    one.server,
    describeLoad(one.load),
    String(Math.round(perSecond)),
    percent(spreadOf(one) / 2 / perSecond),
    of((result) => result.p50Ms).toFixed(2),
    of((result) => result.p99Ms).toFixed(2),
    of((result) => result.p999Ms).toFixed(2),
    (perSecond / medianOf(first, (result) => result.perSecond)).toFixed(2),
    `${percent(share)}${share > GENERATOR_SHARE_MAX ? '*' : ''}`,
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
