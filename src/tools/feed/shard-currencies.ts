import { RecoveryError } from '../../ports/recovery-error.js';
import { type Entry, type Head, isSameHead } from '../../ports/wal.js';
import { Currencies } from '../currencies.js';
import type { StoreReader } from '../store-reader.js';

/** Currencies of one shard's players for readers at several positions of its log. */
export class ShardCurrencies {
  private currencies: Currencies | undefined = undefined;
  /** The players of all entries up to this one are known. */
  private upTo: Head | undefined = undefined;
  /** Calls run one after another, because each one continues from `upTo`. */
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly shard: number,
    private readonly reader: StoreReader,
  ) {}

  /** The currencies of all players who exist after `entry`, which follows `before`. */
  at(entry: Entry, before: Head): Promise<Currencies> {
    return this.inTurn(async () => {
      const currencies = await this.reach(before);
      currencies.note(entry);
      if (this.upTo === undefined || entry.lsn.sequence > this.upTo.lsn.sequence) this.upTo = entry.head;
      return currencies;
    });
  }

  /** True if `head` is the newest entry whose players are known. */
  hasReached(head: Head): boolean {
    return this.upTo !== undefined && isSameHead(this.upTo, head);
  }

  /** Learns the currencies of all players who exist at `head`. */
  async load(head: Head): Promise<void> {
    await this.inTurn(() => this.reach(head));
  }

  private inTurn(run: () => Promise<Currencies>): Promise<Currencies> {
    const result = this.running.then(run);
    this.running = result.catch(() => {});
    return result;
  }

  private async reach(before: Head): Promise<Currencies> {
    const { shard, reader } = this;
    if (this.currencies === undefined || this.upTo === undefined) {
      this.currencies = await Currencies.at(before, shard, reader);
      this.upTo = before;
    } else if (this.upTo.lsn.sequence < before.lsn.sequence) {
      this.currencies = await this.extended(this.currencies, this.upTo, before);
      this.upTo = before;
    }
    return this.currencies;
  }

  /** Reads the entries in between, or loads all players again if the log no longer has them. */
  private async extended(currencies: Currencies, from: Head, to: Head): Promise<Currencies> {
    try {
      await currencies.readUpTo(to, from, this.reader);
      return currencies;
    } catch (error) {
      if (!(error instanceof RecoveryError)) throw error;
      return await Currencies.at(to, this.shard, this.reader);
    }
  }
}
