import { DAY_MS } from '../base/time.js';
import type { Settings } from '../config/schema.js';
import type { Rules } from '../wallet/decide/rules.js';

/** The settings that shape decisions. */
export type RuleSettings = Pick<
  Settings,
  | 'duplicates'
  | 'round'
  | 'void'
  | 'rollback'
  | 'tips'
  | 'tombstonesMax'
  | 'openBetsMax'
  | 'historyMax'
  | 'retention'
  | 'products'
>;

export function rulesOf(settings: RuleSettings): Rules {
  return {
    duplicates: settings.duplicates,
    roundEnded: settings.round.ended,
    voidAmounts: settings.void.amounts,
    voidAllowNegativeBalance: settings.void.allowNegativeBalance,
    rollbackAllowNegativeBalance: settings.rollback.allowNegativeBalance,
    rollbackStale: settings.rollback.stale,
    keepsRequests: true,
    tipsUnknown: settings.tips.unknown,
    tipsUnknownMax: settings.tips.unknownMax,
    tombstonesMax: settings.tombstonesMax,
    openBetsMax: settings.openBetsMax,
    historyMax: settings.historyMax,
    retentionMs: settings.retention.transactions * DAY_MS,
    productsUnlisted: settings.products.unlisted,
    products: new Map(settings.products.list.map((product) => [product.id, product])),
  };
}
