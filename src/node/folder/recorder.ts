import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import type { Position } from '../../ports/wal.js';
import type { NodeRecord } from '../../store/node-record.js';
import type { ShardStatus } from '../../threads/shards.js';

const EVERY_MS = 1000;

export type Acknowledged = readonly (readonly [shard: number, Position])[];

/**
 * The newest entries that the shards of this process have acknowledged. Empty once another process has taken over the
 * store, because that process now keeps the record.
 */
export function servedHere(all: readonly ShardStatus[]): Acknowledged {
  if (all.some(({ state }) => state === 'fenced')) return [];
  return all.flatMap(({ shard, state, head }) =>
    state === 'serving' && head !== undefined ? [[shard, head] as const] : [],
  );
}

/** Keeps this node's record of acknowledged entries up to date. */
export class Recorder {
  private readonly timer: NodeJS.Timeout;
  /** Number of failed writes. */
  failures = 0;
  /** The reason why the last write failed; undefined if it succeeded. */
  private problem: string | undefined = undefined;

  constructor(
    private readonly record: NodeRecord,
    private readonly storeId: string,
    /** Returns the entries to record now. A shard that is not among them keeps its previous record. */
    private readonly acknowledged: () => Acknowledged,
    private readonly log: Logger,
  ) {
    this.timer = setInterval(() => void this.write(), EVERY_MS);
    this.timer.unref();
  }

  /** Writes the record. Never rejects. */
  async write(): Promise<void> {
    const acknowledged = this.acknowledged();
    if (acknowledged.length === 0) return;
    try {
      await this.record.write(this.storeId, acknowledged);
      this.problem = undefined;
    } catch (error) {
      this.failures++;
      const message = messageOf(error);
      const at = { code: 'acknowledged-not-recorded', path: this.record.path, error: message };
      // A write is attempted every second, but the same failure is logged only once.
      if (message !== this.problem) this.log.warn(at, 'cannot record acknowledged positions');
      this.problem = message;
    }
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
