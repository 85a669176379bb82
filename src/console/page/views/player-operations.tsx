import { partOf } from '../api.js';
import { More } from '../parts/more.js';
import { type Operation, operationColumns, TIME_COLUMN } from '../parts/operation-columns.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { usePages } from '../use-pages.js';
import type { Player } from './players.js';

/** Operator actions on a player, newest first, with operator, time, address and reason. */
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
          caption={`Operations in ${currency}`}
          columns={[TIME_COLUMN, ...operationColumns<Operation>(() => currency)]}
          rows={pages.items}
          keyOf={({ type, id, timeMillis }) => `${type} ${id ?? ''} ${timeMillis.exact}`}
        />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="operations" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>No operations on this player within the retention period.</Empty>
      )}
      <More of={pages} />
    </>
  );
}
