import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import type { Position } from '../shard/log/wal.js';
import type { NodeRecord } from '../store/node-record.js';
import type { ShardStatus } from '../worker/shards.js';

const EVERY_MS = 1000;

export type Acknowledged = readonly (readonly [shard: number, Position])[];

/** What the shards of this process have told. Nothing since another process has taken the store over, which keeps the record now. */
export function servedHere(all: readonly ShardStatus[]): Acknowledged {
  if (all.some(({ state }) => state === 'fenced')) return [];
  return all.flatMap(({ shard, state, head }) =>
    state === 'serving' && head !== undefined ? [[shard, head] as const] : [],
  );
}

/** Keeps this node's record of what has been acknowledged, from when there is anything. */
export class Recorder {
  private readonly timer: NodeJS.Timeout;
  /** Writes that failed. */
  failures = 0;
  /** Why the last write failed; undefined when it succeeded. */
  private problem: string | undefined = undefined;

  constructor(
    private readonly record: NodeRecord,
    private readonly storeId: string,
    /** What is to be recorded now. A shard that is left out keeps its former record. */
    private readonly acknowledged: () => Acknowledged,
    private readonly log: Logger,
  ) {
    this.timer = setInterval(() => void this.write(), EVERY_MS);
    this.timer.unref();
  }

  /** Does not reject. */
  async write(): Promise<void> {
    const acknowledged = this.acknowledged();
    if (acknowledged.length === 0) return;
    try {
      await this.record.write(this.storeId, acknowledged);
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
