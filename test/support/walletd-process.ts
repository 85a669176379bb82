import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAfterTests } from './children.js';
import { until } from './until.js';

export const LAUNCHER = fileURLToPath(new URL('../../../src/cli/walletd.sh', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const READY_MS = 60_000;
const NODE_FOLDER = join(tmpdir(), `walletd-test-${process.pid}`);

process.on('exit', () => rmSync(NODE_FOLDER, { recursive: true, force: true }));

type LogLine = { msg: string; level: string; [field: string]: unknown };

/** The command that starts walletd as a user does, with the heap limit that the settings require. */
export const LAUNCHED = ['sh', LAUNCHER];
/** The command that starts walletd without the launcher, which takes a third of the startup time. */
export const UNLAUNCHED = [process.execPath, MAIN];

/** A real walletd process. */
export class WalletdProcess {
  readonly log: LogLine[] = [];
  errors = '';
  callbackUrl = '';
  adminUrl = '';
  private buffered = '';

  private constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (data: Buffer) => this.read(data.toString()));
    child.stderr?.on('data', (data: Buffer) => {
      this.errors += data.toString();
    });
  }

  /** Starts `walletd serve` on free ports. Resolves when it is ready. `wrap` is a command that runs it. */
  static async start(
    env: Record<string, string>,
    wrap: readonly string[] = [],
    program: readonly string[] = UNLAUNCHED,
  ): Promise<WalletdProcess> {
    const [command = 'sh', ...args] = [...wrap, ...program, 'serve'];
    const child = endAfterTests(spawn(command, args, { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] }));
    const walletd = new WalletdProcess(child);
    const ready = await walletd
      .waitFor((line) => line.msg === 'walletd is ready')
      .catch((error) => {
        child.kill('SIGKILL');
        throw error;
      });
    walletd.callbackUrl = String(ready.callbacks);
    walletd.adminUrl = String(ready.operatorApi);
    return walletd;
  }

  /**
   * The process ID of the server itself. The server replaces the launcher in its process; under a tracer, it is a child
   * of the tracer.
   */
  get pid(): number {
    const ready = this.log.find((line) => line.msg === 'walletd is ready');
    return Number(ready?.pid);
  }

  async waitFor(wanted: (line: LogLine) => boolean): Promise<LogLine> {
    const endMs = Date.now() + READY_MS;
    for (;;) {
      const line = this.log.find(wanted);
      if (line !== undefined) return line;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`walletd ended with ${this.child.exitCode ?? this.child.signalCode}: ${this.errors}`);
      }
      if (Date.now() > endMs) throw new Error(`walletd did not say what was expected: ${JSON.stringify(this.log)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Sends the signal to the server. Resolves to the child's exit code or signal. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'exit');
      process.kill(this.pid, signal);
      await exited;
    }
    return this.child.exitCode ?? this.child.signalCode;
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode === null) await once(this.child, 'exit');
    return this.child.exitCode;
  }

  private read(text: string): void {
    const lines = (this.buffered + text).split('\n');
    this.buffered = lines.pop() as string;
    for (const line of lines) if (line !== '') this.log.push(JSON.parse(line) as LogLine);
  }
}

/** Runs a command in its own process until it exits. `runCommand` takes a tenth of the time. */
export function runWalletd(
  args: readonly string[],
  env: Record<string, string> = {},
  program: readonly string[] = UNLAUNCHED,
) {
  const [command = '', ...first] = program;
  const options = { env: environment(env), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(command, [...first, ...args], options);
  return { status, stdout, stderr };
}

export function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('WALLETD_') || name === 'WALLETD_HTTP_LIBRARY'),
  );
  // Put the node's folder next to the store, so that tests leave nothing in their working directory.
  const folder = /^lmdb:(.+)$/.exec(env.WALLETD_STORE ?? '')?.[1];
  const WALLETD_NODE_FOLDER = folder === undefined ? NODE_FOLDER : `${folder}/node`;
  // A rehearsal would make each start a second longer.
  const WALLETD_REHEARSAL_MAX_MS = '0';
  return {
    ...inherited,
    WALLETD_REHEARSAL_MAX_MS,
    WALLETD_PORT: '0',
    WALLETD_ADMIN_PORT: '0',
    WALLETD_NODE_FOLDER,
    ...env,
  };
}

function maybeRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** A command that runs while the test continues. */
export class WalletdCommand {
  stdout = '';
  stderr = '';
  private readonly child: ChildProcess;

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    const options: SpawnOptions = { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] };
    this.child = endAfterTests(spawn('sh', [LAUNCHER, ...args], options));
    this.child.stdout?.on('data', (data: Buffer) => {
      this.stdout += data.toString();
    });
    this.child.stderr?.on('data', (data: Buffer) => {
      this.stderr += data.toString();
    });
  }

  /** Exit code or signal; undefined while the command is running. */
  get ended(): number | NodeJS.Signals | undefined {
    return this.child.exitCode ?? this.child.signalCode ?? undefined;
  }

  /** Waits until a child process of the command is running this program. */
  async started(program: string): Promise<void> {
    const { pid } = this.child;
    await until(`${program} runs`, () => {
      const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
      // The launcher first starts other programs, which may have exited in the meantime.
      return child !== '' && maybeRead(`/proc/${child}/cmdline`)?.includes(program);
    });
  }

  /** Waits until the command's output matches. */
  async said(words: RegExp): Promise<void> {
    const endMs = Date.now() + READY_MS;
    while (!words.test(this.stdout + this.stderr)) {
      if (this.child.exitCode !== null) throw new Error(`walletd ended with ${this.child.exitCode}: ${this.stderr}`);
      if (Date.now() > endMs) throw new Error(`walletd did not say ${words}: ${this.stdout}${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Waits for the command to end. Resolves to its exit code, or to null if a signal ended it. */
  async exit(signal?: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      // When the pipes are closed, all output has arrived.
      const closed = once(this.child, 'close');
      if (signal !== undefined) this.child.kill(signal);
      await closed;
    }
    return this.child.exitCode;
  }
}
