import type { Settings } from '../../config/schema.js';
import { AmountLimits, type ScaleTable } from '../../wallet/amount.js';

/** Largest single amounts that the settings allow. */
export function amountLimitsOf({ money }: Pick<Settings, 'money'>, scales: ScaleTable): AmountLimits {
  return new AmountLimits({ default: money.amountMax, byCurrency: money.amountMaxima }, scales);
}
