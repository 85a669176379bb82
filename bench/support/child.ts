import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { atEnd } from './clean-up.js';

const START_MS = 20_000;
/** Longer than walletd takes for its end. */
const END_MS = 8000;

/** Starts a process that runs until the bench ends, and resolves to the first line that says it is ready. */
export async function startChild(
  command: string,
  args: readonly string[],
  isReady: (line: string) => boolean,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => end(child));
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  return Promise.race([failed, firstLine(child, isReady)]);
}

async function firstLine(child: ChildProcess, wanted: (line: string) => boolean): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  try {
    for await (const line of lines) if (wanted(line)) return line;
  } finally {
    clearTimeout(timer);
    // What is printed later must be read, or the child stops when the pipe is full.
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
