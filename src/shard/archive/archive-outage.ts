import { messageOf } from '../../base/message-of.js';
import { DamagedRecordError } from './damaged-record-error.js';
import type { ShardArchiveDeps } from './shard-archive-deps.js';

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1000;

/** The archive did not answer while anybody waited for it. */
export class GivenUpError extends Error {
  override readonly name = 'GivenUpError';
}

/** Waits out that an archive does not answer, for one shard. */
export class ArchiveOutage {
  /** It did not answer when it was asked last. */
  isAway = false;
  isClosed = false;

  constructor(
    private readonly shard: number,
    private readonly deps: Pick<ShardArchiveDeps, 'log' | 'observer' | 'delay'>,
  ) {}

  /**
   * Tries until it does not reject, less and less often. Rejects with a `DamagedRecordError`, which is an answer, and with a
   * `GivenUpError` when nobody wants it any more. Never resolves when this is closed meanwhile.
   */
  async untilItAnswers<T>(ask: () => Promise<T>, isWanted: () => boolean = () => true): Promise<T> {
    for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        const answer = await ask();
        this.answered();
        return answer;
      } catch (error) {
        if (error instanceof DamagedRecordError) {
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

  private answered(): void {
    if (this.isAway) this.deps.log.info({ shard: this.shard }, 'the archive is back');
    this.isAway = false;
  }

  private failed(error: unknown): void {
    this.deps.observer.archiveFailed(this.shard);
    if (!this.isAway) {
      const at = { shard: this.shard, error: messageOf(error) };
      this.deps.log.warn(at, 'the archive does not answer: what has to be looked up there waits');
    }
    this.isAway = true;
  }
}
