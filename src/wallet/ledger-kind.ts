/** Why money moved, in the order of the printed books. Every move of a balance has one kind, or (single-state) two. */
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
