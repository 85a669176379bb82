import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endAfterTests } from '../support/children.js';
import { environment, UNLAUNCHED } from '../support/walletd-process.js';

/** A `walletd feed` process, with its output so far. */
export interface FeedProcess {
  readonly child: ChildProcess;
  readonly output: { out: string; log: string };
}

/** Starts `walletd feed`. With `onLine`, the lines of stdout are passed to it instead of being kept. */
export function startFeed(
  args: readonly string[],
  env: Record<string, string> = {},
  onLine?: (line: string) => void,
): FeedProcess {
  const [command = '', ...first] = UNLAUNCHED;
  const child = endAfterTests(
    spawn(command, [...first, 'feed', ...args], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  const output = { out: '', log: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
    if (onLine === undefined) return;
    // A killed process may end in the middle of a line.
    const lines = output.out.split('\n');
    output.out = lines.pop() as string;
    for (const line of lines) onLine(line);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.log += text;
  });
  return { child, output };
}

/** Sends the signal. Resolves to the exit code and the signal after the last output. */
export async function endFeed({ child }: FeedProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  child.kill(signal);
  return await once(child, 'close');
}
