import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/message-of.js';
import { ConfigError } from '../../config/config-error.js';

/**
 * Prevents two nodes of a cluster from using the same folder, because each would overwrite the other's record of
 * acknowledged entries. A node without a cluster needs no lock, because a process that takes over the store also takes
 * over the folder.
 */
export class FolderLock {
  private constructor(private readonly path: string) {}

  /** Takes the lock. Throws a `ConfigError` if a different process that is still running on this machine holds it. */
  static take(folder: string): FolderLock {
    const path = join(folder, 'node.pid');
    try {
      mkdirSync(folder, { recursive: true });
      for (;;) {
        try {
          writeFileSync(path, String(process.pid), { flag: 'wx' });
          return new FolderLock(path);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        }
        const pid = readPid(path);
        if (pid !== undefined && pid !== process.pid && isRunning(pid)) {
          throw new ConfigError(
            `nodeFolder ${folder} is used by process ${pid}: each node of a cluster needs its own folder`,
          );
        }
        rmSync(path, { force: true });
      }
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(`cannot use nodeFolder ${folder}: ${messageOf(error)}`);
    }
  }

  release(): void {
    if (readPid(this.path) === process.pid) rmSync(this.path, { force: true });
  }
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
