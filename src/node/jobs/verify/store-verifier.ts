import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { VerifyBegun, VerifyEnded, VerifyResult, VerifyService } from '../../../admin/admin-deps.js';
import type { Clock } from '../../../base/clock.js';
import type { Logger } from '../../../base/logger.js';
import type { Settings } from '../../../config/schema.js';
import type { Operator } from '../../../wallet/state/operation.js';
import type { FromVerify, VerifyTask } from './messages.js';
import { summaryOf } from './summary.js';

const PROGRAM = fileURLToPath(new URL('./verify-program.js', import.meta.url));

interface Running extends VerifyBegun {
  readonly child: ChildProcess;
  done: number;
  total: number;
}

export interface StoreVerifierDeps {
  readonly task: () => Omit<VerifyTask, 'isDeep'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Verifies this node's store in a separate process, like `walletd verify` against a running server. If this process
 * replayed all players itself, callbacks would be delayed, and there would be less memory for them. Only one
 * verification runs at a time, and it ends with the node. The last result is kept until the node ends.
 */
export class StoreVerifier implements VerifyService {
  last: VerifyEnded | undefined = undefined;
  private now: Running | undefined = undefined;
  private following: Promise<void> | undefined = undefined;
  private isStopped = false;
  /** The tokens that are in force. If undefined, the tokens from startup are used. */
  private tokens: Pick<Settings['admin'], 'token' | 'tokens'> | undefined = undefined;

  constructor(private readonly deps: StoreVerifierDeps) {}

  get running(): (VerifyBegun & { readonly done: number; readonly total: number }) | undefined {
    return this.now;
  }

  begin(by: Operator, isDeep: boolean): boolean {
    if (this.now !== undefined || this.isStopped) return false;
    const child = fork(PROGRAM, [], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.now = { child, by, isDeep, startedMs: this.deps.clock.now(), done: 0, total: 0 };
    this.deps.log.info({ by: by.name, deep: isDeep }, 'verifying the store');
    this.following = this.follow(this.now);
    return true;
  }

  /** Sets the tokens that the next verification uses to call this server. */
  setTokens({ token, tokens }: Settings['admin']): void {
    this.tokens = { token, tokens };
  }

  /** Prevents further verifications. Resolves when no verification process is left. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.now?.child.kill();
    await this.following;
  }

  private async follow(running: Running): Promise<void> {
    const result = await this.resultOf(running);
    const { child: _child, done: _done, total: _total, ...begun } = running;
    const endedMs = this.deps.clock.now();
    this.now = undefined;
    this.last = { ...begun, endedMs, result };
    const tookMs = endedMs - begun.startedMs;
    if (result.type === 'failed')
      this.deps.log.warn({ code: 'verify-failed', reason: result.reason, tookMs }, 'store verification failed');
    else this.deps.log.info({ found: result.summary.found, tookMs }, 'store verified');
  }

  private task(): Omit<VerifyTask, 'isDeep'> {
    const { settings, ...task } = this.deps.task();
    return { ...task, settings: { ...settings, admin: { ...settings.admin, ...this.tokens } } };
  }

  /** Resolves once the process has ended. */
  private resultOf(running: Running): Promise<VerifyResult> {
    const { child } = running;
    let result: VerifyResult | undefined;
    child.on('message', (message: FromVerify) => {
      if (message.type === 'progress') Object.assign(running, { done: message.done, total: message.total });
      else if (message.type === 'failed') result = message;
      else result = { type: 'verified', summary: summaryOf(message.report) };
    });
    return new Promise((resolve) => {
      const failed = (reason: string) => resolve(result ?? { type: 'failed', reason });
      // An error event without a listener would crash this process.
      child.on('error', ({ message }) => failed(`its process cannot be started: ${message}`));
      child.once('close', (code, signal) => {
        // The verification process has written the cause to this process's log. The cause may describe the store, so it
        // is not part of the report, which more people can read.
        failed(this.isStopped ? 'walletd was stopped' : `its process ended with ${signal ?? code}`);
      });
      // A process that could not be started has no channel. If it has already ended, its exit event reports that.
      if (child.connected) child.send({ ...this.task(), isDeep: running.isDeep } satisfies VerifyTask, () => {});
    });
  }
}
