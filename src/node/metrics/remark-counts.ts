import type { Metric } from '../../base/metric.js';
import { counter, perKey } from '../../telemetry/metric.js';
import { REMARKS, type Remark } from '../../wallet/decision.js';

/**
 * Maximum number of products that are counted separately. A platform can send any product name, so further products are
 * counted as `other`.
 */
const PRODUCTS_MAX = 100;
const OTHERS = 'other';

/** Warnings that are caused by a product's integration and that its developer must fix. */
const OF_PRODUCTS: ReadonlySet<Remark> = new Set<Remark>([
  'zero-stake',
  'stake-changed',
  'untaken-stake',
  'missing-fields',
]);

/** Counts callbacks that were accepted with a warning. */
export class RemarkCounts {
  readonly byRemark = Object.fromEntries(REMARKS.map((remark) => [remark, 0])) as Record<Remark, number>;
  private readonly products = new Set<string>();
  private readonly byProduct = new Map<string, { readonly labels: Record<string, string>; value: number }>();

  add(remark: Remark, productId: string | undefined): void {
    this.byRemark[remark]++;
    if (productId === undefined || !OF_PRODUCTS.has(remark)) return;
    const product = this.named(productId);
    const key = `${remark} ${product}`;
    const series = this.byProduct.get(key) ?? { labels: { remark, product }, value: 0 };
    series.value++;
    this.byProduct.set(key, series);
  }

  metrics(): Metric[] {
    return [
      counter(
        'walletd_remarks_total',
        'Commands that were accepted but are unusual, by kind: repeats, amount mismatches, unusual movements of money.',
        perKey('remark', this.byRemark),
      ),
      counter(
        'walletd_product_remarks_total',
        'Unusual commands that show how a product uses the interface, by product: the first hundred products, and `other`.',
        [...this.byProduct.values()],
      ),
    ];
  }

  private named(productId: string): string {
    if (this.products.has(productId)) return productId;
    if (this.products.size >= PRODUCTS_MAX) return OTHERS;
    this.products.add(productId);
    return productId;
  }
}
