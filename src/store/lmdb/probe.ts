import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DATA_FILE } from './environment.js';

const PROGRAM = fileURLToPath(new URL('./probe-program.js', import.meta.url));
export const LOCK_MS = 10_000;
const CRASHES: readonly unknown[] = ['SIGBUS', 'SIGSEGV', 'SIGABRT'];

/** Exit code of a probe that finds a file shorter than its last page. */
export const CUT_OFF = 3;

/**
 * Resolves if a child process can open the store in this folder safely; otherwise rejects with the cause.
 *
 * A process that is frozen in a commit, or whose disk hangs, keeps the store's lock. lmdb waits for the lock in the
 * thread that opens a store, silently and without reacting to signals. If a page is missing behind LMDB's memory map, a
 * signal kills the process.
 */
export async function probe(folder: string): Promise<void> {
  if (!existsSync(join(folder, DATA_FILE))) return;
  const child = spawn(process.execPath, [PROGRAM, folder], {
    stdio: 'ignore',
    timeout: LOCK_MS,
    killSignal: 'SIGKILL',
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  // A probe that cannot start or that fails in a different way proves nothing. If there is a fault, opening the store
  // reports it.
  const [code, signal] = await once(child, 'exit').catch(() => [0, null]);
  process.off('exit', end);
  if (child.killed) {
    throw new Error(
      `another process has held its lock for ${LOCK_MS / 1000} s: the process is frozen, or its disk hangs; ` +
        'find the process, and end it with kill -9',
    );
  }
  if (code === CUT_OFF || CRASHES.includes(signal)) {
    throw new Error(`its ${DATA_FILE} is cut off, damaged, or a different file: bring it back, or restore a backup`);
  }
}
