import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { quoted } from '../base/quoted.js';

const RETRY_MS = 60_000;

export interface FinishedOptions {
  /** Shell command in which `{}` is replaced with the path. */
  readonly command: string | undefined;
  readonly keep: number | undefined;
}

/**
 * Passes finished files to a command, one at a time, and retries every minute while the command fails. Afterwards it
 * removes the oldest files. A file is never removed before it was handed over.
 */
export class FinishedBackups {
  /** Number of times that the command has failed. */
  failures = 0;
  private readonly waiting: string[] = [];
  /** Files that were handed over and are being kept, oldest first. */
  private readonly handed: string[] = [];
  private working: Promise<void> | undefined = undefined;
  private retry: NodeJS.Timeout | undefined = undefined;

  constructor(
    private readonly options: FinishedOptions,
    private readonly warn: (sentence: string) => void,
  ) {}

  add(path: string): void {
    this.waiting.push(path);
    this.work();
  }

  /** Tries one last time to hand over the remaining files. Resolves to the files that still remain. */
  async end(): Promise<readonly string[]> {
    clearTimeout(this.retry);
    await this.working;
    this.work();
    await this.working;
    clearTimeout(this.retry);
    return this.waiting;
  }

  private work(): void {
    if (this.working !== undefined || this.waiting.length === 0) return;
    clearTimeout(this.retry);
    this.working = this.handOver().finally(() => {
      this.working = undefined;
    });
  }

  private async handOver(): Promise<void> {
    const { options, waiting } = this;
    for (let path = waiting[0]; path !== undefined; path = waiting[0]) {
      const why = options.command === undefined ? undefined : await failureOf(options.command, path);
      if (why !== undefined) {
        this.failures++;
        this.warn(`--then failed for ${path}: ${why}; walletd retries in a minute and keeps the file`);
        this.retry = setTimeout(() => this.work(), RETRY_MS).unref();
        return;
      }
      waiting.shift();
      await this.remove(path);
    }
  }

  private async remove(path: string): Promise<void> {
    const { handed, options, warn } = this;
    handed.push(path);
    if (options.keep === undefined) return;
    for (const old of handed.splice(0, Math.max(0, handed.length - options.keep))) {
      await rm(old, { force: true }).catch((error: Error) => warn(`an old backup cannot be removed: ${error.message}`));
    }
  }
}

/**
 * Runs the command. Resolves to the reason for its failure, or to undefined if it succeeds. The command's output goes
 * to standard error.
 */
async function failureOf(command: string, path: string): Promise<string | undefined> {
  // Replace through a function, because $$, $& and $' have a special meaning in a replacement string.
  const line = command.replaceAll('{}', () => quoted(path));
  const child = spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 2, 2] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return code === 0 ? undefined : `exit ${code ?? signal}`;
}
