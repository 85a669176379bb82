import type { Metric } from '../../base/metric.js';
import { counter } from '../../telemetry/metric.js';
import { type ScaleTable, type Units, unitsPerWhole } from '../../wallet/amount.js';
import type { Event } from '../../wallet/event.js';
import { type Ledger, reportMoves } from '../../wallet/ledger.js';
import type { LedgerKind } from '../../wallet/ledger-kind.js';

/** Currencies beyond this number share one label, so that a scrape has a bounded size. */
const CURRENCIES_MAX = 100;
const OTHERS = 'other';

/** Amounts in whole currency units. Neither of them ever decreases. */
interface Moved {
  credited: number;
  debited: number;
}

/**
 * Adds up the money moved since the start, by currency and kind. The sums are floating-point statistics; `walletd
 * verify` keeps the exact books.
 */
export class MoneyMoved implements Ledger {
  private readonly byCurrency = new Map<string, Map<LedgerKind, Moved>>();
  /** The sums that `moved` updates: those of the current event's currency. */
  private kinds = new Map<LedgerKind, Moved>();
  private unitsPerWhole = 1;

  constructor(private readonly scales: ScaleTable) {}

  add(currency: string, event: Event): void {
    this.unitsPerWhole = unitsPerWhole(this.scales.of(currency));
    this.kinds = this.kindsOf(currency);
    reportMoves(event, this);
  }

  moved(kind: LedgerKind, amount: Units): void {
    let moved = this.kinds.get(kind);
    if (moved === undefined) {
      moved = { credited: 0, debited: 0 };
      this.kinds.set(kind, moved);
    }
    const whole = amount / this.unitsPerWhole;
    if (whole > 0) moved.credited += whole;
    else moved.debited -= whole;
  }

  metric(): Metric {
    const values = [...this.byCurrency].flatMap(([currency, kinds]) =>
      [...kinds].flatMap(([kind, { credited, debited }]) => [
        { labels: { currency, kind, direction: 'credit' }, value: credited },
        { labels: { currency, kind, direction: 'debit' }, value: debited },
      ]),
    );
    return counter(
      'walletd_money_total',
      "Money moved, in whole currency units, from the players' point of view: a credit goes to a player. A statistic, not the books.",
      values,
    );
  }

  private kindsOf(currency: string): Map<LedgerKind, Moved> {
    const known = this.byCurrency.get(currency);
    if (known !== undefined) return known;
    const label = this.byCurrency.size < CURRENCIES_MAX ? currency : OTHERS;
    const kinds = this.byCurrency.get(label) ?? new Map<LedgerKind, Moved>();
    this.byCurrency.set(label, kinds);
    return kinds;
  }
}
