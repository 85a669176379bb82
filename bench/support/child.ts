import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { atEnd } from '../../test/support/clean-up.js';
import type { FullCollection } from './gc-watch.js';
import { ServingProcess } from './vitals.js';

/** Time limit for a process to become ready. The limit is generous, because a busy machine is slow. */
const START_MS = 60_000;
/** Time limit for a process to exit; longer than walletd takes. */
const END_MS = 8000;
const GC_WATCH = new URL('./gc-watch.js', import.meta.url);

export interface Child {
  /** The output line that reports that the process is ready. */
  readonly line: string;
  readonly process: ServingProcess;
}

/** Starts a process that runs until the bench ends. Resolves when the process is ready. */
export async function startChild(
  command: string,
  args: readonly string[],
  isReady: (line: string) => boolean,
  env: Readonly<Record<string, string>> = {},
): Promise<Child> {
  // Only Node reads NODE_OPTIONS; other programs ignore the variable. The module is passed as a URL, because a path may
  // contain blanks.
  const NODE_OPTIONS = [process.env.NODE_OPTIONS, `--import=${GC_WATCH.href}`].join(' ').trim();
  // walletd refuses variables that are not settings.
  const { WALLETD_TEST_REDIS: _, ...inherited } = process.env;
  const child = spawn(command, args, {
    env: { ...inherited, NODE_OPTIONS, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  atEnd(() => end(child));
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const serving = new ServingProcess(child.pid ?? 0);
  const lines = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream });
  lines.on('line', (line) => serving.collected(JSON.parse(line) as FullCollection));
  return { line: await Promise.race([failed, firstLine(child, isReady)]), process: serving };
}

async function firstLine(child: ChildProcess, wanted: (line: string) => boolean): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  try {
    for await (const line of lines) if (wanted(line)) return line;
  } finally {
    clearTimeout(timer);
    // Discard all further output. Otherwise the child would stall once the pipe is full.
    child.stdout?.resume();
  }
  throw new Error(`${child.spawnfile} ended before it was ready`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(timer);
}
