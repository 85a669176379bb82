import type { EventEmitter } from 'node:events';
import { explain, makeProgram } from '../../src/cli/program.js';
import { environment } from './walletd-process.js';

const emitter: EventEmitter = process;

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Process events that a running server listens to. */
const EVENTS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'exit'];

/**
 * Runs a command in this process, where all modules are already loaded. Use it to test a command's effects and output,
 * but not its process, and for one command at a time. `export` writes directly to stdout and therefore needs its own
 * process, as does a `serve` that really serves.
 */
export async function runCommand(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  const { env: formerEnv, exitCode: formerCode } = process;
  const { log, error } = console;
  const listeners = EVENTS.map((event) => [event, emitter.listeners(event)] as const);
  console.log = (text: unknown) => {
    printed.stdout += `${text}\n`;
  };
  console.error = (text: unknown) => {
    printed.stderr += `${text}\n`;
  };
  // Silence the log. A server that refuses to start also logs the reason, and log lines bypass the console.
  process.env = { ...environment(env), WALLETD_LOG_LEVEL: 'silent' };
  process.exitCode = undefined;
  try {
    const status = await carryOut(args, printed);
    return { status, ...printed };
  } finally {
    Object.assign(console, { log, error });
    process.env = formerEnv;
    process.exitCode = formerCode;
    for (const [event, before] of listeners) {
      for (const added of emitter.listeners(event))
        if (!before.includes(added)) emitter.off(event, added as () => void);
    }
  }
}

async function carryOut(args: readonly string[], printed: { stdout: string; stderr: string }): Promise<number> {
  const writeOut = (text: string) => {
    printed.stdout += text;
  };
  const writeErr = (text: string) => {
    printed.stderr += text;
  };
  try {
    const program = await makeProgram(args[0], { writeOut, writeErr });
    await program.parseAsync([...args], { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return explain(error);
  }
}
