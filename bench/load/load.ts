import { withCleanUp } from '../support/clean-up.js';
import { durableEcho, echo, walletd } from '../support/servers.js';
import { type StoreChoice, startStore } from '../support/store.js';
import type { Load } from './generate.js';
import { announce, measure, type RaceSettings } from './race.js';
import { printRaced } from './race-table.js';
import type { Raced } from './raced.js';

export interface LoadSettings extends Omit<RaceSettings, 'connections' | 'rate'>, StoreChoice {
  /** Counts of worker threads, each measured by itself; 0 is inline. */
  readonly workers: readonly number[];
  /** Each measured by itself. */
  readonly connections: readonly number[];
  /** Requests per second of open loops over most connections, each measured by itself. Undefined: closed loops. */
  readonly rate?: readonly number[];
}

export interface LoadReport {
  readonly durability: string;
  readonly raced: readonly Raced[];
}

/** Throughput and latency of walletd, beside an echo server and one that appends what it was sent to a log. */
export function runLoad(settings: LoadSettings): Promise<LoadReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const walletds = settings.workers.map((workers) => walletd(store, workers));
    const raced = await measure([echo(), durableEcho(store), ...walletds], loadsOf(settings), settings.rounds);
    printRaced(raced);
    return { durability: store.durability, raced };
  });
}

function loadsOf({ connections, rate, seconds, players, mix }: LoadSettings): readonly Load[] {
  const load = { seconds, players, mix };
  if (rate === undefined) return connections.map((count) => ({ ...load, connections: count }));
  return rate.map((perSecond) => ({ ...load, connections: Math.max(...connections), rate: perSecond }));
}
