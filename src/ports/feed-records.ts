/** Durable records of the event feed's consumers: a few short texts by key, next to the store's logs. */
export interface FeedRecords {
  /** All records. Rejects during an outage. */
  all(): Promise<ReadonlyMap<string, string>>;
  /** Writes a record. Resolves once the record is as durable as an acknowledged callback; may be repeated. */
  put(key: string, text: string): Promise<void>;
  /** Removes records. Resolves once the removal is durable; may be repeated. */
  remove(keys: readonly string[]): Promise<void>;
  /**
   * Resolves once all entries of these shards that were read before the call are as durable as acknowledged ones. A
   * server may show an entry before its replicas have it.
   */
  settle(shards: readonly number[]): Promise<void>;
}
