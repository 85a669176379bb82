import { must } from '../../src/base/assert.js';
import { withCleanUp } from '../../test/support/clean-up.js';
import { describeFsync, machine } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { type Contestant, verify } from '../support/servers.js';
import type { Store } from '../support/store.js';
import { type Generated, generate, type Load, warmUp } from './generate.js';
import { printRaced, resultLine } from './race-table.js';
import { describeLoad, type Raced } from './raced.js';
import type { Mix } from './stories.js';

export interface RaceSettings {
  readonly seconds: number;
  readonly connections: number;
  readonly players: number;
  readonly rounds: number;
  readonly mix: Mix;
  /** Parent folder of temporary folders. */
  readonly folder: string;
  /** Requests per second of an open loop; undefined for a closed loop. */
  readonly rate?: number | undefined;
  /** Undefined if requests are not signed. */
  readonly signingSecret?: string;
}

const SENT: Readonly<Record<Mix, string>> = {
  real: 'bets and what becomes of them, by Zipf',
  family: 'all eleven callbacks, by Zipf',
  asking: 'bets and what becomes of them, by Zipf, and a checkBalance before each round of play',
  pairs: 'placeBets and settleBets in turn',
};

interface Announced extends Pick<RaceSettings, 'folder' | 'mix'> {
  /** Number of players, or several numbers to measure alternately. */
  readonly players: number | readonly number[];
  readonly openBets?: number;
}

/** Prints the facts that are needed to judge the figures below them. */
export function announce(store: Pick<Store, 'durability'>, { folder, players, mix, openBets = 0 }: Announced): void {
  console.log(machine());
  console.log(`durability: ${store.durability} (one fdatasync here: ${describeFsync(folder)})`);
  const held = openBets === 0 ? '' : ` with ${openBets} open bets each`;
  const sent = SENT[mix];
  console.log(`${[players].flat().join(' and ')} players${held}, ${sent}\n`);
}

/** Counts starts, so that each process has a store of its own. */
let starts = 0;

/** Measures contestants under the same load and prints a table at the end. */
export async function race(contestants: readonly Contestant[], settings: RaceSettings): Promise<readonly Raced[]> {
  const raced = await measure(contestants, [settings], settings.rounds);
  printRaced(raced);
  return raced;
}

/**
 * Measures contestants under the same loads, in alternation, each round in fresh processes. Machines are noisy, so only
 * the ratio of medians within one run is meaningful. Each process is warmed up first, and its store is verified at the
 * end.
 */
export async function measure(
  contestants: readonly Contestant[],
  loads: readonly Load[],
  rounds: number,
): Promise<readonly Raced[]> {
  const first = must(loads[0], 'there is a load to measure');
  const progress = new RunProgress(contestants.length * loads.length * rounds, first.seconds);
  const width = Math.max(...contestants.map(({ name }) => name.length));
  const results = contestants.map(() => loads.map((): Generated[] => []));
  const runOnce = async (at: number, round: number) => {
    const contestant = contestants[at] as Contestant;
    const server = await contestant.start(++starts);
    await warmUp(server, first);
    for (const [i, common] of loads.entries()) {
      const load = loadOf(contestant, common);
      const result = await generate(server, load, (share) => progress.filled(contestant.name, share));
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
    contestants.map((one, at) => ({
      server: one.name,
      load: loadOf(one, load),
      rounds: results[at]?.[i] as Generated[],
    })),
  );
}

function loadOf({ players }: Contestant, load: Load): Load {
  return players === undefined ? load : { ...load, players };
}

/**
 * Rotates the servers, so that each round begins with a different one: the first and the last server of a round find
 * the machine in different states.
 */
function rotated<T>(list: readonly T[], by: number): T[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
