import { useState } from 'preact/hooks';
import { plain } from '../json.js';
import { amountColumn } from '../parts/amount.js';
import { More } from '../parts/more.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { usePages } from '../use-pages.js';
import { inWords, NONE } from '../words.js';
import { type Approval, type ApprovalAction, ApprovalDialog } from './approval-dialog.js';

const PAGE = '100';

const COLUMNS: readonly Column<Approval>[] = [
  playerColumn,
  { title: 'Type', text: ({ type }) => type, show: ({ type }) => inWords(type) },
  amountColumn(
    'Amount',
    ({ amount }) => amount,
    ({ currency }) => currency,
  ),
  { title: 'Currency', text: ({ currency }) => currency },
  {
    title: 'Requested by',
    text: ({ by }) => by?.name ?? NONE,
    show: ({ by }) => <bdi>{by?.name ?? NONE}</bdi>,
  },
  {
    title: 'Reason',
    text: ({ reason }) => reason ?? NONE,
    show: ({ reason }) => <bdi class="reason">{reason ?? NONE}</bdi>,
  },
];

const TIMES: readonly Column<Approval>[] = [
  {
    title: 'Requested',
    text: ({ requestedMillis }) => utcOf(plain(requestedMillis)),
    show: ({ requestedMillis }) => <Time ms={plain(requestedMillis)} />,
  },
  {
    title: 'Expires',
    text: ({ expiresMillis }) => utcOf(plain(expiresMillis)),
    show: ({ expiresMillis }) => <Time ms={plain(expiresMillis)} />,
  },
];

/** Pending approvals of all players, with buttons for operators who may decide. `name` is the visitor's name. */
export function ApprovalsView({ name, mayChange }: { readonly name: string; readonly mayChange: boolean }) {
  const [open, setOpen] = useState<{ readonly action: ApprovalAction; readonly approval: Approval }>();
  const pages = usePages<Approval, { approvals: readonly Approval[]; next: string | null }>(
    (cursor) => `/v1/approvals?${new URLSearchParams({ limit: PAGE, ...(cursor !== null && { before: cursor }) })}`,
    ({ approvals }) => approvals,
  );
  const close = () => {
    setOpen(undefined);
    pages.again();
  };
  const decide: Column<Approval> = {
    title: 'Decision',
    text: () => '',
    show: (approval) => (
      <span class="nowrap">
        {approval.by?.name !== name && (
          <button type="button" onClick={() => setOpen({ action: 'approve', approval })}>
            Approve
          </button>
        )}{' '}
        <button type="button" class="quiet" onClick={() => setOpen({ action: 'refuse', approval })}>
          {approval.by?.name === name ? 'Cancel request' : 'Refuse'}
        </button>
      </span>
    ),
  };
  return (
    <>
      <header class="title">
        <h1>Approvals</h1>
        <button type="button" class="quiet" onClick={pages.again}>
          Refresh
        </button>
      </header>
      <p class="hint">
        Money by hand above <code>money.byHand.approveAbove</code> waits until a second operator approves it.
      </p>
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <Table
          caption="Waiting for approval"
          columns={mayChange ? [...COLUMNS, decide, ...TIMES] : [...COLUMNS, ...TIMES]}
          rows={pages.items}
          keyOf={({ id }) => id}
        />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="approvals" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>No requests are waiting for approval.</Empty>
      )}
      <More of={pages} />
      {open && <ApprovalDialog {...open} onClose={close} />}
    </>
  );
}
