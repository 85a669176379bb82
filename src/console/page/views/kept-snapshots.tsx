import { useEffect } from 'preact/hooks';
import { type Exact, plain } from '../json.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { useGet } from '../use-call.js';
import { bytes, count, NONE } from '../words.js';

interface Kept {
  readonly shard: Exact;
  readonly id: string;
  readonly state: 'whole' | 'damaged' | 'unfinished';
  readonly reason?: string;
  readonly start?: string;
  readonly end?: string;
  readonly timeMillis?: Exact;
  readonly players?: Exact;
  readonly bytes?: Exact;
}

const STATES: Readonly<Record<Kept['state'], string>> = {
  whole: 'Complete',
  damaged: 'Damaged',
  unfinished: 'Unfinished',
};
const shown = (value: Exact | undefined, how: (value: number) => string) =>
  value === undefined ? NONE : how(plain(value));
const COLUMNS: readonly Column<Kept>[] = [
  { title: 'Shard', text: ({ shard }) => shard.exact },
  {
    title: 'Taken',
    text: ({ timeMillis }) => shown(timeMillis, utcOf),
    show: ({ timeMillis }) => (timeMillis === undefined ? NONE : <Time ms={plain(timeMillis)} />),
  },
  {
    title: 'State',
    text: ({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`),
    show: ({ state, reason }) => (
      <>
        <span class={`badge ${state}`}>{STATES[state]}</span> {reason}
      </>
    ),
  },
  { title: 'Players', text: ({ players }) => shown(players, count), isNumber: true },
  { title: 'Size', text: (one) => shown(one.bytes, bytes), isNumber: true },
  { title: 'Replay starts after', text: ({ start }) => start ?? NONE },
  { title: 'Contains up to', text: ({ end }) => end ?? NONE },
  { title: 'ID', text: ({ id }) => id, show: ({ id }) => <span class="id">{id}</span> },
];

/** All snapshots in the store. `taken` changes when there may be new ones. */
export function KeptSnapshots({ taken }: { readonly taken: unknown }) {
  const { answer, error, isWaiting, again } = useGet<{ snapshots: readonly Kept[] }>(() => '/v1/snapshots');
  useEffect(() => {
    if (answer !== undefined) again();
  }, [taken]);
  if (error) return <Failed error={error} again={again} />;
  if (answer === undefined) return isWaiting ? <Loading what="the snapshots in the store" /> : null;
  if (answer.snapshots.length === 0) return <Empty>No snapshots yet.</Empty>;
  return (
    <Table
      caption="Snapshots in the store"
      columns={COLUMNS}
      rows={answer.snapshots}
      keyOf={({ shard, id }) => `${shard.exact} ${id}`}
    />
  );
}
