import { type ReadEntry, readLog } from '../../log/log-reader.js';
import { formatLsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import type { Entry, Head } from '../../ports/wal.js';
import { findAcceptedLoss } from '../accepted-loss.js';
import { Currencies } from '../currencies.js';
import { type StoreReader, ToolError } from '../store-reader.js';
import { orTrimmed } from '../trimmed-error.js';
import { lineOf } from './export-line.js';

/**
 * Reads one shard's log for the export. Holds one page of bytes in memory and decodes only the next entry of that page.
 */
export class ExportFeed {
  /** The entry after `position`, if it has been read. */
  waiting: Entry | undefined = undefined;
  private page: Iterator<ReadEntry> | undefined = undefined;
  private pages: AsyncGenerator<Iterable<ReadEntry>, void> | undefined = undefined;

  private constructor(
    readonly shard: number,
    /** The newest entry taken so far. */
    public position: Head,
    private readonly currencies: Currencies,
    private readonly reader: StoreReader,
  ) {}

  /**
   * Opens the feed after the given entry. `patient` and `reader` are the same store with and without retries. Opening
   * uses `patient`, and reading uses `reader`.
   */
  static async open(shard: number, after: Head, withRetry: StoreReader, reader: StoreReader): Promise<ExportFeed> {
    return new ExportFeed(shard, after, await Currencies.at(after, shard, withRetry), reader);
  }

  /**
   * Reads the next entry, unless one is already waiting. If no entry is waiting afterwards, the feed has reached the
   * end of the log, which may still grow.
   */
  async fill(): Promise<void> {
    try {
      while (this.waiting === undefined) {
        this.waiting = this.page?.next().value?.entry;
        if (this.waiting === undefined && !(await this.turnPage())) return;
      }
    } catch (error) {
      // Discard the page, so that, after an outage, the next attempt continues from the same position.
      this.pages = undefined;
      this.page = undefined;
      if (!(error instanceof RecoveryError)) throw error;
      throw await this.explained(error);
    }
  }

  private async explained(error: RecoveryError): Promise<Error> {
    const { shard, position, reader } = this;
    const accepted = await findAcceptedLoss(shard, position.lsn, reader);
    if (accepted === undefined) return await orTrimmed(error, shard, position, 'exported', reader);
    return new ToolError(
      `${error.fact}. A loss was accepted at ${formatLsn(accepted.lsn)}: the wallets do not contain all of the entries before it. ` +
        `To continue, start a new export without this cursor, with --from ${shard}:${formatLsn(accepted.lsn)}`,
      { cause: error },
    );
  }

  /** Fetches the next page. Returns false at the end of the log. */
  private async turnPage(): Promise<boolean> {
    this.pages ??= readLog(this.shard, this.position, this.reader);
    const { value, done } = await this.pages.next();
    this.page = value?.[Symbol.iterator]();
    if (done) this.pages = undefined;
    return !done;
  }

  /** Takes the waiting entry and returns its export lines; empty for a fence. */
  take(): string {
    const entry = this.waiting as Entry;
    const { currencies, reader, shard } = this;
    currencies.note(entry);
    let text = '';
    entry.events.forEach((event, index) => {
      const currency = currencies.of(event.username);
      text += `${lineOf(event, { shard, lsn: entry.lsn, index }, currency, reader.scales.of(currency))}\n`;
    });
    this.position = entry.head;
    this.waiting = undefined;
    return text;
  }
}
