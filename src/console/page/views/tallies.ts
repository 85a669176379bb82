import type { Exact } from '../json.js';
import type { BookLine } from './verification.js';

/** A range of data that the ledger totals cover. */
export interface Scope {
  readonly sinceMillis: Exact | null;
  readonly isWhole: boolean;
  readonly shardsLeftOut: Exact;
}

/** The answer of GET /v1/money. */
export interface Money extends Scope {
  readonly days: readonly DayMoney[];
}

export interface DayMoney {
  readonly day: string;
  readonly currency: string;
  readonly kind: BookLine;
  readonly credited: Exact;
  readonly debited: Exact;
  readonly net: Exact;
}

/** The answer of GET /v1/products. */
export interface Products extends Scope {
  readonly products: readonly Product[];
}

export interface Product {
  readonly productId: string;
  readonly lastSeenMillis: Exact;
  readonly changes: Readonly<Partial<Record<BookLine, Exact>>>;
}
