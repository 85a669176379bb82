import Benchmark from 'benchmark';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import { machine } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { formatting, parsing } from './amount.js';
import { deciding } from './decide.js';
import { decoding, packing } from './entry-codec.js';
import type { Group } from './group.js';
import { hashing } from './hash.js';
import { reading } from './request-codec.js';
import { responding } from './response-codec.js';
import { admitting, signing } from './signature.js';
import { counting } from './telemetry.js';

export interface MicroSettings {
  /** Duration of each case. */
  readonly seconds: number;
}

export interface MicroCase {
  readonly name: string;
  readonly perSecond: number;
  readonly errorPercent: number;
  /** Speed relative to the group's last case. */
  readonly ratio: number;
}

export interface MicroGroup {
  readonly name: string;
  readonly cases: readonly MicroCase[];
}

export type MicroReport = readonly MicroGroup[];

const GROUPS = [
  deciding,
  reading,
  responding,
  signing,
  admitting,
  counting,
  packing,
  decoding,
  hashing,
  parsing,
  formatting,
];

/**
 * Measures the hot functions, each compared with a naive solution. All of them run in this process, one after another,
 * on warm inputs. The figures show where a callback's time goes, not the capacity of a server.
 */
export async function runMicro(settings: MicroSettings): Promise<MicroReport> {
  console.log(machine());
  console.log('ratio: speed as a multiple of that of the last line of the group\n');
  const report: MicroGroup[] = [];
  const progress = new RunProgress(GROUPS.length, settings.seconds);
  for (const group of GROUPS) {
    report.push({ name: group.name, cases: figures(group, await measure(group, settings.seconds)) });
    progress.next(group.name);
  }
  progress.stop();
  console.log(formatTable(MICRO_COLUMNS, report.flatMap(microRows)));
  return report;
}

function measure(group: Group, seconds: number): Promise<readonly Benchmark[]> {
  const suite = new Benchmark.Suite();
  for (const { name, run } of [...group.cases, group.alternative]) suite.add(name, run, { maxTime: seconds });
  return new Promise((resolve, reject) => {
    suite.on('complete', () => {
      const results: Benchmark[] = suite.slice(0, suite.length);
      const failed = results.find((result) => result.error);
      if (failed === undefined) resolve(results);
      else reject(failed.error);
    });
    suite.run({ async: true });
  });
}

function figures(group: Group, results: readonly Benchmark[]): MicroCase[] {
  const last = results.at(-1)?.hz ?? Number.NaN;
  return results.map(({ name, hz, stats }) => ({
    name: name as string,
    perSecond: hz * group.operations,
    errorPercent: stats.rme,
    ratio: hz / last,
  }));
}

export const MICRO_COLUMNS: readonly Column[] = ['', ...['ns/op', '±', 'ratio'].map((right) => ({ right }))];

export function microRows({ name, cases }: MicroGroup): string[][] {
  return [
    [name, '', '', ''],
    ...cases.map(({ name: what, perSecond, errorPercent, ratio }) => [
      `  ${what}`,
      (1e9 / perSecond).toFixed(1),
      `${errorPercent.toFixed(1)} %`,
      ratio.toFixed(2),
    ]),
  ];
}
