import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DATA_FILE } from './environment.js';

const PROBE = fileURLToPath(new URL('./lock-probe.js', import.meta.url));
const LOCK_MS = 10_000;

/**
 * Resolves when another process has had the lock of the store in this folder; rejects when it had to wait for ten
 * seconds. Who is frozen in a commit, or whose disk hangs, keeps that lock, and lmdb asks for it in the thread that opens
 * a store: it would wait there without a word, deaf to signals too.
 */
export async function awaitLock(folder: string): Promise<void> {
  if (!existsSync(join(folder, DATA_FILE))) return;
  const probe = spawn(process.execPath, [PROBE, folder], { stdio: 'ignore', timeout: LOCK_MS, killSignal: 'SIGKILL' });
  const end = () => probe.kill('SIGKILL');
  process.once('exit', end);
  // A probe that cannot be started or fails says nothing about the lock; whoever opens the store will say what is wrong.
  await once(probe, 'exit').catch(() => {});
  process.off('exit', end);
  if (!probe.killed) return;
  throw new Error(
    `another process has kept its lock for ${LOCK_MS / 1000} s: it is frozen, or its disk hangs; ` +
      'look for it, and end it with kill -9',
  );
}
