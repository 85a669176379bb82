import { AssertionFailure, must } from '../../base/assert.js';
import type { Replay } from '../../log/replay.js';
import { compareLsn, formatLsn, type Lsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import type { AuditHead } from '../../wallet/audit-chain.js';
import type { Event } from '../../wallet/event.js';
import { checkWallet } from '../../wallet/invariants.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import { forEachWallet } from '../each-wallet.js';
import type { StoreReader } from '../store-reader.js';
import type { ArchiveCheck } from './archive-check.js';
import { AuditCheck } from './audit-check.js';
import { StoreBooks } from './books.js';
import type { Findings } from './findings.js';
import type { ServerComparison } from './server-comparison.js';

/** Replay that keeps the books, and compares the wallets with those of a server along the way. */
export class CheckedReplay {
  readonly books = new StoreBooks();
  /**
   * True after an event that did not fit its wallet. From then on the wallets differ from the log and are not checked.
   */
  isBroken = false;
  readonly audit: AuditCheck;

  constructor(
    private readonly replay: Replay,
    private readonly shard: number,
    private readonly reader: Pick<StoreReader, 'yieldTurn' | 'shardOf'>,
    private readonly comparison: ServerComparison | undefined,
    private readonly findings: Findings,
    private readonly archive: ArchiveCheck,
    noted: AuditHead | undefined,
  ) {
    archive.required = replay.totals.archived;
    this.audit = new AuditCheck(shard, replay.totals.audit, noted, findings);
  }

  /** LSN after which entries are replayed. */
  get start(): Lsn {
    return this.replay.start.lsn;
  }

  get wallets(): Wallets {
    return this.replay.wallets;
  }

  async begin(): Promise<void> {
    try {
      await forEachWallet(this.wallets, this.reader, (wallet) => {
        this.books.open(wallet);
        this.comparison?.begin(wallet, this.replay);
      });
    } catch (error) {
      this.break(error, 'wallet', `a wallet of ${this.replay.name} contradicts itself`);
    }
  }

  take(entry: Entry): void {
    const { lsn, events } = entry;
    if (compareLsn(lsn, this.replay.start.lsn) <= 0) return;
    this.archive.note(entry);
    for (const event of events) {
      if (this.isBroken) return;
      try {
        this.audit.take(event);
        this.noteArchiveMoves(event, lsn);
        if (!this.replay.apply(event, lsn)) continue;
        const wallet = must(this.wallets.get(event.username), 'an event leaves its wallet');
        this.books.post(wallet, event);
        this.comparison?.pass(wallet, lsn);
      } catch (error) {
        this.break(error, 'event', `the event of ${event.username} in entry ${formatLsn(lsn)} cannot be applied`);
      }
    }
  }

  private noteArchiveMoves(event: Event, lsn: Lsn): void {
    if (event.type !== 'rounds-archived' && event.type !== 'rounds-restored') return;
    const wallet = this.wallets.get(event.username);
    if (wallet !== undefined && event.version === wallet.version + 1) this.archive.take(wallet, event, lsn);
  }

  /** `isWhole` is true if the log was read to its head. */
  async finish(isWhole: boolean): Promise<void> {
    const { books, comparison, findings, shard, reader } = this;
    await forEachWallet(this.wallets, reader, (wallet) => {
      books.close(wallet);
      // A player in the wrong shard is a fault: requests are sent to the right shard, which may contain a second wallet
      // of the player.
      const home = reader.shardOf(wallet.username);
      if (home !== shard) findings.add('wallet', `shard ${shard}: ${wallet.username} belongs to shard ${home}`);
      if (isWhole) comparison?.end(wallet);
      try {
        checkWallet(wallet);
      } catch (error) {
        const { message } = assertionOf(error);
        findings.add('wallet', `shard ${shard}: ${wallet.username} contradicts itself: ${message}`);
      }
    });
    if (isWhole) {
      comparison?.finish();
      this.audit.finish();
    }
    for (const [currency, { difference }] of books.all()) {
      if (difference !== 0n)
        findings.add('books', `shard ${shard}: the books in ${currency} do not explain its balances`);
    }
  }

  private break(error: unknown, type: 'wallet' | 'event', what: string): void {
    const { message } = assertionOf(error);
    this.findings.add(type, `shard ${this.shard}: ${what}: ${message}; the replay from ${this.replay.name} ends there`);
    this.isBroken = true;
  }
}

/** Returns the error if the domain rejected its input. Any other error is a bug in this code and is thrown again. */
export function assertionOf(error: unknown): AssertionFailure {
  if (error instanceof AssertionFailure) return error;
  throw error;
}
