import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from '../../support/run-command.js';
import { Scrape } from '../../support/scrape.js';
import { OneProcess } from './one-process.js';
import type { Deployment, Setting } from './setting.js';

/** Settings with which closed rounds leave memory after 20 ms, when their player is examined next. */
const ARCHIVED = { WALLETD_RETENTION_MEMORY_SECONDS: '0.02', WALLETD_SHARDS: '7' };
const PAUSE_MS = 60;
const SENDERS = 96;
/**
 * Number of concurrent histories with an archive. The number is lower, because rounds leave memory only while the
 * thread has spare time, and the pauses in the histories provide that time.
 */
const ARCHIVE_SENDERS = 48;
const KILL_EVERY_MS = 1000;
const RESTORE_EVERY_MS = 4000;

type Env = Readonly<Record<string, string>>;

function lmdb(name: string, env: Env, pauseMs: number, disturb?: (process: OneProcess) => Promise<void>): Setting {
  return {
    name,
    senders: pauseMs > 0 ? ARCHIVE_SENDERS : SENDERS,
    pauseMs,
    start: async () => {
      const process = new OneProcess(env);
      try {
        await process.startOn(process.lmdb('data-0'));
      } catch (error) {
        await process.close();
        throw error;
      }
      return deploymentOf(process, pauseMs > 0, disturb);
    },
  };
}

function deploymentOf(
  process: OneProcess,
  isArchived: boolean,
  disturb: ((process: OneProcess) => Promise<void>) | undefined,
): Deployment {
  let disturbances = 0;
  return {
    wire: process.wire,
    get disturbances() {
      return disturbances;
    },
    ...(disturb !== undefined && {
      disturb: async (goesOn) => {
        for (; goesOn(); disturbances++) await disturb(process);
      },
    }),
    ...(isArchived && { archived: () => namesInArchive(process) }),
    errors: () => process.errors(),
    close: () => process.close(),
  };
}

async function namesInArchive({ wire }: OneProcess): Promise<number> {
  return (await Scrape.of(wire.adminUrl)).value('walletd_archive_names');
}

/**
 * Kills the server with SIGKILL and restarts it on the same store. Pending requests have an unknown outcome and are
 * sent again.
 */
async function killAndRestart(process: OneProcess): Promise<void> {
  await delay(KILL_EVERY_MS);
  await process.wire.whileHeld(async () => {
    await process.end('SIGKILL');
    await process.startOn(process.lmdb('data-0'));
  });
}

/** A disturbance after which the server continues with a store restored from a backup of its previous store. */
function restoring(): (process: OneProcess) => Promise<void> {
  let store = 0;
  return async (process) => {
    await delay(RESTORE_EVERY_MS);
    await process.wire.whileHeld(async () => {
      await process.end('SIGTERM');
      const [from, to] = [process.lmdb(`data-${store}`), process.lmdb(`data-${++store}`)];
      const file = process.path(`${store}.backup`);
      await mustRun(['backup', '--from', from, '--to', file]);
      await mustRun(['restore', '--from', file, '--to', to]);
      await process.startOn(to);
    });
  };
}

async function mustRun(args: readonly string[]): Promise<void> {
  const { status, stderr } = await runCommand(args);
  if (status !== 0) throw new Error(`walletd ${args.join(' ')} ended with ${status}: ${stderr}`);
}

export const LMDB_SETTINGS: readonly Setting[] = [
  lmdb('lmdb-inline', {}, 0),
  lmdb('lmdb-workers', { WALLETD_WORKERS: '2' }, 0),
  lmdb('lmdb-archive', ARCHIVED, PAUSE_MS),
  lmdb('lmdb-killed', ARCHIVED, PAUSE_MS, killAndRestart),
  { ...lmdb('lmdb-restored', ARCHIVED, PAUSE_MS), start: () => lmdb('', ARCHIVED, PAUSE_MS, restoring()).start() },
];
