import { useEffect } from 'preact/hooks';
import { type Exact, plain } from '../json.js';
import { Empty, Failed } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { useGet } from '../use-call.js';
import { millis, NONE } from '../words.js';

interface Move {
  readonly shard: Exact;
  readonly from: string | null;
  readonly to: string;
  readonly epoch: Exact;
  readonly timeMillis: Exact;
  readonly tookMs: Exact | null;
  readonly why: string | null;
  readonly by: string | null;
}

const COLUMNS: readonly Column<Move>[] = [
  {
    title: 'Time',
    text: ({ timeMillis }) => utcOf(plain(timeMillis)),
    show: ({ timeMillis }) => <Time ms={plain(timeMillis)} />,
  },
  { title: 'Shard', text: ({ shard }) => shard.exact, isNumber: true },
  {
    title: 'From',
    text: ({ from }) => from ?? NONE,
    show: ({ from }) => <bdi class="nowrap">{from ?? NONE}</bdi>,
  },
  { title: 'To', text: ({ to }) => to, show: ({ to }) => <bdi class="nowrap">{to}</bdi> },
  { title: 'Duration', text: ({ tookMs }) => (tookMs === null ? NONE : millis(plain(tookMs))), isNumber: true },
  { title: 'Reason', text: ({ why }) => why ?? 'unknown', show: ({ why }) => <bdi>{why ?? 'unknown'}</bdi> },
  { title: 'Planned by', text: ({ by }) => by ?? NONE, show: ({ by }) => <bdi>{by ?? NONE}</bdi> },
  { title: 'Epoch', text: ({ epoch }) => epoch.exact, isNumber: true },
];

/** Shards that moved between nodes. `newest` changes when there may be new moves. */
export function ClusterMoves({ newest }: { readonly newest: string }) {
  const { answer, error, again } = useGet<{ moves: readonly Move[] }>(() => '/v1/cluster/moves');
  useEffect(() => {
    if (answer !== undefined) again();
  }, [newest]);
  if (error) return <Failed error={error} again={again} />;
  if (answer === undefined) return null;
  return (
    <>
      {answer.moves.length === 0 ? (
        <Empty>No shard has moved since this node joined.</Empty>
      ) : (
        <Table
          caption="Moves"
          columns={COLUMNS}
          rows={answer.moves}
          keyOf={({ shard, epoch }) => `${shard.exact} ${epoch.exact}`}
        />
      )}
      <p class="hint">
        The newest 500 moves that this node has seen since it joined, timed from the assignment to the takeover. Other
        nodes may have seen more.
      </p>
    </>
  );
}
