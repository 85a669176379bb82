import { messageOf } from '../base/message-of.js';
import { ArchiveBehindError } from '../ports/archive-behind-error.js';
import { DamagedArchiveError } from '../ports/damaged-archive-error.js';
import type { ShardArchiveDeps } from './shard-archive-deps.js';

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1000;
/** Minimum interval between two log lines about one outage. */
const SAY_MS = 10_000;

/** Thrown if the archive did not answer before the deadline of the waiting request. */
export class GivenUpError extends Error {
  override readonly name = 'GivenUpError';
}

/** `archive-behind-log`: the archive answers but lacks records that the log relies on. */
type OutageCode = 'archive-away' | 'archive-behind-log';

/** Retries archive operations during outages, for one shard. */
export class ArchiveOutage {
  /** The reason why the archive's last answer was unusable; undefined if it was usable. */
  private code: OutageCode | undefined = undefined;
  private saidMs = 0;
  isClosed = false;

  constructor(
    private readonly shard: number,
    private readonly deps: Pick<ShardArchiveDeps, 'log' | 'observer' | 'delay' | 'clock'>,
  ) {}

  get isAway(): boolean {
    return this.code !== undefined;
  }

  /** The archive answers but lacks records that the log relies on. */
  get isBehind(): boolean {
    return this.code === 'archive-behind-log';
  }

  /**
   * Calls `ask` with growing delays until it resolves. Rejects with a `DamagedArchiveError`, which counts as an answer,
   * and with a `GivenUpError` once the result is no longer wanted. Never settles if this object is closed first.
   */
  async untilItAnswers<T>(ask: () => Promise<T>, isWanted: () => boolean = () => true): Promise<T> {
    for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        const answer = await ask();
        this.answered();
        return answer;
      } catch (error) {
        if (error instanceof DamagedArchiveError) {
          this.answered();
          throw error;
        }
        this.failed(error);
      }
      if (this.isClosed) return await new Promise<never>(() => {});
      if (!isWanted()) throw new GivenUpError('the archive does not answer');
      await this.deps.delay(waitMs);
    }
  }

  /**
   * Like `untilItAnswers`, for a put. Damage does not end the retries: rounds stay in memory until the archive is
   * repaired.
   */
  async untilItTakes(put: () => Promise<void>): Promise<void> {
    await this.untilItAnswers(async () => {
      try {
        await put();
      } catch (error) {
        throw error instanceof DamagedArchiveError ? new Error(error.message, { cause: error }) : error;
      }
    });
  }

  /** Calls `ask` once, without retry, and records whether the archive answered. Does not reject. */
  async ask(ask: () => Promise<void>): Promise<void> {
    if (this.isClosed) return;
    try {
      await ask();
      this.answered();
    } catch (error) {
      this.failed(error);
    }
  }

  private answered(): void {
    if (this.code !== undefined) this.deps.log.info({ shard: this.shard }, 'archive answers again');
    this.code = undefined;
  }

  private failed(error: unknown): void {
    this.deps.observer.archiveFailed(this.shard);
    const code = error instanceof ArchiveBehindError ? 'archive-behind-log' : 'archive-away';
    const nowMs = this.deps.clock.monotonicMs();
    if (this.code !== code || nowMs - this.saidMs >= SAY_MS) {
      this.saidMs = nowMs;
      this.warn(code, error);
    }
    this.code = code;
  }

  private warn(code: OutageCode, error: unknown): void {
    const at = { code, shard: this.shard, error: messageOf(error) };
    if (code === 'archive-away') this.deps.log.warn(at, 'archive does not answer, lookups wait');
    else this.deps.log.error(at, 'archive is older than the log or a different one, lookups wait');
  }
}
