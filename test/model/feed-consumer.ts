import assert from 'node:assert/strict';
import { feedEventsOf } from '../../src/feed/events-of.js';
import type { ReferenceWallet } from '../../src/simulate/model/reference-wallet.js';
import { formatUnits } from '../../src/wallet/amount.js';
import { ConsumerBooks, sumsOf, unitsOf } from '../support/consumer-books.js';
import { type Domain, entriesOf, STORE_ID } from '../support/domain.js';

const SCALE = 4;
const ENTRY_EVENTS = 3;
const SOURCE = { storeId: STORE_ID, currencyOf: () => 'THB', scaleOf: () => SCALE };

/**
 * A consumer of the event feed. The movements that it sees must be those of the reference wallet, which knows neither
 * log nor feed.
 */
export class FeedConsumer {
  private readonly balances = new Map<string, number>();
  /** The changes of each player's balance in the reference wallet, in order. */
  private readonly expected = new Map<string, string[]>();

  constructor(private readonly reference: ReferenceWallet) {}

  /** Notes what the newest operation has moved. Call this after each operation. */
  note(): void {
    for (const [username, { balance }] of this.reference.players) {
      const before = this.balances.get(username) ?? 0;
      if (balance === before) continue;
      this.balances.set(username, balance);
      this.listOf(username).push(`${decimal(before)} ${decimal(balance)}`);
    }
  }

  /** Reads the events of the whole log, and every entry twice, as after a crash of the consumer. */
  check(domain: Domain): void {
    const books = new ConsumerBooks();
    for (const entry of entriesOf(domain.events, ENTRY_EVENTS)) {
      const events = feedEventsOf(entry, SOURCE);
      for (const { event } of [...events, ...events]) books.take(event);
    }
    const moves = books.moves();
    const sums = sumsOf(moves);
    for (const [username, balance] of this.balances) {
      const own = moves.filter(({ player, before, after }) => player === username && before !== after);
      assert.deepStrictEqual(
        own.map(({ before, after }) => `${before} ${after}`),
        this.listOf(username),
        `the feed shows what moved the balance of ${username}`,
      );
      assert.equal(sums.get(username), decimal(balance), `the feed adds up to the balance of ${username}`);
    }
  }

  private listOf(username: string): string[] {
    const list = this.expected.get(username) ?? [];
    this.expected.set(username, list);
    return list;
  }
}

function decimal(units: number): bigint {
  return unitsOf(formatUnits(units, SCALE));
}
