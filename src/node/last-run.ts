import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { EXIT } from './exit-codes.js';

/**
 * End of a process. `none`: there was no earlier process; `stopped`: clean stop; `fenced`: another process took its
 * store over; `failed`: an error is in its log; `crashed`: no message, as after kill -9, a power cut or lack of memory;
 * `running`: still running and being replaced.
 */
export const ENDS = ['none', 'stopped', 'fenced', 'failed', 'crashed', 'running'] as const;
export type End = (typeof ENDS)[number];

interface Stored {
  /** Random id of this run. */
  readonly run: string;
  readonly pid: number;
  /** Undefined while the process runs. */
  readonly end: End | undefined;
}

/**
 * Records in the node's folder how this process ends, for the metrics of the next one: a fenced process answers no more
 * scrapes.
 */
export class LastRun {
  private readonly run = randomBytes(8).toString('hex');

  private constructor(
    private readonly path: string,
    /** End of the previous process. */
    readonly end: End,
    private readonly log: Logger,
  ) {}

  /** Reads how the previous process ended. `store` distinguishes several stores in the same folder. */
  static read(folder: string, store: string, log: Logger): LastRun {
    const path = join(folder, `run-${crc32(store).toString(16).padStart(8, '0')}.json`);
    const last = new LastRun(path, endOf(maybeRead(path)), log);
    if (last.end === 'crashed') log.warn({ code: 'previous-run-killed' }, 'previous process was killed');
    return last;
  }

  /** Call this once the process has the store: a process that never gets the store is no run. */
  begin(): void {
    this.write(undefined);
  }

  /** Call this at the very end. A process that has been replaced leaves its successor's note alone. */
  ended(exitCode: number): void {
    if (maybeRead(this.path)?.run === this.run) this.write(reasonOf(exitCode));
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

/** An unreadable note is ignored: no decision depends on the note. */
function maybeRead(path: string): Stored | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Stored;
  } catch {
    return undefined;
  }
}
