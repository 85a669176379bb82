import { useState } from 'preact/hooks';
import { plain } from '../json.js';
import { More } from '../parts/more.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { usePages } from '../use-pages.js';
import { NONE } from '../words.js';
import { type Approval, ApprovalDialog, type Verb } from './approval-dialog.js';

const PAGE = '100';

const COLUMNS: readonly Column<Approval>[] = [
  playerColumn,
  { title: 'What', text: ({ type }) => type },
  { title: 'Amount', text: ({ amount }) => amount.exact, isNumber: true },
  { title: 'Currency', text: ({ currency }) => currency },
  {
    title: 'Asked by',
    text: ({ by }) => by?.name ?? NONE,
    show: ({ by }) => <bdi>{by?.name ?? NONE}</bdi>,
  },
  {
    title: 'Why',
    text: ({ reason }) => reason ?? NONE,
    show: ({ reason }) => <bdi class="reason">{reason ?? NONE}</bdi>,
  },
  {
    title: 'Asked',
    text: ({ requestedMillis }) => utcOf(plain(requestedMillis)),
    show: ({ requestedMillis }) => <Time ms={plain(requestedMillis)} />,
  },
  {
    title: 'Until',
    text: ({ expiresMillis }) => utcOf(plain(expiresMillis)),
    show: ({ expiresMillis }) => <Time ms={plain(expiresMillis)} />,
  },
];

/**
 * Requests of all players that wait for an approval, with buttons for operators who may decide. `name` is that of the
 * visitor.
 */
export function ApprovalsView({ name, mayChange }: { readonly name: string; readonly mayChange: boolean }) {
  const [open, setOpen] = useState<{ readonly verb: Verb; readonly approval: Approval }>();
  const pages = usePages<Approval, { approvals: readonly Approval[]; next: string | null }>(
    (cursor) => `/v1/approvals?${new URLSearchParams({ limit: PAGE, ...(cursor !== null && { before: cursor }) })}`,
    ({ approvals }) => approvals,
  );
  const close = () => {
    setOpen(undefined);
    pages.again();
  };
  const decide: Column<Approval> = {
    title: 'Decide',
    text: () => '',
    show: (approval) => (
      <>
        {approval.by?.name !== name && (
          <button type="button" onClick={() => setOpen({ verb: 'approve', approval })}>
            Approve
          </button>
        )}{' '}
        <button type="button" class="quiet" onClick={() => setOpen({ verb: 'refuse', approval })}>
          {approval.by?.name === name ? 'Take back' : 'Refuse'}
        </button>
      </>
    ),
  };
  return (
    <>
      <header class="title">
        <h1>Approvals</h1>
        <button type="button" class="quiet" onClick={pages.again}>
          Read again
        </button>
      </header>
      <p class="hint">
        Money by hand above money.byHand.approveAbove, which waits until another operator than the one who asked
        approves.
      </p>
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <Table
          caption="Waiting"
          columns={mayChange ? [...COLUMNS, decide] : COLUMNS}
          rows={pages.items}
          keyOf={({ id }) => id}
        />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="approvals" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && <Empty>Nothing waits for an approval.</Empty>}
      <More of={pages} />
      {open && <ApprovalDialog {...open} onClose={close} />}
    </>
  );
}
