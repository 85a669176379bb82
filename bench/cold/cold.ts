import { setTimeout as delay } from 'node:timers/promises';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import { withCleanUp } from '../../test/support/clean-up.js';
import { announce, type RaceSettings } from '../load/race.js';
import type { LoadOptions } from '../load/run.js';
import { usernameOf } from '../load/stories.js';
import { median } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { describeWorkers, durableEcho, echo, importPlayers, type Server, startWalletd } from '../support/servers.js';
import { type Store, type StoreChoice, startStore } from '../support/store.js';
import type { ServingProcess } from '../support/vitals.js';
import { type FirstSeconds, WarmGenerator } from './first-seconds.js';

export interface ColdSettings extends RaceSettings, StoreChoice {
  readonly workers: readonly number[];
}

/** One start of one server. */
export interface ColdStart extends FirstSeconds {
  /** The time from the command until the server is ready. */
  readonly readyMs: number;
}

/** The starts of one server, one per round. */
export interface ColdStarts {
  readonly name: string;
  readonly starts: readonly ColdStart[];
}

export interface ColdReport {
  readonly durability: string;
  readonly rate: number;
  readonly servers: readonly ColdStarts[];
}

const OPENING_BALANCE = 1_000_000;
const SEED = 'cold';
/** A load on an echo server, during which V8 compiles the generator. */
const GENERATOR_WARM_UP_SECONDS = 4;
const POLL_MS = 20;
const NO_REHEARSAL = { WALLETD_REHEARSAL_MAX_MS: '0' };

interface Contestant {
  readonly name: string;
  readonly keepsPlayers: boolean;
  /** Prepares a store with players, and returns the start of a fresh process on it. */
  prepare(run: string): Promise<() => Promise<Server>>;
}

/**
 * Measures the first seconds of fresh processes, in alternation: walletd as it is set by default, walletd without a
 * rehearsal, and an echo server that appends each request to a log. The load begins as soon as the server is ready.
 */
export function runCold(settings: ColdSettings): Promise<ColdReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const contestants: Contestant[] = [
      ...settings.workers.flatMap((workers) => [
        restarted(store, workers, settings.players, describeWorkers(workers), {}),
        restarted(store, workers, settings.players, `${describeWorkers(workers)}, no rehearsal`, NO_REHEARSAL),
      ]),
      {
        name: 'durable echo',
        keepsPlayers: false,
        prepare: async (run) => () => durableEcho(store).start(Number(run)),
      },
    ];
    const rehearsal = (await echo().start(0)).url;
    const progress = new RunProgress(contestants.length * settings.rounds, Number.POSITIVE_INFINITY);
    const starts = contestants.map((): ColdStart[] => []);
    try {
      for (let round = 1; round <= settings.rounds; round++) {
        // Alternate the order, because each run affects the disk and the caches that the next one uses.
        const order = [...contestants.keys()];
        for (const i of round % 2 === 1 ? order : order.reverse()) {
          const contestant = contestants[i] as Contestant;
          const start = await measure(contestant, `${round}`, rehearsal, settings);
          starts[i]?.push(start);
          progress.next(`round ${round}  ${contestant.name.padEnd(24)}  ${coldLine(start)}`);
        }
      }
    } finally {
      progress.stop();
    }
    const servers = contestants.map(({ name }, i) => ({ name, starts: starts[i] ?? [] }));
    const report = { durability: store.durability, rate: settings.rate as number, servers };
    console.log(`\n${formatTable(COLD_COLUMNS, coldRows(report))}\n`);
    return report;
  });
}

export const COLD_COLUMNS: readonly Column[] = [
  '',
  { right: 'ready ms' },
  { right: 'first second p50' },
  { right: 'p99' },
  { right: 'warm p99' },
  { right: 'times' },
  { right: 'longest in 10 s' },
  { right: 'warm' },
];

/** Medians of the starts, one row per server. */
export function coldRows({ servers }: ColdReport): string[][] {
  return servers.map(({ name, starts }) => {
    const of = (pick: (start: ColdStart) => number) => median(starts.map(pick));
    return [
      name,
      of(({ readyMs }) => readyMs).toFixed(0),
      of(({ firstP50Ms }) => firstP50Ms).toFixed(2),
      of(({ firstP99Ms }) => firstP99Ms).toFixed(2),
      of(({ warmP99Ms }) => warmP99Ms).toFixed(2),
      of(({ firstP99Ms, warmP99Ms }) => firstP99Ms / warmP99Ms).toFixed(1),
      of(({ longestMs }) => longestMs).toFixed(1),
      of(({ warmLongestMs }) => warmLongestMs).toFixed(1),
    ];
  });
}

function coldLine({ readyMs, firstP99Ms, warmP99Ms, longestMs }: ColdStart): string {
  return `ready ${readyMs.toFixed(0)} ms, p99 ${firstP99Ms.toFixed(2)}, warm ${warmP99Ms.toFixed(2)}, longest ${longestMs.toFixed(0)}`;
}

/** walletd, started on the store of a process that has created the players and stopped. */
function restarted(
  store: Store,
  workers: number,
  players: number,
  name: string,
  changes: Readonly<Record<string, string>>,
): Contestant {
  return {
    name,
    keepsPlayers: true,
    prepare: async (run) => {
      const start = () => startWalletd(store, workers, { ...changes, name: `cold ${name} ${run}` });
      const first = await start();
      const usernames = Array.from({ length: players }, (_, player) => usernameOf(SEED, player));
      await importPlayers(first.adminUrl as string, usernames, OPENING_BALANCE);
      process.kill(first.process.pid, 'SIGTERM');
      while (isRunning(first.process.pid)) await delay(POLL_MS);
      return start;
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function measure(
  { keepsPlayers, prepare }: Contestant,
  run: string,
  rehearsalUrl: string,
  settings: ColdSettings,
): Promise<ColdStart> {
  const start = await prepare(run);
  const { seconds, players, rate, mix } = settings;
  const connections = settings.connections as number;
  const options: LoadOptions = {
    url: rehearsalUrl,
    booksUrl: undefined,
    booksToken: undefined,
    mix,
    connections,
    seconds: GENERATOR_WARM_UP_SECONDS,
    rate,
    isOverload: false,
    reopens: false,
    areFew: false,
    players,
    openBets: 0,
    pieceSeconds: undefined,
    seed: SEED,
    openingBalance: undefined,
    signingSecret: undefined,
  };
  const generator = await WarmGenerator.start(options);
  const startedMs = performance.now();
  const server = await start();
  const readyMs = performance.now() - startedMs;
  const booksUrl = keepsPlayers ? server.booksUrl : undefined;
  const openingBalance = keepsPlayers ? OPENING_BALANCE : undefined;
  const first = await generator.play({ ...options, url: server.url, seconds, booksUrl, openingBalance });
  process.kill((server.process as ServingProcess).pid, 'SIGTERM');
  return { ...first, readyMs };
}
