import type { Settings } from '../config/schema.js';

/** Something about money by hand that its owner should know, and the cure. */
export interface HandConcern {
  readonly says: string;
  readonly todo: string;
}

/** What the settings leave open to an operator, or to a stranger with the token of one. Empty: nothing. */
export function handConcerns({ money: { byHand } }: Pick<Settings, 'money'>): readonly HandConcern[] {
  const { amountMaxima, dayMaxima } = byHand;
  if (Object.keys(amountMaxima).length + Object.keys(dayMaxima).length > 0) return [];
  return [
    {
      says: 'money by hand has no limit: one token can move any amount',
      todo: 'set money.byHand.amountMaxima and money.byHand.dayMaxima; see docs/money-by-hand.md',
    },
  ];
}
