import { explain, makeProgram } from '../../src/cli/program.js';
import { environment } from './walletd-process.js';

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Runs a verb in this process, where all of its modules are loaded already: for tests about what it does and says, and
 * not about processes. One at a time. `export` writes to stdout itself, so it needs a process of its own; so does a
 * `serve` that is to serve.
 */
export async function runVerb(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  const { env: formerEnv, exitCode: formerCode } = process;
  const { log, error } = console;
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  console.log = (text: unknown) => {
    printed.stdout += `${text}\n`;
  };
  console.error = (text: unknown) => {
    printed.stderr += `${text}\n`;
  };
  // A server that refuses to start says so in its log too, which goes around the console.
  process.env = { ...environment(env), WALLETD_LOG_LEVEL: 'silent' };
  process.exitCode = undefined;
  try {
    const status = await carryOut(args, printed);
    return { status, ...printed };
  } finally {
    Object.assign(console, { log, error });
    process.env = formerEnv;
    process.exitCode = formerCode;
    for (const [signal, before] of listeners) {
      for (const added of process.listeners(signal)) if (!before.includes(added)) process.off(signal, added);
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
