import { type Column, formatTable } from '../../src/cli/print/table.js';
import { coreShare } from '../support/processor.js';
import { RunProgress } from '../support/progress.js';

/** Activity that runs alongside the callbacks. `begin` returns the function that ends it. */
export interface Beside {
  readonly name: string;
  begin(): () => void;
}

/**
 * Share of a core that the activity uses, for each pair of turns: the share with the activity minus the share without
 * it.
 */
export interface Taken {
  readonly name: string;
  readonly shares: readonly number[];
}

const TURN_MS = 3000;
const PAIRS_PER_ROUND = 4;

/**
 * Measures an idle, warmed-up process alternately with and without the activity. Separate processes would differ by a
 * seventh on a noisy machine, which would hide a cost of 1 %. Work done once a second does not depend on the load, so
 * an idle process is enough.
 */
export async function takeTurns(pid: number, besides: readonly Beside[], rounds: number): Promise<readonly Taken[]> {
  const pairs = rounds * PAIRS_PER_ROUND;
  const progress = new RunProgress(besides.length, (2 * pairs * TURN_MS) / 1000);
  const taken: Taken[] = [];
  try {
    for (const beside of besides) {
      const shares: number[] = [];
      for (let pair = 0; pair < pairs; pair++) {
        const without = await coreShare(pid, TURN_MS);
        shares.push((await withIt(beside, pid)) - without);
      }
      const one = { name: beside.name, shares };
      taken.push(one);
      progress.next(rowOf(one).join('  '));
    }
  } finally {
    progress.stop();
  }
  return taken;
}

async function withIt({ begin }: Beside, pid: number): Promise<number> {
  const end = begin();
  try {
    return await coreShare(pid, TURN_MS);
  } finally {
    end();
  }
}

export const TURNS_COLUMNS: readonly Column[] = ['', { right: 'of a core' }, { right: '±' }];

export function turnsRows(taken: readonly Taken[]): string[][] {
  return taken.map(rowOf);
}

export function printTurns(taken: readonly Taken[]): void {
  console.log('\nof a server at rest, with it less without it; ±: standard error of the mean');
  console.log(formatTable(TURNS_COLUMNS, turnsRows(taken)));
}

function rowOf({ name, shares }: Taken): string[] {
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const squares = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0);
  return [name, percent(mean), percent(Math.sqrt(squares / (shares.length - 1) / shares.length))];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
