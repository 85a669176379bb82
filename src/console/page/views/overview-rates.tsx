import type { CallbackRate, Latency } from '../../../admin/console/overview.js';
import { Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { count, millis } from '../words.js';

const RATES: readonly Column<CallbackRate>[] = [
  { title: 'Endpoint', text: ({ endpoint }) => endpoint },
  { title: 'Result', text: ({ result }) => result },
  { title: 'Per second', text: ({ perSecond }) => count(perSecond), isNumber: true },
];
const STAGES: Readonly<Record<Latency['stage'], string>> = {
  whole: 'Whole callback',
  queue: 'Queue: waiting for its turn',
  decide: 'Decide: computing the answer',
  durable: 'Durable: writing to the store',
  reply: 'Reply: sending the answer',
};
const LATENCIES: readonly Column<Latency>[] = [
  { title: 'Stage', text: ({ stage }) => STAGES[stage] },
  { title: 'p50', text: ({ p50Ms }) => millis(p50Ms), isNumber: true },
  { title: 'p99', text: ({ p99Ms }) => millis(p99Ms), isNumber: true },
];

/** Rate and latency of the callbacks that were answered in the last second. */
export function Rates({ callbacks, latencies }: { callbacks: readonly CallbackRate[]; latencies: readonly Latency[] }) {
  return (
    <div class="side">
      {callbacks.length === 0 ? (
        <section class="table">
          <header>
            <h2>Callbacks</h2>
          </header>
          <Empty>No callbacks in the last second.</Empty>
        </section>
      ) : (
        <Table
          caption="Callbacks"
          columns={RATES}
          rows={callbacks}
          keyOf={({ endpoint, result }) => `${endpoint} ${result}`}
        />
      )}
      <Table caption="Latency" columns={LATENCIES} rows={latencies} keyOf={({ stage }) => stage} />
    </div>
  );
}
