import { COMPARE_COLUMNS, type CompareReport, compareRows } from '../compare/compare.js';
import type { LoadResult } from '../load/generator.js';
import type { LoadReport } from '../load/load.js';
import { RACED_COLUMNS, racedRow } from '../load/race-table.js';
import { medianOf, type Raced } from '../load/raced.js';
import { MEMORY_COLUMNS, type MemoryReport, memoryRows } from '../memory/memory.js';
import { MICRO_COLUMNS, type MicroReport, microRows } from '../micro/micro.js';
import { OVERLOAD_COLUMNS, type OverloadReport, overloadRows, overloadSentences } from '../overload/overload.js';
import { HISTORY_COLUMNS, type History, historyRows, type RecoveryReport } from '../recovery/recovery.js';
import type { ScaleReport } from '../scale/scale.js';
import type { Environment } from '../support/environment.js';
import { describeWorkers } from '../support/servers.js';
import { type Axis, barChart, lineChart, type Series } from './chart.js';
import { chapter, figure, page, paragraph, table } from './page.js';
import type { Results } from './results.js';

const PERCENTILES: readonly (readonly [string, (result: LoadResult) => number])[] = [
  ['p50', (result) => result.p50Ms],
  ['p99', (result) => result.p99Ms],
  ['p99.9', (result) => result.p999Ms],
];

const THROUGHPUT: Axis = { label: 'callbacks/s' };

/** What was measured as a page of plots and tables. What was not measured has no chapter. */
export function reportOf(results: Results): string {
  const { environment, load, openLoad, peers, recovery, scale, overload, cost, memory, micro, compare } = results;
  return page(
    'walletd: how fast, on this machine',
    [
      environmentTable(environment),
      load && loadChapter(load),
      openLoad && openLoadChapter(openLoad),
      peers && peersChapter(peers),
      cost && costChapter(cost),
      overload && overloadChapter(overload),
      scale && scaleChapter(scale),
      recovery && recoveryChapter(recovery),
      memory && memoryChapter(memory),
      micro && microChapter(micro),
      compare && compareChapter(compare),
    ].filter((part) => part !== undefined),
  );
}

function environmentTable({ versions, fsync, ...others }: Environment): string {
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const rows = [...Object.entries(others), ['versions', names.join(', ')], ['one fsync', fsync]];
  return table(['', ''], rows);
}

function loadChapter({ durability, raced }: LoadReport): string {
  return chapter(
    'Throughput',
    paragraph(`Each connection sends when its last answer has come. ${durabilityOf(durability)}`),
    figure(
      'Throughput by connections',
      throughputBy('connections', raced, ({ load }) => load.connections),
    ),
    racedTable(raced),
  );
}

function openLoadChapter({ durability, raced }: LoadReport): string {
  const rate: Axis = { label: 'offered requests/s' };
  const plots = serversOf(raced).map((server) => {
    const own = raced.filter((one) => one.server === server);
    const series = PERCENTILES.map(([name, pick]) => seriesOf(name, own, ({ load }) => load.rate ?? 0, pick));
    return figure(`Latency by offered rate: ${server}`, lineChart(rate, { label: 'ms', isLog: true }, series));
  });
  return chapter(
    'Latency',
    paragraph(`Requests are due by the clock, and latency counts from then. ${durabilityOf(durability)}`),
    ...plots,
    racedTable(raced),
  );
}

function peersChapter({ durability, raced }: LoadReport): string {
  const bars = (pick: (result: LoadResult) => number) => raced.map((one) => [one.server, medianOf(one, pick)] as const);
  return chapter(
    'Beside others',
    paragraph(`Pairs of placeBets and settleBets, the same for all. ${durabilityOf(durability)}`),
    figure(
      'Throughput',
      barChart(
        '/s',
        bars((result) => result.perSecond),
      ),
    ),
    figure(
      'Latency of 99 in 100',
      barChart(
        'ms',
        bars((result) => result.p99Ms),
      ),
    ),
    racedTable(raced),
  );
}

function costChapter({ durability, raced }: LoadReport): string {
  const text = 'One server as it comes, and others with one thing more to do.';
  return chapter('What it costs', paragraph(`${text} ${durabilityOf(durability)}`), racedTable(raced));
}

