import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import { EXIT } from '../settings/exit-codes.js';
import { readNodeFile } from './read-node-file.js';

/**
 * How a process ended. `none`: there was no earlier process. `stopped`: clean stop. `fenced`: another process took over
 * its store. `failed`: an error is in its log. `crashed`: it left no note, as after kill -9, a power cut or an
 * out-of-memory kill. `running`: it is still running and is being replaced.
 */
export const ENDS = ['none', 'stopped', 'fenced', 'failed', 'crashed', 'running'] as const;
export type End = (typeof ENDS)[number];

interface Stored {
  /** Random ID of this run. */
  readonly run: string;
  readonly pid: number;
  /** How the run ended; undefined while the process is running. */
  readonly end: End | undefined;
}

/**
 * Records in the node's folder how this process ends. The next process exports this as a metric, because a fenced
 * process no longer answers scrapes.
 */
export class LastRun {
  private readonly run = randomBytes(8).toString('hex');

  private constructor(
    private readonly path: string,
    /** How the previous process ended. */
    readonly end: End,
    private readonly log: Logger,
  ) {}

  /**
   * Reads how the previous process ended. `store` distinguishes stores that share a folder. Throws an
   * `UnknownFormatError` if a newer walletd wrote the note.
   */
  static read(folder: string, store: string, log: Logger): LastRun {
    const path = join(folder, `run-${crc32(store).toString(16).padStart(8, '0')}.json`);
    const last = new LastRun(path, endOf(readNodeFile<Stored>(path)), log);
    if (last.end === 'crashed') log.warn({ code: 'previous-run-killed' }, 'previous process was killed');
    return last;
  }

  /**
   * Notes that a run has begun. Call this once the process owns the store; a process that never gets the store does not
   * count as a run.
   */
  begin(): void {
    this.write(undefined);
  }

  /**
   * Notes how this process ends. Call this last. If a different process has written its own note in the meantime, that
   * note stays.
   */
  ended(exitCode: number): void {
    if (readNodeFile<Stored>(this.path)?.run === this.run) this.write(reasonOf(exitCode));
  }

  private write(end: End | undefined): void {
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      writeFileSync(this.path, JSON.stringify({ run: this.run, pid: process.pid, end } satisfies Stored));
    } catch (error) {
      this.log.warn(
        { code: 'run-not-recorded', path: this.path, error: messageOf(error) },
        'cannot record the run of this process',
      );
    }
  }
}

function reasonOf(exitCode: number): End {
  if (exitCode === EXIT.ok) return 'stopped';
  return exitCode === EXIT.fenced ? 'fenced' : 'failed';
}

function endOf(stored: Stored | undefined): End {
  if (stored === undefined) return 'none';
  if (stored.end !== undefined) return ENDS.includes(stored.end) ? stored.end : 'failed';
  return stored.pid !== process.pid && isAlive(stored.pid) ? 'running' : 'crashed';
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
