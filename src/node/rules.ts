import { DAY_MS } from '../base/time.js';
import type { Settings } from '../config/schema.js';
import { type StoreMeta, UNKNOWN_TIPS_OF_TODAY } from '../store/meta.js';
import type { Rules } from '../wallet/decide/rules.js';

/** What of a store shapes decisions: those of today where it is not given. */
export type RuleMeta = Pick<StoreMeta, 'unknownTips'>;
const TODAY: RuleMeta = { unknownTips: UNKNOWN_TIPS_OF_TODAY };

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
  | 'sessionToken'
  | 'products'
>;

export function rulesOf(settings: RuleSettings, { unknownTips }: RuleMeta = TODAY): Rules {
  return {
    duplicates: settings.duplicates,
    roundEnded: settings.round.ended,
    voidAmounts: settings.void.amounts,
    voidAllowNegativeBalance: settings.void.allowNegativeBalance,
    rollbackAllowNegativeBalance: settings.rollback.allowNegativeBalance,
    rollbackStale: settings.rollback.stale,
    keepsRequests: true,
    remembersMessages: true,
    // A store from before there were tips to place goes on as it did.
    tipsUnknown: settings.tips.unknown ?? unknownTips ?? 'credit',
    tipsUnknownMax: settings.tips.unknownMax,
    tombstonesMax: settings.tombstonesMax,
    openBetsMax: settings.openBetsMax,
    historyMax: settings.historyMax,
    retentionMs: settings.retention.transactions * DAY_MS,
    sessionToken: settings.sessionToken,
    productsUnlisted: settings.products.unlisted,
    products: new Map(settings.products.list.map((product) => [product.id, product])),
  };
}
