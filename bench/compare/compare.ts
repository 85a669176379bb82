import { plural } from '../../src/cli/print/format.js';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import { withCleanUp } from '../../test/support/clean-up.js';
import { ROOT } from '../../test/support/root.js';
import { generate, warmUp } from '../load/generate.js';
import { announce, type RaceSettings } from '../load/race.js';
import { generatorSentences, resultLine } from '../load/race-table.js';
import type { LoadResult } from '../load/run.js';
import { median } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { startWalletd, verify } from '../support/servers.js';
import { type Store, type StoreChoice, startStore } from '../support/store.js';
import { checkOut } from './check-out.js';

export interface CompareSettings extends RaceSettings, StoreChoice {
  readonly workers: number;
}

/** Results of the working tree and of the other commit. */
export interface Compared {
  readonly ref: LoadResult;
  readonly tree: LoadResult;
}

export interface CompareReport {
  readonly durability: string;
  readonly ref: string;
  readonly rounds: readonly Compared[];
}

/**
 * Runs another commit and the working tree in alternation. Each round uses fresh processes and the working tree's load
 * generator.
 */
export function runCompare(ref: string, settings: CompareSettings): Promise<CompareReport> {
  return withCleanUp(async () => {
    const root = checkOut(ref, settings.folder);
    const store = await startStore(settings);
    announce(store, settings);
    const progress = new RunProgress(2 * settings.rounds, settings.seconds);
    const rounds: Compared[] = [];
    try {
      for (let round = 1; round <= settings.rounds; round++) {
        const one = async (name: 'ref' | 'tree') => {
          const result = await runOnce(store, `${name}-${round}`, name === 'ref' ? root : ROOT, settings);
          progress.next(`round ${round}  ${name.padEnd(4)}  ${resultLine(result)}`);
          return result;
        };
        // Alternate the order, because the first run affects the disk and the caches that the second one uses.
        if (round % 2 === 1) rounds.push({ ref: await one('ref'), tree: await one('tree') });
        else rounds.push({ tree: await one('tree'), ref: await one('ref') });
      }
    } finally {
      progress.stop();
    }
    const report = { durability: store.durability, ref, rounds };
    print(report);
    return report;
  });
}

function runOnce(store: Store, name: string, root: string, settings: CompareSettings): Promise<LoadResult> {
  return withCleanUp(async () => {
    const server = await startWalletd(store, settings.workers, { name }, root);
    await warmUp(server, settings);
    const result = await generate(server, settings);
    verify(server, root);
    return result;
  });
}

const FIGURES: readonly (readonly [string, (result: LoadResult) => number])[] = [
  ['callbacks/s', (result) => result.perSecond],
  ['p50 ms', (result) => result.p50Ms],
  ['p99 ms', (result) => result.p99Ms],
  ['p99.9 ms', (result) => result.p999Ms],
  ['generator CPU', (result) => result.generatorCpuShare],
];

function print(report: CompareReport): void {
  const { ref, rounds } = report;
  console.log(
    `\nmedians of ${plural(rounds.length, 'round')}; ratio: the working tree beside ${ref} in the same round`,
  );
  console.log(formatTable(COMPARE_COLUMNS, compareRows(report)));
  const shares = rounds.flatMap((one) => [one.ref.generatorCpuShare, one.tree.generatorCpuShare]);
  for (const sentence of generatorSentences(shares)) console.log(sentence);
}

export const COMPARE_COLUMNS: readonly Column[] = [
  '',
  ...['ref', 'tree', 'ratio', 'least', 'most'].map((right) => ({ right })),
];

export function compareRows({ rounds }: CompareReport): string[][] {
  return FIGURES.map(([name, pick]) => {
    const ratios = rounds.map(({ ref, tree }) => pick(tree) / pick(ref));
    const [ref, tree] = [median(rounds.map((one) => pick(one.ref))), median(rounds.map((one) => pick(one.tree)))];
    const figures = [ref, tree, median(ratios), Math.min(...ratios), Math.max(...ratios)];
    return [name, ...figures.map((value) => value.toFixed(2))];
  });
}
