import { useMemo } from 'preact/hooks';
import type { Moment, Overview } from '../../../admin/console/overview.js';
import { type Live, useLive } from '../live.js';
import { Chart } from '../parts/chart.js';
import { Loading } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { bytes, count, duration, millis, NONE } from '../words.js';
import { Rates } from './overview-rates.js';
import { Shards } from './overview-shards.js';

/** The state of this node, updated once a second. */
export function OverviewView({ onSignedOut }: { readonly onSignedOut: () => void }) {
  const live = useLive(onSignedOut);
  return (
    <>
      <header class="title">
        <h1>Overview{live.overview?.node && <small> {live.overview.node}</small>}</h1>
        <Connection of={live} />
      </header>
      {live.overview === undefined ? (
        live.connection === 'waiting' && <Loading what="the state of walletd" />
      ) : (
        <Figures overview={live.overview} hour={live.hour} isLost={live.connection === 'lost'} />
      )}
    </>
  );
}

export function Connection({ of: { connection } }: { readonly of: Live }) {
  if (connection === 'lost') {
    return (
      <p class="note bad" role="alert">
        walletd does not answer. The page shows the last known state and tries again every three seconds.
      </p>
    );
  }
  return (
    <p class={`pulse ${connection}`} role="status">
      {connection === 'live' ? 'Live' : 'Connecting…'}
    </p>
  );
}

interface FiguresProps {
  readonly overview: Overview;
  readonly hour: readonly Moment[];
  readonly isLost: boolean;
}

function Figures({ overview, hour, isLost }: FiguresProps) {
  const { callbacks, inFlight, connections, latencies, players, transactions, store, heaps } = overview;
  const rate = (isWanted: (result: string) => boolean) =>
    callbacks.reduce((sum, { result, perSecond }) => (isWanted(result) ? sum + perSecond : sum), 0);
  const whole = latencies.find(({ stage }) => stage === 'whole');
  const heap = heaps.reduce(
    (sum, { usedBytes, limitBytes }) => ({ used: sum.used + usedBytes, limit: sum.limit + limitBytes }),
    { used: 0, limit: 0 },
  );
  return (
    <div class={isLost ? 'stale' : undefined}>
      <Alerts overview={overview} />
      <section class="tiles" aria-label="Figures">
        <Tile name="Callbacks" value={overview.seconds === 0 ? NONE : `${count(rate(() => true))}/s`}>
          {count(rate((result) => result !== 'accepted'))}/s not accepted
        </Tile>
        <Tile name="Latency p99" value={millis(whole?.p99Ms ?? null)}>
          p50 {millis(whole?.p50Ms ?? null)}
        </Tile>
        <Tile name="In flight" value={count(inFlight)}>
          {count(connections)} {connections === 1 ? 'connection' : 'connections'}
        </Tile>
        <Tile name="Players" value={count(players)}>
          {count(transactions)} transactions in memory
        </Tile>
        <Tile name="Memory" value={bytes(overview.residentBytes)}>
          heap {bytes(heap.used)} of {bytes(heap.limit)}; records {bytes(overview.recordBytes.used)}
          {overview.archiveBytes > 0 && `; archive keys ${bytes(overview.archiveBytes)}`}
        </Tile>
        <Tile name="Store" value={store.isUp ? 'Up' : 'Down'}>
          {store.bytes !== null && `${bytes(store.bytes)}, ${bytes(store.freeBytes)} free; `}append p99{' '}
          {millis(store.appendP99Ms)}
          {overview.backup.state === 'seen' && `; backup ${duration(Date.now() - overview.backup.coveredMs)} old`}
        </Tile>
      </section>
      <Hour moments={hour} />
      <Rates callbacks={callbacks} latencies={latencies} />
      <Shards shards={overview.shards} isCluster={overview.node !== null} />
      <p class="foot">
        walletd {overview.version}, up for {duration(Date.now() - overview.startedMs)}, since{' '}
        <Time ms={overview.startedMs} />
        {overview.benchmarkMs !== null && (
          <>
            .{' '}
            <a href="/console/benchmark-report" download>
              Benchmarks of this machine
            </a>
            , measured <Time ms={overview.benchmarkMs} />
          </>
        )}
      </p>
    </div>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly children: preact.ComponentChildren;
}

function Tile({ name, value, children }: TileProps) {
  return (
    <div class="card tile">
      <h2>{name}</h2>
      <p class="figure">{value}</p>
      <p class="more">{children}</p>
    </div>
  );
}

function Alerts({ overview: { troubles } }: { readonly overview: Overview }) {
  if (troubles.length === 0) return <p class="note good">Nothing is wrong.</p>;
  return (
    <section aria-label="Alerts">
      {troubles.map(({ urgency, what, action }) => (
        <div
          key={what}
          class={`note ${urgency === 'now' ? 'bad' : 'warn'}`}
          role={urgency === 'now' ? 'alert' : undefined}
        >
          <p>
            <strong>{what}</strong> {action}
          </p>
        </div>
      ))}
    </section>
  );
}

const LEAST = 2;

function Hour({ moments }: { readonly moments: readonly Moment[] }) {
  const lines = useMemo(() => {
    const of = (key: 'accepted' | 'refused' | 'failed' | 'p50Ms' | 'p99Ms') => moments.map((one) => one[key]);
    return {
      seconds: moments.map(({ atMs }) => atMs / 1000),
      rates: [
        { label: 'accepted', colour: 'blue', values: of('accepted') },
        { label: 'refused', colour: 'amber', values: of('refused') },
        { label: 'errors', colour: 'red', values: of('failed') },
      ],
      latencies: [
        { label: 'p50', colour: 'blue', values: of('p50Ms') },
        { label: 'p99', colour: 'amber', values: of('p99Ms') },
      ],
    };
  }, [moments]);
  if (moments.length < LEAST) {
    return <p class="state">The charts of the last hour appear half a minute after the start. Reload the page then.</p>;
  }
  const last = moments.at(-1);
  return (
    <section class="charts" aria-label="The last hour">
      <Chart
        title="Callbacks per second, last hour"
        summary={`Callbacks per second in the last hour; latest:  ${count(last?.accepted ?? 0)} accepted, ${count(last?.refused ?? 0)} refused, ${count(last?.failed ?? 0)} errors.`}
        seconds={lines.seconds}
        lines={lines.rates}
      />
      <Chart
        title="Latency in ms, last hour"
        summary={`Latency in the last hour; latest p99 ${last?.p99Ms == null ? NONE : millis(last.p99Ms)}.`}
        seconds={lines.seconds}
        lines={lines.latencies}
      />
    </section>
  );
}
