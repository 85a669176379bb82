import { DAY_MS } from '../../base/time.js';
import type { Settings } from '../../config/schema.js';
import { DECISIONS_OF_TODAY, type StoreMeta, UNKNOWN_TIPS_OF_TODAY } from '../../store/meta.js';
import { ScaleTable } from '../../wallet/amount.js';
import type { Rules } from '../../wallet/decide/rules.js';
import { unitsOfWhole } from '../../wallet/hand-limits.js';

/** Properties of a store that affect decisions. If they are missing, the current defaults are used. */
export type RuleMeta = Pick<StoreMeta, 'unknownTips' | 'decisions'> & Partial<Pick<StoreMeta, 'scales'>>;
const TODAY: RuleMeta = { unknownTips: UNKNOWN_TIPS_OF_TODAY, decisions: DECISIONS_OF_TODAY };
const SCALES_OF_TODAY = { default: 4, byCurrency: {} };
const HOUR_MS = 3_600_000;

/** Settings that affect decisions. */
export type RuleSettings = Pick<
  Settings,
  | 'decisions'
  | 'duplicates'
  | 'money'
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

/** The decisions version that is in force. An older store keeps its version unless the setting overrides it. */
export function decisionsOf({ decisions }: Pick<Settings, 'decisions'>, meta: Pick<StoreMeta, 'decisions'>): number {
  return decisions.version ?? meta.decisions ?? 1;
}

/** True if callbacks must contain even the fields that do not affect any decision. */
export function isStrict(
  settings: Pick<Settings, 'callbacks' | 'decisions'>,
  meta: Pick<StoreMeta, 'decisions'>,
): boolean {
  return settings.callbacks.strict ?? decisionsOf(settings, meta) < 2;
}

/**
 * True if the answer to a malformed callback includes the reason. For an older store, the answer has only four fields.
 */
export function includesReason(
  settings: Pick<Settings, 'callbacks' | 'decisions'>,
  meta: Pick<StoreMeta, 'decisions'>,
): boolean {
  return settings.callbacks.reason ?? decisionsOf(settings, meta) >= 2;
}

export function rulesOf(settings: RuleSettings, meta: RuleMeta = TODAY): Rules {
  const { unknownTips, scales = SCALES_OF_TODAY } = meta;
  const isOfToday = decisionsOf(settings, meta) >= 2;
  const { approveAbove, approvalHours } = settings.money.byHand;
  const table = new ScaleTable(scales);
  const units = Object.entries(approveAbove).map(([currency, whole]) => [
    currency,
    unitsOfWhole(whole, table.of(currency)),
  ]);
  return {
    duplicates: settings.duplicates,
    roundEnded: settings.round.ended,
    voidAmounts: settings.void.amounts,
    voidAllowNegativeBalance: settings.void.allowNegativeBalance,
    rollbackAllowNegativeBalance: settings.rollback.allowNegativeBalance,
    rollbackStale: settings.rollback.stale,
    keepsRequests: true,
    remembersMessages: true,
    // A store that predates placeTips keeps its behavior.
    tipsUnknown: settings.tips.unknown ?? unknownTips ?? 'credit',
    cancelStopsSingleState: isOfToday,
    confirmsOtherStake: isOfToday,
    tipsUnknownMax: settings.tips.unknownMax,
    tombstonesMax: settings.tombstonesMax,
    openBetsMax: settings.openBetsMax,
    historyMax: settings.historyMax,
    retentionMs: settings.retention.transactions * DAY_MS,
    approvalAbove: Object.fromEntries(units),
    approvalMs: approvalHours * HOUR_MS,
    sessionToken: settings.sessionToken,
    productsUnlisted: settings.products.unlisted,
    products: new Map(settings.products.list.map((product) => [product.id, product])),
  };
}
