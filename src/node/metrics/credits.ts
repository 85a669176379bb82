import type { Metric } from '../../base/metric.js';
import { counter } from '../../telemetry/metric.js';
import { type ScaleTable, unitsPerWhole } from '../../wallet/amount.js';
import type { Event } from '../../wallet/event.js';
import { reportMoves } from '../../wallet/ledger.js';

/**
 * Maximum number of combinations of product and currency. Further ones share one label, so that a scrape has a bounded
 * size.
 */
const SERIES_MAX = 200;
const OTHERS = 'other';

/** The amount in whole currency units. It never decreases. */
interface Credit {
  readonly labels: Readonly<Record<'product' | 'currency' | 'kind', string>>;
  value: number;
}

/**
 * Adds up platform credits that no bet backs, that is, rewards and adjustBalance credits. walletd cannot verify that
 * they are owed, so operators watch them by product.
 */
export class Credits {
  private readonly byLabels = new Map<string, Credit>();

  constructor(private readonly scales: ScaleTable) {}

  add(currency: string, event: Event): void {
    if (event.type !== 'callback-applied') return;
    if (event.endpoint !== 'winRewards' && event.endpoint !== 'adjustBalance') return;
    reportMoves(event, {
      moved: (kind, amount) => {
        if (amount > 0)
          this.creditOf(event.productId, currency, kind).value += amount / unitsPerWhole(this.scales.of(currency));
      },
    });
  }

  metric(): Metric {
    return counter(
      'walletd_credits_total',
      'Money credited by winRewards and adjustBalance, in whole currency units. A statistic, not the books.',
      [...this.byLabels.values()],
    );
  }

  private creditOf(product: string, currency: string, kind: string): Credit {
    const key = JSON.stringify([product, currency, kind]);
    const known = this.byLabels.get(key);
    if (known !== undefined) return known;
    const isOther = product === OTHERS && currency === OTHERS;
    if (!isOther && this.byLabels.size >= SERIES_MAX) return this.creditOf(OTHERS, OTHERS, kind);
    const credit = { labels: { product, currency, kind }, value: 0 };
    this.byLabels.set(key, credit);
    return credit;
  }
}
