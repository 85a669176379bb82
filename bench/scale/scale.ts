import { withCleanUp } from '../../test/support/clean-up.js';
import { announce, measure, type RaceSettings } from '../load/race.js';
import { printRaced } from '../load/race-table.js';
import type { Raced } from '../load/raced.js';
import { type MemoryReport, runMemory } from '../memory/memory.js';
import { median } from '../support/machine.js';
import { type Contestant, walletd } from '../support/servers.js';
import { type StoreChoice, startStore } from '../support/store.js';
import { answerUs } from './thread-hop.js';

export interface ScaleSettings extends Omit<RaceSettings, 'players'>, StoreChoice {
  /** Numbers of worker threads, each measured separately with the smallest number of players. */
  readonly workers: readonly number[];
  /** Numbers of players, each measured separately without workers. */
  readonly players: readonly number[];
}

/** Median time in microseconds until a single callback without a durable write is answered. */
export interface LoneAnswer {
  readonly server: string;
  readonly us: number;
}

export interface ScaleReport {
  readonly durability: string;
  readonly byWorkers: readonly Raced[];
  readonly byPlayers: readonly Raced[];
  readonly loneAnswers: readonly LoneAnswer[];
  readonly memory: MemoryReport;
}

/** Measures how the numbers of threads and players affect throughput, latency and memory. */
export function runScale(settings: ScaleSettings): Promise<ScaleReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    const { workers, players, rounds, ...others } = settings;
    const least = { ...others, players: Math.min(...players) };
    announce(store, least);
    const contestants = workers.map((count) => walletd(store, count));
    const loneAnswers = await measureLoneAnswers(contestants, rounds);
    const byWorkers = await measure(contestants, [least], rounds);
    printRaced(byWorkers);
    const byPlayers: Raced[] = [];
    for (const count of players) {
      const one = walletd(store, 0, { name: `${count} players` });
      byPlayers.push(...(await measure([one], [{ ...others, players: count }], rounds)));
    }
    printRaced(byPlayers);
    for (const { server, us } of loneAnswers) console.log(`a lone answer of ${server}: ${us.toFixed(0)} us`);
    console.log('');
    return { durability: store.durability, byWorkers, byPlayers, loneAnswers, memory: runMemory() };
  });
}

async function measureLoneAnswers(contestants: readonly Contestant[], rounds: number): Promise<LoneAnswer[]> {
  const times = contestants.map((): number[] => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      await withCleanUp(async () => {
        // Use a negative number. These starts then have stores of their own, and later rounds begin with an empty
        // store.
        const { url } = await contestant.start(-round);
        times[i]?.push(await answerUs(url));
      });
    }
  }
  return contestants.map(({ name }, i) => ({ server: name, us: median(times[i] as number[]) }));
}
