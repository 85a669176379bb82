import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { announce, type RaceSettings, race } from '../load/race.js';
import { withCleanUp } from '../support/clean-up.js';
import { fsyncMs, machine } from '../support/machine.js';
import { startWalletd } from '../support/servers.js';
import { type Store, type StoreKind, startStore } from '../support/store.js';

export interface RecoverySettings extends RaceSettings {
  readonly store: StoreKind;
}

const MEASURE = fileURLToPath(new URL('./measure.js', import.meta.url));
const HEAP_MIB = 8192;
/** Entries of a load like this fill a snapshot's interval many times over in one round. */
const EVERY_SECOND = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '1' };
const NEVER = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '0', WALLETD_SNAPSHOTS_EVERY_ENTRIES: '0' };

interface Measured {
  readonly ms: number;
  readonly events: number;
  readonly bytes: number;
  readonly players: number;
}

/** How long a start takes with and without a snapshot, and what callbacks feel while snapshots are taken. */
export function runRecovery(settings: RecoverySettings): Promise<void> {
  return withCleanUp(async () => {
    const store = await startStore(settings.store, settings.folder);
    console.log(machine());
    console.log(`durability: ${store.durability} (one fdatasync here: ${fsyncMs(settings.folder)} ms)\n`);
    measureStarts(store, settings.players);
    const servers = [
      await startWalletd(store, 0, { name: 'without snapshots', ...NEVER }),
      await startWalletd(store, 0, { name: 'a snapshot each second', ...EVERY_SECOND }),
    ];
    announce(store, settings);
    await race(servers, settings);
  });
}

function measureStarts(store: Store, players: number): void {
  const env = store.settingsOf('recovery');
  const step = (name: string) => measure(name, players, env);
  console.log(`${players} players with two open bets each`);
  step('write');
  const decode = step('decode');
  const replay = step('recover');
  const snapshot = step('snapshot');
  const start = step('recover');
  const table = new Table({
    head: ['', 'seconds', 'events/s', 'to reach'],
    colAligns: ['left', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  const rate = ({ events, ms }: Measured) => Math.round((events / ms) * 1000);
  const times = (replay.ms / decode.ms).toFixed(1);
  table.push(
    ['the log, read and decoded, and nothing else', seconds(decode.ms), rate(decode), ''],
    [`the log, replayed: ${times} times that`, seconds(replay.ms), rate(replay), '500000, 4 times'],
    [`snapshots of all, ${Math.round(snapshot.bytes / snapshot.players)} bytes a player`, seconds(snapshot.ms), '', ''],
    ['ready from the snapshots', seconds(start.ms), '', '4.00'],
  );
  console.log(`${table.toString()}\n`);
}

function measure(step: string, players: number, env: Readonly<Record<string, string>>): Measured {
  const args = [`--max-old-space-size=${HEAP_MIB}`, MEASURE, step, String(players)];
  const options = { env: { ...process.env, ...env }, encoding: 'utf8' as const };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw new Error(`step ${step} failed: ${stderr}`);
  return JSON.parse(stdout) as Measured;
}
