import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { atEnd } from '../../test/support/clean-up.js';
import { ROOT } from '../../test/support/root.js';

/** Times measured during one walletd start. */
export interface Start {
  readonly workers: number;
  /** The time from fencing the shards to the recovery of the last shard. */
  readonly recoveryMs: number;
  /** The time from the command until walletd can accept the first callback. */
  readonly readyMs: number;
}

const START_MS = 120_000;
export const NO_SNAPSHOTS = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '0', WALLETD_SNAPSHOTS_EVERY_ENTRIES: '0' };
/** Settings without snapshots, because the next start would begin with one. */
const ALONE = { WALLETD_PORT: '0', WALLETD_ADMIN_PORT: '0', ...NO_SNAPSHOTS };

/** Starts walletd as a user does, on a store with a history, and kills it once it is ready. */
export async function measureStart(store: Readonly<Record<string, string>>, workers: number): Promise<Start> {
  const env = { ...process.env, ...store, ...ALONE, WALLETD_WORKERS: String(workers) };
  const startedMs = performance.now();
  const child = spawn('sh', [`${ROOT}src/cli/walletd.sh`, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  let recoveryMs = 0;
  let readyMs: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, ...fields } = JSON.parse(line) as { msg: string; tookMs: number };
    if (msg === 'shard recovered') {
      recoveryMs = Math.max(recoveryMs, fields.tookMs);
    } else if (msg === 'walletd is ready') {
      readyMs = performance.now() - startedMs;
      child.kill('SIGKILL');
    }
  }
  clearTimeout(timer);
  await exited;
  if (readyMs === undefined) throw new Error('walletd ended before it was ready');
  return { workers, recoveryMs, readyMs };
}
