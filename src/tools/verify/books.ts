import type { Event } from '../../wallet/event.js';
import { type Books, post, total } from '../../wallet/ledger.js';
import type { Wallet } from '../../wallet/state/wallet.js';

/** Books of one currency. All sums are in units. */
export class CurrencyBooks {
  players = 0;
  /** Balances at the start of the replay; 0 if it began before the first entry. */
  opening = 0n;
  /** Amounts that events have moved since then. */
  readonly moved: Books = new Map();
  /** Balances at the end of the replay. */
  balances = 0n;

  /** The amount by which the balances exceed the sum of the books. */
  get difference(): bigint {
    return this.balances - this.opening - total(this.moved);
  }
}

/** Books of all currencies, for one shard or for all shards. */
export class StoreBooks {
  private readonly byCurrency = new Map<string, CurrencyBooks>();

  /** Books by currency, sorted by its name. */
  all(): [currency: string, books: CurrencyBooks][] {
    return [...this.byCurrency].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  open({ currency, balance }: Wallet): void {
    this.of(currency).opening += BigInt(balance);
  }

  post({ currency }: Wallet, event: Event): void {
    post(this.of(currency).moved, event);
  }

  close({ currency, balance }: Wallet): void {
    const books = this.of(currency);
    books.players++;
    books.balances += BigInt(balance);
  }

  addAll(others: StoreBooks): void {
    for (const [currency, other] of others.byCurrency) {
      const books = this.of(currency);
      books.players += other.players;
      books.opening += other.opening;
      books.balances += other.balances;
      for (const [kind, amount] of other.moved) books.moved.set(kind, (books.moved.get(kind) ?? 0n) + amount);
    }
  }

  private of(currency: string): CurrencyBooks {
    let books = this.byCurrency.get(currency);
    if (books === undefined) {
      books = new CurrencyBooks();
      this.byCurrency.set(currency, books);
    }
    return books;
  }
}
