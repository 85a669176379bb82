import { useEffect, useState } from 'preact/hooks';
import { CallError } from '../api.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { useGet } from '../use-call.js';
import { inWords, NONE } from '../words.js';
import { DrainDialog, MoveDialog } from './cluster-dialogs.js';
import { ClusterMoves } from './cluster-moves.js';
import type { Cluster, ClusterShard, Node } from './cluster-status.js';
import { ShardGrid } from './shard-grid.js';

type Open = { readonly type: 'drain'; readonly node: Node } | { readonly type: 'move'; readonly shard: ClusterShard };

const EVERY_MS = 2000;
const COLUMNS: readonly Column<Node>[] = [
  {
    title: 'Node',
    text: ({ name }) => name,
    show: ({ name, isThis }) => <bdi>{isThis ? `${name} (this node)` : name}</bdi>,
  },
  {
    title: 'State',
    text: ({ state }) => state,
    show: ({ state }) => <span class={`badge ${state}`}>{inWords(state)}</span>,
  },
  { title: 'Shards', text: ({ shards }) => shards.exact, isNumber: true },
  { title: 'Address', text: ({ host, port }) => `${host}:${port.exact}` },
  { title: 'Zone', text: ({ zone }) => zone || NONE },
  { title: 'Version', text: ({ version }) => version },
  { title: 'Connected', text: ({ isLinked }) => (isLinked ? 'Yes' : 'No') },
  { title: 'Memory', text: ({ isFull }) => (isFull ? 'Full' : 'Free') },
];

/** Nodes of the cluster and their shards. */
export function ClusterView({ mayChange }: { readonly mayChange: boolean }) {
  const { answer: cluster, error, isWaiting, again } = useGet<Cluster>(() => '/v1/cluster');
  const [open, setOpen] = useState<Open>();
  const isAlone = error instanceof CallError && error.status === 404;
  useEffect(() => {
    if (isAlone) return undefined;
    const timer = setInterval(() => !document.hidden && again(), EVERY_MS);
    return () => clearInterval(timer);
  }, [isAlone, again]);
  const close = () => {
    setOpen(undefined);
    again();
  };
  const columns: readonly Column<Node>[] = mayChange
    ? [
        ...COLUMNS,
        {
          title: 'Action',
          text: () => '',
          show: (node) =>
            (node.state === 'up' || node.state === 'draining') && (
              <button type="button" class="quiet" onClick={() => setOpen({ type: 'drain', node })}>
                {node.state === 'up' ? 'Drain' : 'Undrain'}
              </button>
            ),
        },
      ]
    : COLUMNS;
  return (
    <>
      <h1>Cluster</h1>
      {error && !isAlone && <Failed error={error} again={again} />}
      {isAlone && (
        <Empty>
          This node runs alone and has all shards. To form a cluster, set <code>cluster.port</code>.
        </Empty>
      )}
      {!cluster && !error && isWaiting && <Loading what="the cluster" />}
      {cluster && (
        <>
          {!cluster.seesTable && (
            <p class="note bad" role="alert">
              Node {cluster.name} cannot reach the membership registry. This is the last known state.
            </p>
          )}
          {cluster.plan && (
            <p class="hint">
              Current shard assignment: {cluster.plan.why}, by <bdi>{cluster.plan.by}</bdi>.
            </p>
          )}
          <Table
            caption="Nodes"
            columns={columns}
            rows={cluster.nodes}
            keyOf={({ name, host, port }) => `${name} ${host} ${port.exact}`}
          />
          <ShardGrid cluster={cluster} onMove={mayChange ? (shard) => setOpen({ type: 'move', shard }) : undefined} />
          <ClusterMoves newest={cluster.shards.map(({ owner }) => owner).join()} />
        </>
      )}
      {open?.type === 'drain' && <DrainDialog node={open.node} onClose={close} />}
      {open?.type === 'move' && cluster && <MoveDialog shard={open.shard} nodes={cluster.nodes} onClose={close} />}
    </>
  );
}
