import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Column, formatTable } from '../../src/cli/table.js';
import type { LoadReport } from '../load/load.js';
import { announce, type RaceSettings, race } from '../load/race.js';
import { withCleanUp } from '../support/clean-up.js';
import { startWalletd } from '../support/servers.js';
import { type Store, type StoreChoice, startStore } from '../support/store.js';

export interface RecoverySettings extends RaceSettings, StoreChoice {}

/** What starts with one length of history took. */
export interface Starts {
  /** With two open bets each. */
  readonly players: number;
  readonly events: number;
  /** To read and decode the log, and nothing else. */
  readonly decodeMs: number;
  readonly replayMs: number;
  readonly snapshotMs: number;
  readonly snapshotBytes: number;
  readonly fromSnapshotMs: number;
}

export interface RecoveryReport extends LoadReport {
  readonly starts: readonly Starts[];
}

const MEASURE = fileURLToPath(new URL('./measure.js', import.meta.url));
const HEAP_MIB = 8192;
/** Shares of the players that histories are written for. */
const LENGTHS = [0.25, 0.5, 1];
/** Entries of a load like this fill a snapshot's interval many times over in one round. */
const EVERY_SECOND = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '1' };
const NEVER = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '0', WALLETD_SNAPSHOTS_EVERY_ENTRIES: '0' };

/** How long a start takes with and without a snapshot, and what callbacks feel while snapshots are taken. */
export function runRecovery(settings: RecoverySettings): Promise<RecoveryReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const starts = LENGTHS.map((length) => {
      console.log(`a history of ${Math.round(settings.players * length)} players ...`);
      return measureStarts(store, Math.round(settings.players * length));
    });
    console.log('\nto reach: 500000 events/s, 4 times the decoding; ready from snapshots in 4 s');
    console.log(`${formatTable(START_COLUMNS, starts.map(startRow))}\n`);
    const servers = [
      await startWalletd(store, 0, { name: 'no snapshots', ...NEVER }),
      await startWalletd(store, 0, { name: 'one each second', ...EVERY_SECOND }),
    ];
    return { durability: store.durability, starts, raced: await race(servers, settings) };
  });
}

export const START_COLUMNS: readonly Column[] = [
  { right: 'events' },
  { right: 'decode s' },
  { right: 'replay s' },
  { right: 'events/s' },
  { right: 'times' },
  { right: 'snapshot s' },
  { right: 'B/player' },
  { right: 'ready s' },
];

export function startRow(starts: Starts): string[] {
  const { players, events, decodeMs, replayMs, snapshotMs, snapshotBytes, fromSnapshotMs } = starts;
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return [
    String(events),
    seconds(decodeMs),
    seconds(replayMs),
    String(Math.round((events / replayMs) * 1000)),
    (replayMs / decodeMs).toFixed(1),
    seconds(snapshotMs),
    String(Math.round(snapshotBytes / players)),
    seconds(fromSnapshotMs),
  ];
}

function measureStarts(store: Store, players: number): Starts {
  const env = store.settingsOf(`recovery-${players}`);
  const step = (name: string) => measure(name, players, env);
  step('write');
  const decode = step('decode');
  const replay = step('recover');
  const snapshot = step('snapshot');
  const start = step('recover');
  return {
    players,
    events: replay.events,
    decodeMs: decode.ms,
    replayMs: replay.ms,
    snapshotMs: snapshot.ms,
    snapshotBytes: snapshot.bytes,
    fromSnapshotMs: start.ms,
  };
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
