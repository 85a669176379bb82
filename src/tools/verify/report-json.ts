import { formatSum, type ScaleTable } from '../../wallet/amount.js';
import { LEDGER_KINDS, type LedgerKind } from '../../wallet/ledger-kind.js';
import type { StoreBooks } from './books.js';
import type { Finding, FindingType } from './findings.js';
import type { ShardReport, VerifyReport } from './verify.js';

/** Books of a currency as decimal text, because sums can exceed the range of doubles. */
export type BooksJson = { readonly players: number } & Readonly<
  Record<'opening' | LedgerKind | 'balances' | 'difference', string>
>;

/** Verification report as JSON. */
export interface VerifyReportJson {
  readonly clean: boolean;
  readonly shards: readonly ShardReport[];
  /** Books by currency, sorted. */
  readonly books: Readonly<Record<string, BooksJson>>;
  /** Number of findings of each type, whether or not they are listed. */
  readonly found: Partial<Record<FindingType, number>>;
  readonly findings: readonly Finding[];
}

export function reportJson({ shards, books, findings }: VerifyReport, scales: ScaleTable): VerifyReportJson {
  return {
    clean: findings.total === 0,
    shards,
    books: booksJson(books, scales),
    found: findings.all(),
    findings: findings.listed,
  };
}

function booksJson(books: StoreBooks, scales: ScaleTable): Record<string, BooksJson> {
  return Object.fromEntries(
    books.all().map(([currency, { players, opening, moved, balances, difference }]) => {
      const decimals = (units: bigint) => formatSum(units, scales.of(currency));
      const kinds = LEDGER_KINDS.map((kind) => [kind, decimals(moved.get(kind) ?? 0n)]);
      const sums = Object.fromEntries(kinds) as Record<LedgerKind, string>;
      const ends = { balances: decimals(balances), difference: decimals(difference) };
      return [currency, { players, opening: decimals(opening), ...sums, ...ends }];
    }),
  );
}
