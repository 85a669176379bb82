import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import type { NodeRecord } from '../store/node-record.js';
import type { Shards } from '../worker/shards.js';

const EVERY_MS = 1000;

/** Keeps this node's record of what its shards have acknowledged, from when the first one serves. */
export class Recorder {
  private readonly timer: NodeJS.Timeout;
  /** Writes that failed. */
  failures = 0;
  /** Why the last write failed; undefined when it succeeded. */
  private problem: string | undefined = undefined;

  constructor(
    private readonly record: NodeRecord,
    private readonly storeId: string,
    private readonly shards: Pick<Shards, 'status'>,
    private readonly log: Logger,
  ) {
    this.timer = setInterval(() => void this.write(), EVERY_MS);
    this.timer.unref();
  }

  /** Does not reject. A shard that does not serve keeps its former record. */
  async write(): Promise<void> {
    const all = this.shards.status();
    // The process that has taken the store over keeps the record now.
    if (all.some(({ state }) => state === 'fenced')) return;
    const serving = all.flatMap(({ shard, state, head }) =>
      state === 'serving' && head !== undefined ? [[shard, head] as const] : [],
    );
    if (serving.length === 0) return;
    try {
      await this.record.write(this.storeId, serving);
      this.problem = undefined;
    } catch (error) {
      this.failures++;
      const message = messageOf(error);
      const at = { path: this.record.path, error: message };
      // It is tried every second, and logged once.
      if (message !== this.problem) this.log.warn(at, 'cannot write what this node has acknowledged');
      this.problem = message;
    }
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
