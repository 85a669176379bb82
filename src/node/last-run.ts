import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { EXIT } from './exit-codes.js';

/**
 * How a process ended: `none` was before this one; `stopped` in good order; `fenced` by another one that took its store over;
 * `failed` with an error in its log; `crashed` without a word, as after kill -9, a power cut or too little memory;
 * `running` does not say, because it still runs and is being replaced.
 */
export const ENDS = ['none', 'stopped', 'fenced', 'failed', 'crashed', 'running'] as const;
export type End = (typeof ENDS)[number];

interface Stored {
  /** This run and no other. */
  readonly run: string;
  readonly pid: number;
  /** Undefined while it runs. */
  readonly end: End | undefined;
}

/**
 * Keeps in the node's folder how this process ends, for the metrics of the next one: a process that is fenced answers no
 * scrape any more.
 */
export class LastRun {
  private readonly run = randomBytes(8).toString('hex');

  private constructor(
    private readonly path: string,
    /** How the process before this one ended. */
    readonly end: End,
    private readonly log: Logger,
  ) {}

  /** Reads how the last process ended. `store` tells it from others in the same folder. */
  static read(folder: string, store: string, log: Logger): LastRun {
    const path = join(folder, `run-${crc32(store).toString(16).padStart(8, '0')}.json`);
    const last = new LastRun(path, endOf(maybeRead(path)), log);
    if (last.end === 'crashed') log.warn({}, 'the process before this one was killed, or its machine: it noted no end');
    return last;
  }

  /** To be called when this process has the store: one that never got it is no run. */
  begin(): void {
    this.write(undefined);
  }

  /** To be called at the very end. A process that has been replaced leaves the note of its successor. */
  ended(exitCode: number): void {
    if (maybeRead(this.path)?.run === this.run) this.write(reasonOf(exitCode));
  }

  private write(end: End | undefined): void {
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      writeFileSync(this.path, JSON.stringify({ run: this.run, pid: process.pid, end } satisfies Stored));
    } catch (error) {
      this.log.warn({ path: this.path, error: messageOf(error) }, 'cannot note how this process ends');
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

/** A note that cannot be read says nothing: it decides nothing. */
function maybeRead(path: string): Stored | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Stored;
  } catch {
    return undefined;
  }
}
