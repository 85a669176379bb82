import { type Exact, plain } from '../json.js';
import { NONE } from '../words.js';
import type { Column } from './table.js';
import { Time, utcOf } from './time.js';

/** Operation of an operator on a player. */
export interface Operation {
  readonly type: string;
  readonly id?: string;
  readonly amount?: Exact;
  readonly balanceBefore?: Exact;
  readonly balanceAfter?: Exact;
  readonly reason?: string;
  readonly timeMillis: Exact;
  readonly by: { readonly name: string; readonly address: string } | null;
  /** Second operator, who approved or refused the operation. */
  readonly decidedBy?: { readonly name: string; readonly address: string };
}

export const OPERATION_COLUMNS: readonly Column<Operation>[] = [
  {
    title: 'When',
    text: ({ timeMillis }) => utcOf(plain(timeMillis)),
    show: ({ timeMillis }) => <Time ms={plain(timeMillis)} />,
  },
  { title: 'What', text: ({ type }) => type },
  { title: 'Amount', text: ({ amount }) => amount?.exact ?? NONE, isNumber: true },
  { title: 'Before', text: ({ balanceBefore }) => balanceBefore?.exact ?? NONE, isNumber: true },
  { title: 'After', text: ({ balanceAfter }) => balanceAfter?.exact ?? NONE, isNumber: true },
  {
    title: 'Who',
    text: ({ by }) => by?.name ?? 'not recorded',
    show: ({ by }) => <bdi>{by?.name ?? 'not recorded'}</bdi>,
  },
  { title: 'From', text: ({ by }) => by?.address ?? NONE },
  {
    title: 'Decided by',
    text: ({ decidedBy }) => decidedBy?.name ?? NONE,
    show: ({ decidedBy }) => <bdi>{decidedBy?.name ?? NONE}</bdi>,
  },
  {
    title: 'Why',
    text: ({ reason }) => reason ?? NONE,
    show: ({ reason }) => <bdi class="reason">{reason ?? NONE}</bdi>,
  },
  { title: 'Id', text: ({ id }) => id ?? NONE, show: ({ id }) => <bdi class="id">{id ?? NONE}</bdi> },
];
