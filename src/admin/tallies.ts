import { object } from '../base/json-schema.js';
import { DAY_MS, dayOf } from '../base/time.js';
import type { LedgerKind } from '../wallet/ledger-kind.js';
import type { LedgerTotalsJson } from '../wallet/ledger-totals.js';
import type { AdminDeps } from './admin-deps.js';
import { atOnce } from './at-once.js';
import { wholeNumber } from './fields.js';
import { sum } from './money.js';
import { answer } from './openapi.js';
import { type Route, route } from './route.js';
import { exactly, ledgerScope, list, ref } from './schemas.js';

const DAYS_DEFAULT = 7;
const DAYS_MAX = 35;
/** Limits concurrent reads, because each one queries every shard. */
const READS_MAX = 4;

/** The period that the ledger totals cover. */
interface Scope {
  /** The latest time at which any shard started counting; null if all shards have counted from their first entry. */
  readonly sinceMillis: number | null;
  readonly isWhole: boolean;
  readonly shardsLeftOut: number;
}

/** A route for the ledger totals of all shards: money moved by day, currency and kind, and the products seen. */
export function ledgerRoutes({ service, settings, clock }: AdminDeps): Route[] {
  const inTurn = atOnce(READS_MAX, 'readings');
  return [
    route('GET', '/v1/money', {
      operationId: 'readMoney',
      tag: 'transactions',
      summary: 'Money moved by day, currency and kind, newest day first',
      query: object({}, { days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT, 'Number of UTC days, including today.') }),
      responses: {
        200: answer('Sums, exact to the last decimal', exactly({ ...ledgerScope, days: list(ref('MoneyOfDay')) })),
      },
      problems: [400],
      handle: async ({ query: { days = 0 } }) => {
        const { scope, all } = await inTurn(read);
        return { ...scope, days: moneyOf(all, dayOf(clock.now()) - days) };
      },
    }),
    route('GET', '/v1/products', {
      operationId: 'listProducts',
      tag: 'transactions',
      summary: 'The products seen so far, with the number of changes of each',
      responses: {
        200: answer('Products, sorted by name', exactly({ ...ledgerScope, products: list(ref('Product')) })),
      },
      handle: async () => {
        const { scope, all } = await inTurn(read);
        return { ...scope, products: productsOf(all) };
      },
    }),
  ];

  async function read(): Promise<{ scope: Scope; all: readonly LedgerTotalsJson[] }> {
    const all: LedgerTotalsJson[] = [];
    for (let shard = 0; shard < service.shardCount; shard++) {
      const result = await service.askShard(shard, { type: 'read-tallies' });
      if (result.type === 'tallies') all.push(result.tallies);
    }
    const sinceMs = Math.max(0, ...all.map((one) => one.sinceMs));
    return {
      scope: {
        sinceMillis: sinceMs === 0 ? null : sinceMs,
        isWhole: !all.some(({ isCut }) => isCut),
        shardsLeftOut: service.shardCount - all.length,
      },
      all,
    };
  }

  function moneyOf(all: readonly LedgerTotalsJson[], after: number): object[] {
    const sums = new Map<
      string,
      { day: number; currency: string; kind: LedgerKind; credited: bigint; debited: bigint }
    >();
    for (const [day, currency, kinds] of all.flatMap(({ days }) => days)) {
      if (day <= after) continue;
      for (const [kind, credited, debited] of kinds) {
        const key = `${day} ${currency} ${kind}`;
        const before = sums.get(key) ?? { day, currency, kind, credited: 0n, debited: 0n };
        before.credited += BigInt(credited);
        before.debited += BigInt(debited);
        sums.set(key, before);
      }
    }
    const order = (a: { day: number; currency: string }, b: { day: number; currency: string }) =>
      b.day - a.day || (a.currency < b.currency ? -1 : a.currency > b.currency ? 1 : 0);
    return [...sums.values()].sort(order).map(({ day, currency, kind, credited, debited }) => ({
      day: new Date(day * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length),
      currency,
      kind,
      credited: sum(settings.scales, currency, credited),
      debited: sum(settings.scales, currency, debited),
      net: sum(settings.scales, currency, credited - debited),
    }));
  }
}

function productsOf(all: readonly LedgerTotalsJson[]): object[] {
  const products = new Map<string, { lastMs: number; counts: Map<LedgerKind, number> }>();
  for (const [productId, lastMs, counts] of all.flatMap((one) => one.products)) {
    const before = products.get(productId) ?? { lastMs: 0, counts: new Map<LedgerKind, number>() };
    before.lastMs = Math.max(before.lastMs, lastMs);
    for (const [kind, count] of counts) before.counts.set(kind, (before.counts.get(kind) ?? 0) + count);
    products.set(productId, before);
  }
  return [...products]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([productId, { lastMs, counts }]) => ({
      productId,
      lastSeenMillis: lastMs,
      changes: Object.fromEntries(counts),
    }));
}
