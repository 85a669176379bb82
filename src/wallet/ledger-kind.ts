/**
 * Reasons why money moves, in the order of printed ledgers. Every balance change has one kind, or two for a
 * single-state settle.
 */
export const LEDGER_KINDS = [
  'deposits',
  'withdrawals',
  'corrections',
  'stakes',
  'payouts',
  'adjustments',
  'refunds',
  'voids',
  'tips',
  'tip-refunds',
  'rewards',
  'movements',
  'rollbacks',
] as const;

export type LedgerKind = (typeof LEDGER_KINDS)[number];
