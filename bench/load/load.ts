import { withCleanUp } from '../../test/support/clean-up.js';
import { Archives } from '../support/archive.js';
import { type Contestant, describeWorkers, durableEcho, echo, walletd } from '../support/servers.js';
import { type Store, type StoreChoice, startStore } from '../support/store.js';
import type { Load } from './generate.js';
import { populationSentences } from './populations.js';
import { announce, measure, type RaceSettings } from './race.js';
import { printRaced } from './race-table.js';
import type { Raced } from './raced.js';
import { onTarget, TARGET_PLAYERS, type Target } from './target.js';

export interface LoadSettings extends Omit<RaceSettings, 'connections' | 'rate' | 'players'>, StoreChoice {
  /** Worker thread counts, each measured separately; 0 means inline. */
  readonly workers: readonly number[];
  /** Player counts, each measured in separate walletd processes. */
  readonly players: readonly number[];
  /** Open bets that each player holds throughout the measured period. */
  readonly openBets: number;
  /** How long closed rounds stay in memory before they go to an archive. If undefined, walletd's default applies. */
  readonly memorySeconds?: number;
  /**
   * Connection counts for closed loops, each measured separately. If undefined and a rate is given, there is no closed
   * loop.
   */
  readonly connections?: readonly number[] | undefined;
  /** Requests per second for open loops over the largest number of connections, each measured separately. */
  readonly rate?: readonly number[];
  /** A running walletd to measure alone, instead of servers started by the bench. */
  readonly target?: Target;
}

export interface LoadReport {
  readonly durability: string;
  readonly raced: readonly Raced[];
}

const CONNECTIONS = 128;

/**
 * Measures walletd's throughput and latency, and compares them with those of an echo server and of one that appends
 * each request to a log.
 */
export function runLoad(settings: LoadSettings): Promise<LoadReport> {
  return withCleanUp(async () => {
    const { target } = settings;
    const { durability, contestants } =
      target === undefined ? await ownServers(settings) : runningOne(target, settings);
    announce({ durability }, settings);
    const raced: Raced[] = [];
    for (const loads of inOneProcess(settings)) raced.push(...(await measure(contestants, loads, settings.rounds)));
    printRaced(raced);
    for (const sentence of populationSentences(raced)) console.log(sentence);
    return { durability, raced };
  });
}

/**
 * One closed loop per connection count, then one open loop per rate. If only rates are given, there is no closed loop.
 */
export function loadsOf({ connections, rate, seconds, players, mix, openBets, target }: LoadSettings): readonly Load[] {
  const load = { seconds, players: Math.min(...players), mix, openBets, signingSecret: target?.signingSecret };
  const closed = connections ?? (rate === undefined ? [CONNECTIONS] : []);
  const most = Math.max(...(connections ?? [CONNECTIONS]));
  return [
    ...closed.map((count) => ({ ...load, connections: count })),
    ...(rate ?? []).map((perSecond) => ({ ...load, connections: most, rate: perSecond })),
  ];
}

/** Loads that a server runs one after another. If players must be imported first, each load gets a fresh server. */
function inOneProcess(settings: LoadSettings): readonly (readonly Load[])[] {
  const loads = loadsOf(settings);
  return settings.openBets > 0 ? loads.map((load) => [load]) : [loads];
}

function walletds(store: Store, { workers, players, folder, memorySeconds }: LoadSettings): Contestant[] {
  const archives = new Archives(store, folder, memorySeconds);
  return workers.flatMap((count) =>
    players.map((population) => {
      const name =
        players.length === 1 ? `walletd ${describeWorkers(count)}` : `${describeWorkers(count)}, ${population} players`;
      const start = async (run: number) =>
        await walletd(store, count, { ...(await archives.settings()), name }).start(run);
      return { name, start, players: population };
    }),
  );
}

interface Contest {
  readonly durability: string;
  readonly contestants: readonly Contestant[];
}

async function ownServers(settings: LoadSettings): Promise<Contest> {
  const store = await startStore(settings);
  const contestants = [echo(), durableEcho(store), ...walletds(store, settings)];
  return { durability: store.durability, contestants };
}

/** A walletd that other callers use as well, measured with one number of players after another. */
function runningOne(target: Target, { players }: LoadSettings): Contest {
  console.log(`players of ${target.url} whose names begin with ${TARGET_PLAYERS} are created, and stay;`);
  console.log('other players are not touched');
  const contestants = players.map((population) => {
    return { ...onTarget(target), name: `target, ${population} players`, players: population };
  });
  return { durability: 'as the target is set', contestants };
}

/** Splits closed loops and open loops into separate chapters. */
export function chaptersOf({ durability, raced }: LoadReport): { load?: LoadReport; openLoad?: LoadReport } {
  const closed = raced.filter(({ load }) => load.rate === undefined);
  const open = raced.filter(({ load }) => load.rate !== undefined);
  return {
    ...(closed.length > 0 && { load: { durability, raced: closed } }),
    ...(open.length > 0 && { openLoad: { durability, raced: open } }),
  };
}
