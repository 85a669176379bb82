import { must } from '../../src/base/assert.js';
import { describeFsync, machine } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { type Server, verify } from '../support/servers.js';
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

/** Servers under the same load, with a table at the end. */
export async function race(servers: readonly Server[], settings: RaceSettings): Promise<readonly Raced[]> {
  const raced = await measure(servers, [settings], settings.rounds);
  printRaced(raced);
  return raced;
}

/**
 * Servers under the same loads, in alternation: machines are noisy, so what counts is the ratio of medians of one run.
 * Each is warmed up before; at the end the store of each is proven.
 */
export async function measure(
  servers: readonly Server[],
  loads: readonly Load[],
  rounds: number,
): Promise<readonly Raced[]> {
  const progress = new RunProgress(servers.length * loads.length * rounds, loads[0]?.seconds ?? 0);
  const width = Math.max(...servers.map(({ name }) => name.length));
  const raced: Raced[] = [];
  try {
    for (const server of servers) await warmUp(server, must(loads[0], 'there is a load to measure'));
    for (const load of loads) {
      const results = servers.map((): LoadResult[] => []);
      for (let round = 1; round <= rounds; round++) {
        for (const [i, server] of rotated([...servers.entries()], round - 1)) {
          const result = await generate(server, load);
          results[i]?.push(result);
          progress.next(`${describeLoad(load)}  round ${round}  ${server.name.padEnd(width)}  ${resultLine(result)}`);
        }
      }
      raced.push(...servers.map(({ name }, i) => ({ server: name, load, rounds: results[i] as LoadResult[] })));
    }
  } finally {
    progress.stop();
  }
  for (const server of servers) verify(server);
  return raced;
}

/** Each round begins with another server: who goes first finds the machine in another state than who goes last. */
function rotated<T>(list: readonly T[], by: number): T[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
