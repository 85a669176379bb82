import type { FeedRecords } from '../../src/ports/feed-records.js';

/** Records in memory, and the shards that were settled. */
export class MemoryRecords implements FeedRecords {
  readonly settled: number[] = [];
  settleError: Error | undefined = undefined;
  private readonly records = new Map<string, string>();

  async all(): Promise<ReadonlyMap<string, string>> {
    return new Map(this.records);
  }

  async put(key: string, text: string): Promise<void> {
    this.records.set(key, text);
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.records.delete(key);
  }

  async settle(shards: readonly number[]): Promise<void> {
    if (this.settleError !== undefined) throw this.settleError;
    this.settled.push(...shards);
  }
}
