import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
import { cleanUp } from '../support/clean-up.js';
import { importPlayers } from '../support/client.js';
import { IS_NIGHTLY, nightly } from '../support/nightly.js';
import { type Postgres, startPostgres, whyNoPostgres } from '../support/postgres.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { LAUNCHED, WalletdCommand, WalletdProcess } from '../support/walletd-process.js';
import { Load, OPENING_BALANCE, PLAYERS, type Target } from './load.js';
import type { PlayRound } from './rounds.js';

const FAULT_MS = 240_000;

/** Defines a test of one fault with real processes, which are removed at its end even if it fails. */
export function fault(sentence: string, run: (scene: Scene) => Promise<void>, timeoutMs = FAULT_MS): void {
  test(sentence, { timeout: timeoutMs }, async (t) => {
    const scene = new Scene(t);
    t.after(() => scene.close());
    await run(scene);
  });
}

/** Defines a fault that is similar to another one, so that only the nightly run needs it. */
export function rareFault(sentence: string, run: (scene: Scene) => Promise<void>): void {
  if (IS_NIGHTLY) fault(sentence, run);
  else test(sentence, nightly('a similar fault runs'), () => {});
}

/** The environment of a fault: servers, processes and loads, which end with the fault. */
export class Scene {
  private readonly endings: (() => unknown)[] = [];
  private readonly folder = makeTempFolder();

  constructor(private readonly t: TestContext) {
    this.atEnd(() => this.folder.remove());
  }

  /** Prints what was observed during this fault. */
  say(sight: string): void {
    this.t.diagnostic(sight);
  }

  /** Skips a fault that cannot be caused on this machine. */
  skip(why: string): void {
    this.t.skip(why);
  }

  atEnd(ending: () => unknown): void {
    this.endings.unshift(ending);
  }

  async redis(settings: Record<string, string> = {}): Promise<RedisServer> {
    const server = await RedisServer.start(settings);
    this.atEnd(() => server.destroy());
    return server;
  }

  /** Starts an archive. Skips the test if none can run. */
  postgres(): Postgres | undefined {
    const why = whyNoPostgres();
    if (why !== undefined) {
      this.skip(why);
      return undefined;
    }
    const server = startPostgres(tmpdir());
    this.atEnd(() => cleanUp());
    return server;
  }

  /** New folder for an LMDB store and the files next to it. */
  makeFolder(): string {
    const folder = makeTempFolder();
    this.atEnd(() => folder.remove());
    return folder.path;
  }

  /** Starts a walletd. `wrap` is a command that runs it, such as a tracer. */
  async walletd(
    store: string,
    env: Record<string, string> = {},
    wrap: readonly string[] = [],
  ): Promise<WalletdProcess> {
    const program = env.WALLETD_MEMORY_MAX_BYTES === undefined ? undefined : LAUNCHED;
    const walletd = await WalletdProcess.start(this.environment(store, env), wrap, program);
    this.atEnd(() => walletd.end('SIGKILL'));
    return walletd;
  }

  /** Starts a walletd that must fail. Resolves to its message. */
  async refusal(store: string, env: Record<string, string> = {}): Promise<string> {
    const started = this.walletd(store, { WALLETD_INIT: 'never', ...env });
    return await started.then(
      () => {
        throw new Error('walletd has started, and should have refused');
      },
      (error: Error) => error.message,
    );
  }

  /** Starts a command that runs while the fault continues. */
  command(...args: readonly string[]): WalletdCommand {
    const command = new WalletdCommand(args);
    this.atEnd(() => command.exit('SIGKILL'));
    return command;
  }

  /** Runs a command that must succeed. Resolves to its output. */
  async run(...args: readonly string[]): Promise<string> {
    const command = this.command(...args);
    const exitCode = await command.exit();
    assert.equal(exitCode, 0, `walletd ${args.join(' ')}: ${command.stdout}${command.stderr}`);
    return command.stdout;
  }

  /** Imports the players and starts their play. */
  async load(target: Target, pauseMs?: number, playRound?: PlayRound): Promise<Load> {
    await importPlayers(target.adminUrl, PLAYERS, OPENING_BALANCE);
    return this.play(target, pauseMs, playRound);
  }

  /** Plays bets and settlements of existing players, or the given rounds, until it is stopped. */
  play(target: Target, pauseMs?: number, playRound?: PlayRound): Load {
    const load = new Load(target, pauseMs, playRound);
    this.atEnd(() => load.stop());
    return load;
  }

  /** The folder where walletd saves entries that a log has lost. */
  get nodeFolder(): string {
    return this.folder.path;
  }

  async close(): Promise<void> {
    for (const ending of this.endings) await ending();
  }

  private environment(store: string, env: Record<string, string>): Record<string, string> {
    return {
      WALLETD_STORE: store,
      WALLETD_INIT: 'auto',
      WALLETD_WORKERS: '0',
      WALLETD_REQUEST_DEADLINE_MS: '1000',
      WALLETD_NODE_FOLDER: this.folder.path,
      ...env,
    };
  }
}

/**
 * Makes a walletd send itself a signal when it reaches a store step, such as `before trimLog`, for the `time`th time.
 */
export function signalAt(signal: NodeJS.Signals, step: string, time = 1): Record<string, string> {
  const preloaded = new URL('./at-step.js', import.meta.url);
  return { NODE_OPTIONS: `--import ${preloaded.href}`, FAULT_AT: `${signal} ${step} ${time}` };
}
