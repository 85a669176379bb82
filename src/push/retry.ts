import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { UserError } from '../base/user-error.js';
import { backoffMs } from './backoff.js';
import { SinkClosed } from './sink.js';

export interface RetryDeps {
  readonly log: Logger;
  /** Rejects when `stop` is aborted. */
  readonly delay: (ms: number, stop: AbortSignal) => Promise<unknown>;
  readonly random: () => number;
  readonly monotonicMs: () => number;
  /** Aborted when the process has to end. Running attempts may finish, and no new one begins. */
  readonly stop: AbortSignal;
}

/** Log lines about an outage: one when it begins, one when it ends. */
export interface OutageLines {
  readonly code: string;
  readonly away: string;
  readonly back: string;
  /** The name of the other side. */
  readonly name: string;
}

/** Thrown in place of a further attempt when the process has to end. */
export class Stopped extends Error {}

/** Repeats attempts at one other side until they succeed. Concurrent attempts share the state of the outage. */
export class Retry {
  private awaySinceMs: number | undefined = undefined;

  constructor(
    private readonly deps: RetryDeps,
    private readonly lines: OutageLines,
  ) {}

  /** Rejects with `Stopped`, or with an error that no retry can fix: a `UserError` or `SinkClosed`. */
  async run<T>(attempt: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        const result = await attempt();
        this.noteSuccess();
        return result;
      } catch (error) {
        if (error instanceof UserError || error instanceof Stopped || error instanceof SinkClosed) throw error;
        if (this.deps.stop.aborted) throw new Stopped();
        this.noteFailure(error);
      }
      await this.pause(failures);
    }
  }

  /** Waits after the given number of failures in a row. Rejects with `Stopped` if the process has to end. */
  async pause(failures: number): Promise<void> {
    const { delay, random, stop } = this.deps;
    try {
      await delay(backoffMs(failures, random()), stop);
    } catch {
      throw new Stopped();
    }
  }

  private noteFailure(error: unknown): void {
    if (this.awaySinceMs !== undefined) return;
    const { log, monotonicMs } = this.deps;
    const { code, away, name } = this.lines;
    this.awaySinceMs = monotonicMs();
    log.warn({ code, name, error: messageOf(error) }, away);
  }

  private noteSuccess(): void {
    if (this.awaySinceMs === undefined) return;
    const { log, monotonicMs } = this.deps;
    const { back, name } = this.lines;
    const seconds = Math.round((monotonicMs() - this.awaySinceMs) / 1000);
    this.awaySinceMs = undefined;
    log.info({ name, seconds }, back);
  }
}
