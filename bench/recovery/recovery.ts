import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import { withCleanUp } from '../../test/support/clean-up.js';
import type { LoadReport } from '../load/load.js';
import { announce, type RaceSettings, race } from '../load/race.js';
import { median } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { walletd } from '../support/servers.js';
import { type Store, type StoreChoice, startStore } from '../support/store.js';
import { measureStart, NO_SNAPSHOTS, type Start } from './start.js';

export interface RecoverySettings extends RaceSettings, StoreChoice {
  /** Worker thread counts to measure; 0 runs the shards inline. */
  readonly workers: readonly number[];
}

/** Results for a history of one length. */
export interface History {
  /** Number of players, each with two open bets. */
  readonly players: number;
  readonly events: number;
  /** The time to read and decode the log in one thread, without any other work. */
  readonly decodeMs: number;
  readonly snapshotMs: number;
  readonly snapshotBytes: number;
  readonly fromLog: readonly Start[];
  readonly fromSnapshots: readonly Start[];
}

export interface RecoveryReport extends LoadReport {
  readonly histories: readonly History[];
}

const MEASURE = fileURLToPath(new URL('./measure.js', import.meta.url));
const HEAP_MIB = 8192;
/** Lengths of the histories, as fractions of the number of players. */
const LENGTHS = [0.25, 0.5, 1];
const STEPS = 5;
/**
 * Settings for a snapshot every second. At this load, one round writes many times the number of entries that trigger a
 * snapshot.
 */
const EVERY_SECOND = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '1' };

/** Measures startup with and without a snapshot, and callback latency while snapshots are taken. */
export function runRecovery(settings: RecoverySettings): Promise<RecoveryReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const histories: History[] = [];
    const progress = new RunProgress(LENGTHS.length * STEPS, Number.POSITIVE_INFINITY);
    try {
      for (const length of LENGTHS) {
        const players = Math.round(settings.players * length);
        histories.push(
          await measureHistory(store, players, settings, (step) => progress.next(`${players} players  ${step}`)),
        );
      }
    } finally {
      progress.stop();
    }
    console.log('\nto reach: 500000 events/s, 4 times the decoding; ready from snapshots in 4 s');
    console.log(`${formatTable(HISTORY_COLUMNS, historyRows(histories))}\n`);
    const contestants = [
      walletd(store, 0, { name: 'no snapshots', ...NO_SNAPSHOTS }),
      walletd(store, 0, { name: 'one each second', ...EVERY_SECOND }),
    ];
    return { durability: store.durability, histories, raced: await race(contestants, settings) };
  });
}

export const HISTORY_COLUMNS: readonly Column[] = [
  { right: 'events' },
  { right: 'workers' },
  { right: 'decode s' },
  { right: 'replay s' },
  { right: 'events/s' },
  { right: 'times' },
  { right: 'snapshot s' },
  { right: 'B/player' },
  { right: 'ready s' },
];

/** Table rows, one for each history and number of workers. */
export function historyRows(histories: readonly History[]): string[][] {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return histories.flatMap(({ players, events, decodeMs, snapshotMs, snapshotBytes, fromLog, fromSnapshots }) =>
    fromLog.map(({ workers, recoveryMs }, i) => [
      String(events),
      String(workers),
      seconds(decodeMs),
      seconds(recoveryMs),
      String(Math.round((events / recoveryMs) * 1000)),
      (recoveryMs / decodeMs).toFixed(1),
      seconds(snapshotMs),
      String(Math.round(snapshotBytes / players)),
      seconds((fromSnapshots[i] as Start).readyMs),
    ]),
  );
}

/** Measures one history in `STEPS` steps, and calls `onStep` with each step's result. */
async function measureHistory(
  store: Store,
  players: number,
  settings: RecoverySettings,
  onStep: (done: string) => void,
): Promise<History> {
  const env = store.settingsOf(`recovery-${players}`);
  const step = (name: string) => measure(name, players, env);
  const { events } = step('write');
  onStep(`${events} events written`);
  const decode = Array.from({ length: settings.rounds }, () => step('decode').ms);
  onStep('decoded');
  const fromLog = await measureStarts(env, settings);
  onStep('started from the log');
  const snapshot = step('snapshot');
  onStep('snapshots taken');
  const fromSnapshots = await measureStarts(env, settings);
  onStep('started from snapshots');
  return {
    players,
    events,
    decodeMs: median(decode),
    snapshotMs: snapshot.ms,
    snapshotBytes: snapshot.bytes,
    fromLog,
    fromSnapshots,
  };
}

/** Median of alternating starts, for each number of workers. */
async function measureStarts(env: Readonly<Record<string, string>>, { workers, rounds }: RecoverySettings) {
  const starts: Start[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const count of workers) starts.push(await measureStart(env, count));
  }
  return workers.map((count) => {
    const own = starts.filter((start) => start.workers === count);
    const recoveryMs = median(own.map((start) => start.recoveryMs));
    return { workers: count, recoveryMs, readyMs: median(own.map((start) => start.readyMs)) };
  });
}

interface Measured {
  readonly ms: number;
  readonly events: number;
  readonly bytes: number;
}

function measure(step: string, players: number, env: Readonly<Record<string, string>>): Measured {
  const args = [`--max-old-space-size=${HEAP_MIB}`, MEASURE, step, String(players)];
  const options = { env: { ...process.env, ...env }, encoding: 'utf8' as const };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw new Error(`step ${step} failed: ${stderr}`);
  return JSON.parse(stdout) as Measured;
}
