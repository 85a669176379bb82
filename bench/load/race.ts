import { must } from '../../src/base/assert.js';
import { withCleanUp } from '../support/clean-up.js';
import { describeFsync, machine } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { type Contestant, verify } from '../support/servers.js';
import type { Store } from '../support/store.js';
import { generate, type Load, warmUp } from './generate.js';
import type { LoadResult } from './generator.js';
import { printRaced, resultLine } from './race-table.js';
import { describeLoad, type Raced } from './raced.js';
import type { Mix } from './stories.js';

export interface RaceSettings {
  readonly seconds: number;
  readonly connections: number;
  readonly players: number;
  readonly rounds: number;
  readonly mix: Mix;
  /** Where temporary folders are made. */
  readonly folder: string;
  /** Requests per second of an open loop; undefined for a closed one. */
  readonly rate?: number | undefined;
  /** Undefined: requests are not signed. */
  readonly signingSecret?: string;
}

/** Everything a reader needs to judge the figures that follow. */
export function announce(
  store: Store,
  { folder, players, mix }: Pick<RaceSettings, 'folder' | 'players' | 'mix'>,
): void {
  console.log(machine());
  console.log(`durability: ${store.durability} (one fdatasync here: ${describeFsync(folder)})`);
  console.log(
    `${players} players, ${mix === 'pairs' ? 'placeBets and settleBets in turn' : 'all callbacks, by Zipf'}\n`,
  );
}

/** Contestants under the same load, with a table at the end. */
export async function race(contestants: readonly Contestant[], settings: RaceSettings): Promise<readonly Raced[]> {
  const raced = await measure(contestants, [settings], settings.rounds);
  printRaced(raced);
  return raced;
}

/**
 * Contestants under the same loads, in alternation, each round in fresh processes: machines are noisy, so what counts is
 * the ratio of medians of one run. Each process is warmed up before, and at its end its store is proven.
 */
export async function measure(
  contestants: readonly Contestant[],
  loads: readonly Load[],
  rounds: number,
): Promise<readonly Raced[]> {
  const first = must(loads[0], 'there is a load to measure');
  const progress = new RunProgress(contestants.length * loads.length * rounds, first.seconds);
  const width = Math.max(...contestants.map(({ name }) => name.length));
  const results = contestants.map(() => loads.map((): LoadResult[] => []));
  const runOnce = async (at: number, round: number) => {
    const contestant = contestants[at] as Contestant;
    const server = await contestant.start(round);
    await warmUp(server, first);
    for (const [i, load] of loads.entries()) {
      const result = await generate(server, load);
      results[at]?.[i]?.push(result);
      progress.next(`${describeLoad(load)}  round ${round}  ${contestant.name.padEnd(width)}  ${resultLine(result)}`);
    }
    verify(server);
  };
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const at of rotated([...contestants.keys()], round - 1)) await withCleanUp(() => runOnce(at, round));
    }
  } finally {
    progress.stop();
  }
  return loads.flatMap((load, i) =>
    contestants.map(({ name }, at) => ({ server: name, load, rounds: results[at]?.[i] as LoadResult[] })),
  );
}

/** Each round begins with another server: who goes first finds the machine in another state than who goes last. */
function rotated<T>(list: readonly T[], by: number): T[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
