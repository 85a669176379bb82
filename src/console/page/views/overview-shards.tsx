import { useMemo } from 'preact/hooks';
import type { ShardLine } from '../../../admin/console/overview.js';
import { type Column, Table } from '../parts/table.js';
import { count, duration, inWords, NONE } from '../words.js';

const OWNER: Column<ShardLine> = { title: 'Owner', text: ({ owner }) => owner ?? 'none' };
const mark = (title: string, name: keyof NonNullable<ShardLine['watermarks']>): Column<ShardLine> => ({
  title,
  text: ({ watermarks }) => (watermarks === null ? NONE : String(watermarks[name])),
  show: ({ watermarks }) => (watermarks === null ? NONE : count(watermarks[name])),
  isNumber: true,
});
const COLUMNS: readonly Column<ShardLine>[] = [
  { title: 'Shard', text: ({ shard }) => String(shard) },
  {
    title: 'State',
    text: ({ state }) => state,
    show: ({ state }) => <span class={`badge ${state}`}>{inWords(state)}</span>,
  },
  { title: 'Players', text: ({ players }) => count(players), isNumber: true },
  { title: 'Queued', text: ({ waiting }) => count(waiting), isNumber: true },
  mark('Applied', 'applied'),
  mark('Appended', 'appended'),
  mark('Durable', 'durable'),
  mark('Snapshot', 'snapshot'),
  {
    title: 'Snapshot age',
    text: ({ snapshotMs }) => (snapshotMs === null ? NONE : duration(Date.now() - snapshotMs)),
    isNumber: true,
  },
];

/** The table of the shards with their watermarks: applied >= appended >= durable >= snapshot. */
export function Shards({ shards, isCluster }: { readonly shards: readonly ShardLine[]; readonly isCluster: boolean }) {
  const columns = useMemo(() => {
    const [shard, state, ...others] = COLUMNS as [Column<ShardLine>, Column<ShardLine>, ...Column<ShardLine>[]];
    return isCluster ? [shard, state, OWNER, ...others] : COLUMNS;
  }, [isCluster]);
  return <Table caption="Shards" columns={columns} rows={shards} keyOf={({ shard }) => String(shard)} />;
}
