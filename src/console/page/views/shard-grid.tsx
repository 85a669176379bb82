import { type Column, Table } from '../parts/table.js';
import { NONE } from '../words.js';
import type { Cluster, ClusterShard } from './cluster-status.js';

interface Props {
  readonly cluster: Cluster;
  /** Undefined if the visitor may not move shards. */
  readonly onMove: ((shard: ClusterShard) => void) | undefined;
}

/** Number of clearly distinct colours. With more nodes, colours repeat, and the legend shows the names. */
const COLOURS = 6;

const COLUMNS: readonly Column<ClusterShard>[] = [
  { title: 'Shard', text: ({ shard }) => shard.exact },
  {
    title: 'Owner',
    text: ({ owner }) => owner ?? 'none',
    show: ({ owner }) => <bdi class="nowrap">{owner ?? 'none'}</bdi>,
  },
  {
    title: 'Assigned',
    text: ({ planned }) => planned ?? 'none',
    show: ({ planned }) => <bdi class="nowrap">{planned ?? 'none'}</bdi>,
  },
  { title: 'Followers', text: ({ followers }) => (followers.length === 0 ? 'none' : followers.join(', ')) },
  { title: 'Newest entry', text: ({ lsn }) => lsn ?? NONE },
];

/** Grid of the shards, coloured by owner, and a table of the same shards. */
export function ShardGrid({ cluster: { shards, nodes }, onMove }: Props) {
  const colourOf = (owner: string | null) => {
    const index = nodes.findIndex(({ name }) => name === owner);
    return index === -1 ? 'nobody' : `owner-${index % COLOURS}`;
  };
  return (
    <>
      <section class="card" aria-label="Shards by owner">
        <p class="legend">
          {nodes.map(({ name }) => (
            <span key={name}>
              <i class={`swatch ${colourOf(name)}`} aria-hidden="true" />
              <bdi>{name}</bdi>
            </span>
          ))}
          <span>
            <i class="swatch nobody" aria-hidden="true" />
            no owner
          </span>
        </p>
        <ul class="grid">
          {shards.map((one) => {
            const { shard, owner, planned, followers } = one;
            const label = `Shard ${shard.exact}: owner ${owner ?? 'none'}${planned === owner ? '' : `, moving to ${planned ?? 'no node'}`}, followers ${followers.join(', ') || 'none'}`;
            const look = `cell ${colourOf(owner)}${planned === owner ? '' : ' moving'}`;
            return (
              <li key={shard.exact}>
                {onMove === undefined ? (
                  <span class={look} title={label}>
                    {shard.exact}
                  </span>
                ) : (
                  <button
                    type="button"
                    class={look}
                    title={`${label}. Move`}
                    aria-label={`${label}. Move`}
                    onClick={() => onMove(one)}
                  >
                    {shard.exact}
                  </button>
                )}
              </li>
            );
          })}
        </ul>
      </section>
      <Table caption="Shards" columns={COLUMNS} rows={shards} keyOf={({ shard }) => shard.exact} />
    </>
  );
}
