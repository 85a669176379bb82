import type { Exact } from '../json.js';

/** The answer of GET /v1/verify. */
export interface Verification {
  readonly running: (Begun & { readonly done: Exact; readonly total: Exact }) | null;
  readonly last: Ended | null;
}

export interface Begun {
  readonly startedMillis: Exact;
  readonly by: { readonly name: string; readonly address: string };
  readonly deep: boolean;
}

export interface Ended extends Begun {
  readonly endedMillis: Exact;
  readonly failure: string | null;
  readonly report: Report | null;
}

export interface Report {
  readonly entries: Exact;
  readonly players: Exact;
  readonly compared: Exact;
  readonly movedOn: Exact;
  readonly accepted: readonly string[];
  readonly books: readonly CurrencyBooks[];
  readonly currencies: Exact;
  readonly found: Exact;
  readonly findings: readonly Finding[];
}

export type CurrencyBooks = { readonly currency: string } & Readonly<Record<BookLine, Exact>>;

export interface Finding {
  readonly type: string;
  readonly message: string;
}

/** Titles of the lines of the books, in display order. */
export const BOOK_LINES = {
  players: 'Players',
  opening: 'Opening balances',
  deposits: 'Deposits',
  withdrawals: 'Withdrawals',
  corrections: 'Corrections',
  stakes: 'Stakes',
  payouts: 'Payouts',
  adjustments: 'Adjustments',
  refunds: 'Refunds',
  voids: 'Voids',
  tips: 'Tips',
  'tip-refunds': 'Refunded tips',
  rewards: 'Rewards',
  movements: 'Debits and credits',
  rollbacks: 'Rollbacks',
  balances: 'Closing balances',
  difference: 'Difference',
} as const;

export type BookLine = keyof typeof BOOK_LINES;
