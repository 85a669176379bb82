import Benchmark from 'benchmark';
import Table from 'cli-table3';
import { machine } from '../support/machine.js';
import { formatting, parsing } from './amount.js';
import { deciding } from './decide.js';
import { decoding, packing } from './entry-codec.js';
import type { Group } from './group.js';
import { hashing } from './hash.js';
import { reading, validating } from './request-codec.js';
import { responding } from './response-codec.js';
import { admitting, signing } from './signature.js';
import { counting } from './telemetry.js';

export interface MicroSettings {
  /** For each case. */
  readonly seconds: number;
}

const GROUPS = [
  deciding,
  reading,
  validating,
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
 * The hot functions, each beside what one would write first. All run in this process, one after the other, on inputs
 * that stay warm: the figures show where the time of a callback goes, not what a server can do.
 */
export async function runMicro(settings: MicroSettings): Promise<void> {
  console.log(machine());
  console.log('ratio: speed as a multiple of that of the last line of the group\n');
  const table = new Table({
    head: ['', 'ops/s', '±', 'ns/op', 'ratio'],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const group of GROUPS) {
    table.push([group.name, '', '', '', ''], ...lines(group, await measure(group, settings.seconds)));
  }
  console.log(table.toString());
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

function lines(group: Group, results: readonly Benchmark[]): string[][] {
  const floor = results.at(-1)?.hz ?? Number.NaN;
  return results.map(({ name, hz, stats }) => {
    const perSecond = hz * group.operations;
    return [
      `  ${name}`,
      Benchmark.formatNumber(Math.round(perSecond)),
      `${stats.rme.toFixed(1)} %`,
      (1e9 / perSecond).toFixed(1),
      (hz / floor).toFixed(2),
    ];
  });
}