function overloadChapter(report: OverloadReport): string {
  const { durability, times, connections } = report;
  return chapter(
    'More than can be answered',
    paragraph(`${times} times the capacity is offered over ${connections} connections. ${durabilityOf(durability)}`),
    table(OVERLOAD_COLUMNS, overloadRows(report)),
    ...overloadSentences(report).map(paragraph),
  );
}

function scaleChapter({ durability, byWorkers, byPlayers, loneAnswers, memory }: ScaleReport): string {
  const workers = byWorkers.map((one) => [one.server, medianOf(one, (result) => result.perSecond)] as const);
  const all = byPlayers.map((one) => ({ ...one, server: 'walletd inline' }));
  return chapter(
    'Threads and players',
    paragraph(durabilityOf(durability)),
    figure('Throughput by workers', barChart('/s', workers)),
    racedTable(byWorkers),
    figure(
      'Throughput by players',
      throughputBy('players', all, ({ load }) => load.players),
    ),
    racedTable(byPlayers),
    figure(
      'A lone answer that nothing has to become durable for',
      barChart(
        'us',
        loneAnswers.map(({ server, us }) => [server, us]),
      ),
    ),
    paragraph('What it takes longer with a worker is the way to its thread and back.'),
    table(MEMORY_COLUMNS, memoryRows(memory)),
  );
}

function recoveryChapter({ durability, histories, raced }: RecoveryReport): string {
  const line = (name: string, pick: (one: History) => number): Series => ({
    name,
    points: histories.map((one) => [one.events, pick(one) / 1000]),
  });
  const starts = (histories[0]?.fromLog ?? []).flatMap(({ workers }, i) => [
    line(`from the log, ${describeWorkers(workers)}`, ({ fromLog }) => fromLog[i]?.readyMs ?? 0),
    line(`from snapshots, ${describeWorkers(workers)}`, ({ fromSnapshots }) => fromSnapshots[i]?.readyMs ?? 0),
  ]);
  const series = [...starts, line('only reading and decoding the log', ({ decodeMs }) => decodeMs)];
  return chapter(
    'Recovery',
    paragraph(durabilityOf(durability)),
    figure('Time of a start by length of history', lineChart({ label: 'events' }, { label: 's' }, series)),
    table(HISTORY_COLUMNS, historyRows(histories)),
    figure(
      'Latency of 99 in 100 callbacks while snapshots are taken',
      barChart(
        'ms',
        raced.map((one) => [one.server, medianOf(one, (result) => result.p99Ms)]),
      ),
    ),
    racedTable(raced),
  );
}

function memoryChapter(memory: MemoryReport): string {
  return chapter('Memory', table(MEMORY_COLUMNS, memoryRows(memory)));
}

function microChapter(micro: MicroReport): string {
  return chapter(
    'Hot functions',
    paragraph('In one process, on inputs that stay warm; ratio: beside the last line of the group.'),
    table(MICRO_COLUMNS, micro.flatMap(microRows)),
  );
}

function compareChapter(report: CompareReport): string {
  const { durability, ref, rounds } = report;
  return chapter(
    `The working tree beside ${ref}`,
    paragraph(`${rounds.length} rounds in alternation, in fresh processes. ${durabilityOf(durability)}`),
    table(COMPARE_COLUMNS, compareRows(report)),
  );
}

function durabilityOf(durability: string): string {
  return `Durability: ${durability}; the echo, where there is one, stores nothing. Of several rounds the medians.`;
}

function throughputBy(label: string, raced: readonly Raced[], x: (one: Raced) => number): string {
  const series = serversOf(raced).map((server) =>
    seriesOf(
      server,
      raced.filter((one) => one.server === server),
      x,
      (result) => result.perSecond,
    ),
  );
  return lineChart({ label, isLog: true }, THROUGHPUT, series);
}

function seriesOf(
  name: string,
  raced: readonly Raced[],
  x: (one: Raced) => number,
  y: (result: LoadResult) => number,
): Series {
  return { name, points: raced.map((one) => [x(one), medianOf(one, y)]) };
}

function serversOf(raced: readonly Raced[]): string[] {
  return [...new Set(raced.map(({ server }) => server))];
}

function racedTable(raced: readonly Raced[]): string {
  return table(
    RACED_COLUMNS,
    raced.map((one) => racedRow(one, raced)),
  );
}
