import { intern } from '../base/intern.js';
import { readLog } from '../log/log-reader.js';
import { formatLsn } from '../ports/lsn.js';
import { RecoveryError } from '../ports/recovery-error.js';
import type { Entry, Head } from '../ports/wal.js';
import { forEachWallet } from './each-wallet.js';
import { newestReplay } from './snapshot-replay.js';
import { type StoreReader, ToolError } from './store-reader.js';

/**
 * Maps each player of a shard to a currency. Events do not name the currency, and without it the number of decimals of
 * an amount is unknown. Uses about a hundred bytes per player.
 */
export class Currencies {
  private readonly byUsername = new Map<string, string>();

  private constructor(private readonly shard: number) {}

  /**
   * Loads all players that exist at the entry `at`, and possibly later ones. Throws a `ToolError` or a `RecoveryError`.
   */
  static async at(at: Head, shard: number, reader: StoreReader): Promise<Currencies> {
    const currencies = new Currencies(shard);
    const { wallets, start } = await newestReplay(shard, reader);
    await forEachWallet(wallets, reader, ({ username, currency }) => {
      currencies.byUsername.set(username, intern(currency));
    });
    if (start.lsn.sequence < at.lsn.sequence) await currencies.readUpTo(at, start, reader);
    return currencies;
  }

  /** Adds the players that an entry creates. */
  note({ events }: Entry): void {
    for (const event of events) if ('currency' in event) this.byUsername.set(event.username, intern(event.currency));
  }

  of(username: string): string {
    const currency = this.byUsername.get(username);
    if (currency !== undefined) return currency;
    throw new ToolError(
      `the currency of ${username} is unknown: neither a snapshot nor the log of shard ${this.shard} names it`,
    );
  }

  /** Adds the players that the entries after `start` up to `at` create. Throws a `RecoveryError`. */
  async readUpTo(at: Head, start: Head, reader: StoreReader): Promise<void> {
    for await (const page of readLog(this.shard, start, reader)) {
      for (const { entry } of page) {
        this.note(entry);
        if (entry.lsn.sequence === at.lsn.sequence) return;
      }
      await reader.yieldTurn();
    }
    throw new RecoveryError(`the log of shard ${this.shard} does not reach ${formatLsn(at.lsn)}`);
  }
}
