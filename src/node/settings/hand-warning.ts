import { operatorTokens } from '../../config/check-together.js';
import type { Settings } from '../../config/schema.js';

/** A warning about the rules for moving money by hand, with the remedy. */
export interface HandWarning {
  readonly code: string;
  readonly says: string;
  readonly todo: string;
}

/** Warnings about what a dishonest operator, or a thief of an operator's token, could do with the current settings. */
export function handWarnings(settings: Settings): readonly HandWarning[] {
  const { amountMaxima, dayMaxima, approveAbove } = settings.money.byHand;
  const warnings: HandWarning[] = [];
  if ([amountMaxima, dayMaxima, approveAbove].every((table) => Object.keys(table).length === 0)) {
    warnings.push({
      code: 'hand-unlimited',
      says: 'money by hand has no limit: one token can move any amount',
      todo: 'set money.byHand.amountMaxima and money.byHand.dayMaxima; see docs/money-by-hand.md',
    });
  }
  const operators = operatorTokens(settings).filter(({ role }) => role === 'operate').length;
  if (Object.keys(approveAbove).length > 0 && operators < 2) {
    warnings.push({
      code: 'hand-unapproved',
      says: `money by hand above money.byHand.approveAbove waits for another operator, but there ${operators === 1 ? 'is one' : 'is none with a name'}`,
      todo: 'give a second operator a token in admin.tokens, with the role operate; see docs/money-by-hand.md',
    });
  }
  return warnings;
}
