import { dayOf } from '../base/time.js';
import type { Units } from './amount.js';
import { type ArchiveMark, newestMark } from './archive-mark.js';
import { type AuditHead, auditAfter, emptyAudit } from './audit-chain.js';
import { CHANGES } from './changes.js';
import type { Event } from './event.js';
import { type Ledger, reportMoves } from './ledger.js';
import type { LedgerKind } from './ledger-kind.js';

/**
 * Maximum numbers of days, of currencies per day and of products that are counted. Older days are dropped; further
 * currencies and products are not counted.
 */
const DAYS_MAX = 35;
const CURRENCIES_MAX = 50;
const PRODUCTS_MAX = 200;

/**
 * Sums credited to and debited from players, in units, as decimal text because they may exceed the precision of
 * doubles.
 */
type KindSums = readonly [kind: LedgerKind, credited: string, debited: string];
type KindCounts = readonly [kind: LedgerKind, count: number];

/** Ledger totals as plain data, for a manifest and for other threads. */
export interface LedgerTotalsJson {
  /** The start of the period that the totals cover, in milliseconds; 0 if they are complete. */
  readonly sinceMs: number;
  /** True if some events were not counted because a limit had been reached. */
  readonly isCut: boolean;
  /** Oldest first. Days are numbered since 1970, UTC. */
  readonly days: readonly (readonly [day: number, currency: string, sums: readonly KindSums[]])[];
  readonly products: readonly (readonly [productId: string, lastMs: number, counts: readonly KindCounts[]])[];
  /** See `LedgerTotals.archived`. */
  readonly archived?: ArchiveMark | undefined;
  /** See `LedgerTotals.neverArchived`; absent when false. */
  readonly neverArchived?: boolean | undefined;
  /** Undefined in snapshots that an older walletd wrote. */
  readonly audit?: AuditHead | undefined;
}

/** An exact sum of units of any size, which is fast while it is small. */
class Sum {
  private low = 0;

  constructor(private high = 0n) {}

  add(units: Units): void {
    const sum = this.low + units;
    if (Number.isSafeInteger(sum)) {
      this.low = sum;
    } else {
      this.high += BigInt(this.low);
      this.low = units;
    }
  }

  get units(): bigint {
    return this.high + BigInt(this.low);
  }
}

interface Moved {
  readonly credited: Sum;
  readonly debited: Sum;
}

type Day = Map<string, Map<LedgerKind, Moved>>;

interface Product {
  lastMs: number;
  readonly counts: Map<LedgerKind, number>;
}

/**
 * Ledger totals of a shard's log by day, currency and kind, and by product. Like the wallets, they are computed by
 * folding over the log's events, stored with each snapshot and continued from there. They prove nothing about balances;
 * `walletd verify` checks those.
 */
export class LedgerTotals implements Ledger {
  private readonly days = new Map<number, Day>();
  private readonly products = new Map<string, Product>();
  private isCut = false;
  /**
   * The newest archive record that the log relies on. An archive without this record is not trusted. Undefined if no
   * round has left memory since logs began to record this mark.
   */
  archived: ArchiveMark | undefined = undefined;
  /**
   * True if it is certain that no event in the whole log has removed a round from memory. False after a snapshot by an
   * older walletd, which does not record this and may have archived rounds without a mark.
   */
  neverArchived = false;
  private kinds: Map<LedgerKind, Moved> | undefined = undefined;

  /** `audit` is the head from which the audit chain continues. */
  constructor(
    private readonly sinceMs = 0,
    public audit: AuditHead = emptyAudit('0-0'),
  ) {}

  /** Totals of an empty log. */
  static ofNothing(): LedgerTotals {
    const totals = new LedgerTotals();
    totals.neverArchived = true;
    return totals;
  }

  /** `since` is the start of the audit chain if the snapshot has none. */
  static from(
    { sinceMs, isCut, days, products, archived, neverArchived, audit }: LedgerTotalsJson,
    since = '0-0',
  ): LedgerTotals {
    const totals = new LedgerTotals(sinceMs, audit ?? emptyAudit(since));
    totals.neverArchived = neverArchived === true;
    totals.isCut = isCut;
    totals.archived = archived;
    for (const [day, currency, sums] of days) {
      const kinds = new Map(
        sums.map(([kind, credited, debited]) => [
          kind,
          { credited: new Sum(BigInt(credited)), debited: new Sum(BigInt(debited)) },
        ]),
      );
      totals.dayOf(day).set(currency, kinds);
    }
    for (const [id, lastMs, counts] of products) totals.products.set(id, { lastMs, counts: new Map(counts) });
    return totals;
  }

  add(currency: string, event: Event): void {
    this.audit = auditAfter(this.audit, event);
    this.kinds = this.findKinds(dayOf(event.timeMs), currency);
    reportMoves(event, this);
    if (event.type === 'rounds-archived') {
      this.archived = newestMark(this.archived, event.mark);
      this.neverArchived = false;
    }
    if (event.type !== 'callback-applied' || event.changes.length === 0) return;
    const product = this.findProduct(event.productId);
    if (product === undefined) return;
    product.lastMs = event.timeMs;
    for (const { type } of event.changes) {
      const { kind, isNote } = CHANGES[type];
      if (isNote) continue;
      count(product, kind);
      if (type === 'single-state-settled') count(product, 'stakes');
    }
  }

  moved(kind: LedgerKind, amount: Units): void {
    if (this.kinds === undefined || amount === 0) return;
    let moved = this.kinds.get(kind);
    if (moved === undefined) {
      moved = { credited: new Sum(), debited: new Sum() };
      this.kinds.set(kind, moved);
    }
    if (amount > 0) moved.credited.add(amount);
    else moved.debited.add(-amount);
  }

  toJSON(): LedgerTotalsJson {
    const days = [...this.days].flatMap(([day, currencies]) =>
      [...currencies].map(([currency, kinds]) => [day, currency, [...kinds].map(sumsOf)] as const),
    );
    const products = [...this.products].map(([id, { lastMs, counts }]) => [id, lastMs, [...counts]] as const);
    const { sinceMs, isCut, archived, neverArchived, audit } = this;
    return { sinceMs, isCut, days, products, archived, ...(neverArchived && { neverArchived }), audit };
  }

  private findKinds(day: number, currency: string): Map<LedgerKind, Moved> | undefined {
    const currencies = this.dayOf(day);
    const known = currencies.get(currency);
    if (known !== undefined) return known;
    if (currencies.size === CURRENCIES_MAX) {
      this.isCut = true;
      return undefined;
    }
    const kinds = new Map<LedgerKind, Moved>();
    currencies.set(currency, kinds);
    return kinds;
  }

  /** The day's totals. Days arrive in order, because a shard's time does not go back. */
  private dayOf(day: number): Day {
    const known = this.days.get(day);
    if (known !== undefined) return known;
    const currencies: Day = new Map();
    this.days.set(day, currencies);
    for (const old of this.days.keys()) {
      if (this.days.size <= DAYS_MAX) break;
      this.days.delete(old);
    }
    return currencies;
  }

  private findProduct(id: string): Product | undefined {
    const known = this.products.get(id);
    if (known !== undefined) return known;
    if (this.products.size === PRODUCTS_MAX) {
      this.isCut = true;
      return undefined;
    }
    const product: Product = { lastMs: 0, counts: new Map() };
    this.products.set(id, product);
    return product;
  }
}

function count({ counts }: Product, kind: LedgerKind): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

function sumsOf([kind, { credited, debited }]: [LedgerKind, Moved]): KindSums {
  return [kind, String(credited.units), String(debited.units)];
}
