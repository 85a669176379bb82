import type { Generated } from './generate.js';
import { describeLoad, longestOf, medianOf, type Raced } from './raced.js';

/** The name of the server that is the baseline for every durable answer, on this machine at this time. */
const FLOOR = 'durable echo';

/** Sentences about the cost of more players, as ratios within one run. Empty if there is only one population. */
export function populationSentences(raced: readonly Raced[]): string[] {
  const loads = [...new Set(raced.map(({ load }) => describeLoad(load)))];
  return loads.flatMap((load) => {
    const alike = raced.filter((one) => describeLoad(one.load) === load);
    const floor = alike.find(({ server }) => server === FLOOR);
    const walletds = alike.filter(({ rounds }) => rounds.every(({ keepsPlayers }) => keepsPlayers));
    const [few, ...others] = [...walletds].sort((a, b) => a.load.players - b.load.players);
    if (few === undefined || floor === undefined) return [];
    return others
      .filter((many) => many.load.players > few.load.players)
      .flatMap((many) => [
        `${load}, p99 of ${many.server} beside ${few.server}: ${times(p99(many), p99(few))}`,
        `${load}, longest answer of ${many.server} beside the ${FLOOR}: ${more(longestOf(many), longestOf(floor))}`,
        `${load}, p99 of ${few.server} beside the ${FLOOR}: ${times(p99(few), p99(floor))}`,
      ]);
  });
}

const p99 = (one: Raced) => medianOf(one, (result: Generated) => result.p99Ms);

function times(value: number, beside: number): string {
  return `${(value / beside).toFixed(2)} times (${value.toFixed(2)} and ${beside.toFixed(2)} ms)`;
}

function more(value: number, beside: number): string {
  const difference = value - beside;
  const word = difference < 0 ? 'less' : 'more';
  return `${Math.abs(difference).toFixed(0)} ms ${word} (${value.toFixed(0)} and ${beside.toFixed(0)} ms)`;
}
