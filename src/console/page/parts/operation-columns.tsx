import { type Exact, plain } from '../json.js';
import { NONE } from '../words.js';
import { amountColumn } from './amount.js';
import type { Column } from './table.js';
import { Time, utcOf } from './time.js';

/** An operator action on a player. */
export interface Operation {
  readonly type: string;
  readonly id?: string;
  readonly amount?: Exact;
  readonly balanceBefore?: Exact;
  readonly balanceAfter?: Exact;
  readonly reason?: string;
  readonly timeMillis: Exact;
  readonly by: { readonly name: string; readonly address: string } | null;
  /** Second operator, who approved or rejected the operation. */
  readonly decidedBy?: { readonly name: string; readonly address: string };
}

/** Titles of the operation types. */
export const OPERATION_TITLES: Readonly<Record<string, string>> = {
  create: 'Created',
  import: 'Imported',
  deposit: 'Deposit',
  withdrawal: 'Withdrawal',
  correction: 'Correction',
  block: 'Blocked',
  unblock: 'Unblocked',
  request: 'Approval requested',
  refusal: 'Approval refused',
  expiry: 'Approval expired',
};

export const TIME_COLUMN: Column<Operation> = {
  title: 'Time',
  text: ({ timeMillis }) => utcOf(plain(timeMillis)),
  show: ({ timeMillis }) => <Time ms={plain(timeMillis)} />,
};

/** Columns of an operation, except its time. `currencyOf` returns the currency of the amounts. */
export function operationColumns<T extends Operation>(currencyOf: (row: T) => string): readonly Column<T>[] {
  return [
    {
      title: 'Operation',
      text: ({ type }) => type,
      show: ({ type }) => <span class="nowrap">{OPERATION_TITLES[type] ?? type}</span>,
    },
    amountColumn('Amount', ({ amount }) => amount, currencyOf),
    amountColumn('Balance before', ({ balanceBefore }) => balanceBefore, currencyOf),
    amountColumn('Balance after', ({ balanceAfter }) => balanceAfter, currencyOf),
    {
      title: 'Operator',
      text: ({ by }) => by?.name ?? 'not recorded',
      show: ({ by }) => <bdi>{by?.name ?? 'not recorded'}</bdi>,
    },
    { title: 'Address', text: ({ by }) => by?.address ?? NONE },
    {
      title: 'Decided by',
      text: ({ decidedBy }) => decidedBy?.name ?? NONE,
      show: ({ decidedBy }) => <bdi>{decidedBy?.name ?? NONE}</bdi>,
    },
    {
      title: 'Reason',
      text: ({ reason }) => reason ?? NONE,
      show: ({ reason }) => <bdi class="reason">{reason ?? NONE}</bdi>,
    },
    { title: 'ID', text: ({ id }) => id ?? NONE, show: ({ id }) => <bdi class="id">{id ?? NONE}</bdi> },
  ];
}
