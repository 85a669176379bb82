import { useState } from 'preact/hooks';
import type { ShardLine } from '../../../admin/console/overview.js';
import { post } from '../api.js';
import { type Exact, plain } from '../json.js';
import { useLive } from '../live.js';
import { Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { bytes, count, inWords, NONE } from '../words.js';
import { BackupState } from './backup.js';
import { KeptSnapshots } from './kept-snapshots.js';
import { Connection } from './overview.js';

interface Taken {
  readonly type: 'taken' | 'unchanged' | 'abandoned';
  readonly shard: Exact;
  readonly id?: string;
  readonly lsn?: string;
  readonly players?: Exact;
  readonly bytes?: Exact;
  readonly tookMs?: Exact;
  readonly reason?: string;
}

const NEWEST: readonly Column<ShardLine>[] = [
  { title: 'Shard', text: ({ shard }) => String(shard) },
  {
    title: 'Newest snapshot',
    text: ({ snapshotMs }) => (snapshotMs === null ? 'none' : utcOf(snapshotMs)),
    show: ({ snapshotMs }) => (snapshotMs === null ? 'none' : <Time ms={snapshotMs} />),
  },
  {
    title: 'Entries after it',
    text: ({ watermarks }) => (watermarks === null ? NONE : count(watermarks.durable - watermarks.snapshot)),
    isNumber: true,
  },
];
const shown = (value: Exact | undefined, how: (value: number) => string) =>
  value === undefined ? NONE : how(plain(value));
const TAKEN: readonly Column<Taken>[] = [
  { title: 'Shard', text: ({ shard }) => shard.exact },
  { title: 'Result', text: ({ type }) => type, show: ({ type }) => inWords(type) },
  { title: 'Players', text: ({ players }) => shown(players, count), isNumber: true },
  { title: 'Size', text: ({ bytes: size }) => shown(size, bytes), isNumber: true },
  { title: 'Duration', text: ({ tookMs }) => shown(tookMs, (ms) => `${ms} ms`), isNumber: true },
  { title: 'Contains up to', text: ({ lsn }) => lsn ?? NONE },
  { title: 'Reason', text: ({ reason }) => reason ?? NONE },
];

type Work = 'idle' | 'running' | readonly Taken[] | Error;

/** The newest snapshot of each shard, and a button that takes new snapshots. */
export function SnapshotsView({
  mayChange,
  onSignedOut,
}: {
  readonly mayChange: boolean;
  readonly onSignedOut: () => void;
}) {
  const live = useLive(onSignedOut);
  const [work, setWork] = useState<Work>('idle');
  const take = async () => {
    setWork('running');
    try {
      const { snapshots } = await post<{ snapshots: readonly Taken[] }>('/v1/snapshots');
      setWork(snapshots);
    } catch (error) {
      setWork(error as Error);
    }
  };
  const served = live.overview?.shards.filter(({ watermarks }) => watermarks !== null);
  return (
    <>
      <header class="title">
        <h1>Snapshots</h1>
        <Connection of={live} />
      </header>
      <p class="hint">
        At startup walletd loads the newest snapshot of each shard and replays the entries after it. Unchanged shards
        get no new snapshot.
      </p>
      {mayChange && (
        <div class="actions">
          <button type="button" class="main" disabled={work === 'running'} onClick={take}>
            {work === 'running' ? 'Taking snapshots…' : 'Take snapshots now'}
          </button>
        </div>
      )}
      {work instanceof Error && <Failed error={work} again={take} />}
      {work === 'running' && (
        <p class="note" role="status">
          Shards keep serving meanwhile. With millions of players this takes minutes; you can leave this page.
        </p>
      )}
      {Array.isArray(work) && (
        <Table
          caption="Taken just now"
          columns={TAKEN}
          rows={work as readonly Taken[]}
          keyOf={({ shard }) => shard.exact}
        />
      )}
      {served === undefined
        ? live.connection === 'waiting' && <Loading what="snapshots" />
        : served.length > 0 && (
            <div class="narrow">
              <Table
                caption="Newest snapshots on this node"
                columns={NEWEST}
                rows={served}
                keyOf={({ shard }) => String(shard)}
              />
            </div>
          )}
      <KeptSnapshots taken={work} />
      {live.overview && <BackupState backup={live.overview.backup} />}
    </>
  );
}
