import { partOf } from '../api.js';
import { type Exact, plain } from '../json.js';
import { More } from '../parts/more.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { usePages } from '../use-pages.js';
import { NONE } from '../words.js';
import type { Player } from './players.js';

interface Operation {
  readonly type: string;
  readonly id?: string;
  readonly amount?: Exact;
  readonly balanceBefore?: Exact;
  readonly balanceAfter?: Exact;
  readonly reason?: string;
  readonly timeMillis: Exact;
  readonly by: { readonly name: string; readonly address: string } | null;
}

const COLUMNS: readonly Column<Operation>[] = [
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
    title: 'Why',
    text: ({ reason }) => reason ?? NONE,
    show: ({ reason }) => <bdi class="reason">{reason ?? NONE}</bdi>,
  },
  { title: 'Id', text: ({ id }) => id ?? NONE, show: ({ id }) => <bdi class="id">{id ?? NONE}</bdi> },
];

/** Who did what to the player, when, from where and why; newest first. */
export function PlayerOperations({ player: { username, currency } }: { readonly player: Player }) {
  const pages = usePages<Operation, { operations: readonly Operation[]; next: string | null }>(
    (cursor) => `/v1/players/${partOf(username)}/operations${cursor === null ? '' : `?before=${cursor}`}`,
    ({ operations }) => operations,
  );
  return (
    <>
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <Table
          caption={`Operations, in ${currency}`}
          columns={COLUMNS}
          rows={pages.items}
          keyOf={({ type, id, timeMillis }) => `${type} ${id ?? ''} ${timeMillis.exact}`}
        />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="operations" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>No operation is remembered of this player.</Empty>
      )}
      <More of={pages} />
    </>
  );
}
