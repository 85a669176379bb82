import type { ClusterReport } from '../cluster/cluster.js';
import { FIGURE_COLUMNS, figureRow, isReached } from '../cluster/figure.js';
import { COLD_COLUMNS, type ColdReport, coldRows } from '../cold/cold.js';
import { COMPARE_COLUMNS, type CompareReport, compareRows } from '../compare/compare.js';
import type { CostReport } from '../cost/cost.js';
import { TURNS_COLUMNS, turnsRows } from '../cost/turns.js';
import type { LoadReport } from '../load/load.js';
import { populationSentences } from '../load/populations.js';
import { collectionSentences, racedFigures, VITALS_COLUMNS, vitalsRow } from '../load/race-table.js';
import { longestOf, medianOf, type Raced } from '../load/raced.js';
import { MEMORY_COLUMNS, type MemoryReport, memoryRows } from '../memory/memory.js';
import { MICRO_COLUMNS, type MicroReport, microRows } from '../micro/micro.js';
import { OVERLOAD_COLUMNS, type OverloadReport, overloadRows, overloadSentences } from '../overload/overload.js';
import { HISTORY_COLUMNS, type History, historyRows, type RecoveryReport } from '../recovery/recovery.js';
import type { ScaleReport } from '../scale/scale.js';
import { type Minute, SOAK_COLUMNS, type SoakReport, soakRow, soakSentences } from '../soak/soak.js';
import type { Environment } from '../support/environment.js';
import { median } from '../support/machine.js';
import { describeWorkers } from '../support/servers.js';
import { type Axis, barChart, lineChart, type Series, short } from './chart.js';
import { chapter, facts, figure, list, page, paragraph, table } from './page.js';
import type { Results } from './results.js';
import { barsVerdict, latencyVerdict, throughputVerdict } from './verdicts.js';

const THROUGHPUT: Axis = { label: 'callbacks/s' };

/** Renders the results as a page of plots and tables. Benches without results get no chapter. */
export function reportOf(results: Results): string {
  const { environment, load, openLoad, peers, recovery, scale, overload, cost, memory, soak, micro, compare } = results;
  const { cluster, cold } = results;
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
      cold && coldChapter(cold),
      cluster && clusterChapter(cluster),
      memory && memoryChapter(memory),
      soak && soakChapter(soak),
      micro && microChapter(micro),
      compare && compareChapter(compare),
    ].filter((part) => part !== undefined),
  );
}

function soakChapter({ durability, settings, minutes }: SoakReport): string {
  const { callbacks, players, rate, openBets, memorySeconds } = settings;
  const line = (name: string, pick: (minute: Minute) => number): Series => ({
    name,
    points: minutes.map((minute) => [minute.minute, pick(minute)] as const),
  });
  const mb = (pick: (minute: Minute) => number) => (minute: Minute) => pick(minute) / 1e6;
  const [memory = '', ...others] = soakSentences(minutes);
  return chapter(
    'Soak',
    paragraph(
      `${short(callbacks)} callbacks at ${rate}/s over ${short(players)} players with ${openBets} open bets each; closed rounds ` +
        `stay in memory for ${memorySeconds} s. ${durabilityOf(durability)}`,
    ),
    figure(
      'Memory by minute',
      memory,
      lineChart({ label: 'minute' }, { label: 'MB' }, [
        line(
          'resident',
          mb((one) => one.residentBytes),
        ),
        line(
          'its own',
          mb((one) => one.ownBytes),
        ),
        line(
          'records',
          mb((one) => one.recordBytes),
        ),
        line(
          'heap',
          mb((one) => one.heapBytes),
        ),
        line(
          'names of the archive',
          mb((one) => one.namesBytes),
        ),
      ]),
    ),
    figure(
      'Latency by minute',
      'Of 99 in 100 answers of each minute, and its longest.',
      lineChart({ label: 'minute' }, { label: 'ms', isLog: true }, [
        line('p99', (one) => one.p99Ms),
        line('longest', (one) => one.longestMs),
      ]),
    ),
    list(others),
    table(SOAK_COLUMNS, minutes.map(soakRow)),
  );
}

function coldChapter(report: ColdReport): string {
  const { rate, durability, servers } = report;
  const times = servers.map(
    ({ name, starts }) => [name, median(starts.map((start) => start.firstP99Ms / start.warmP99Ms))] as const,
  );
  return chapter(
    'First seconds',
    paragraph(
      `${rate} callbacks/s by the clock, from the moment at which a fresh process is ready. Medians of ` +
        `${servers[0]?.starts.length ?? 0} starts, times in ms. ${durabilityOf(durability)}`,
    ),
    figure(
      'The p99 of the first second, beside that of the same process once it is warm',
      'Warm is the median of the last five seconds.',
      barChart('times', times),
    ),
    table(COLD_COLUMNS, coldRows(report)),
  );
}

function environmentTable({ versions, fsync, ...others }: Environment): string {
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return facts([...Object.entries(others), ['versions', names.join(', ')], ['one fsync', fsync]]);
}

function loadChapter({ durability, raced }: LoadReport): string {
  return chapter(
    'Throughput',
    paragraph(`Each connection sends when its last answer has come. ${durabilityOf(durability)}`),
    figure(
      'Throughput by connections',
      throughputVerdict(raced),
      chartBy({ label: 'connections', isLog: true }, THROUGHPUT, raced, ({ load }) => load.connections, perSecond),
    ),
    racedTable(raced),
    vitals(raced),
  );
}

/**
 * Shows all servers on one scale, because separate pictures would have different scales and hide the largest
 * differences.
 */
function openLoadChapter({ durability, raced }: LoadReport): string {
  const latency = (title: string, what: string, pick: (one: Raced) => number) =>
    figure(title, latencyVerdict(raced, what, pick), latencyChart(raced, pick));
  return chapter(
    'Latency',
    paragraph(`Requests are due by the clock, and latency counts from then. ${durabilityOf(durability)}`),
    latency('Latency of 99 in 100', '99 of 100 answers', p99),
    latency('The longest answer of all rounds', 'every answer', longestOf),
    racedTable(raced),
    vitals(raced),
    list(populationSentences(raced)),
  );
}

function peersChapter({ durability, raced }: LoadReport): string {
  return chapter(
    'Beside others',
    paragraph(`Pairs of placeBets and settleBets, the same for all. ${durabilityOf(durability)}`),
    bars('Throughput', '/s', throughputs(raced)),
    p99Bars('Latency of 99 in 100', raced),
    racedTable(raced),
  );
}

function costChapter({ durability, raced, taken }: CostReport): string {
  return chapter(
    'What it costs',
    paragraph(`One server as it comes, and others with one thing more to do. ${durabilityOf(durability)}`),
    racedTable(raced),
    paragraph('What is done once a second, by the processor of a server at rest: with it less without it.'),
    table(TURNS_COLUMNS, turnsRows(taken)),
  );
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
  const all = byPlayers.map((one) => ({ ...one, server: 'walletd inline' }));
  return chapter(
    'Threads and players',
    paragraph(durabilityOf(durability)),
    bars('Throughput by workers', '/s', throughputs(byWorkers)),
    racedTable(byWorkers),
    figure(
      'Throughput by players',
      barsVerdict('/s', throughputs(byPlayers)),
      chartBy({ label: 'players', isLog: true }, THROUGHPUT, all, ({ load }) => load.players, perSecond),
    ),
    racedTable(byPlayers),
    bars(
      'A lone answer that nothing has to become durable for',
      'us',
      loneAnswers.map(({ server, us }) => [server, us]),
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
    figure(
      'Time of a start by length of history',
      startsVerdict(series),
      lineChart({ label: 'events' }, { label: 's' }, series),
    ),
    table(HISTORY_COLUMNS, historyRows(histories)),
    p99Bars('Latency of 99 in 100 callbacks while snapshots are taken', raced),
    racedTable(raced),
  );
}

function clusterChapter({ durability, players, rate, rounds, figures }: ClusterReport): string {
  const missed = figures.filter((one) => !isReached(one));
  const reached = `${figures.length - missed.length} of ${figures.length} figures are as they should be.`;
  const verdict = [reached, ...missed.map(({ name }) => `Not: ${name}.`)].join(' ');
  const times = figures.filter(({ unit }) => unit === 'ms').map(({ name, values }) => [name, median(values)] as const);
  return chapter(
    'A cluster of three nodes',
    paragraph(
      `${short(players)} players, a quarter of them in one shard; ${rate}/s by the clock. Durability: ${durability}. ` +
        `Of ${rounds} rounds the medians.`,
    ),
    times.length > 0 ? figure('How long it takes', verdict, barChart('ms', times)) : paragraph(verdict),
    table(FIGURE_COLUMNS, figures.map(figureRow)),
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

const perSecond = (one: Raced) => medianOf(one, (result) => result.perSecond);
const p99 = (one: Raced) => medianOf(one, (result) => result.p99Ms);

function throughputs(raced: readonly Raced[]) {
  return raced.map((one) => [one.server, perSecond(one)] as const);
}

function latencyChart(raced: readonly Raced[], pick: (one: Raced) => number): string {
  const rate = ({ load }: Raced) => load.rate ?? 0;
  return chartBy({ label: 'offered requests/s' }, { label: 'ms', isLog: true }, raced, rate, pick);
}

/** One line per server. Uses bars if there is only one x value, because a line needs two points. */
function chartBy(
  x: Axis,
  y: Axis,
  raced: readonly Raced[],
  pickX: (one: Raced) => number,
  pickY: (one: Raced) => number,
): string {
  if (new Set(raced.map(pickX)).size <= 1) {
    const unit = y === THROUGHPUT ? '/s' : y.label;
    return barChart(
      unit,
      raced.map((one) => [one.server, pickY(one)]),
    );
  }
  const lineOf = (server: string) =>
    seriesOf(
      server,
      raced.filter((one) => one.server === server),
      pickX,
      pickY,
    );
  return lineChart(x, y, serversOf(raced).map(lineOf));
}

function bars(title: string, unit: string, values: readonly (readonly [string, number])[]): string {
  return figure(title, barsVerdict(unit, values), barChart(unit, values));
}

function p99Bars(title: string, raced: readonly Raced[]): string {
  return bars(
    title,
    'ms',
    raced.map((one) => [one.server, p99(one)]),
  );
}

/** A verdict on starts with the longest history. */
function startsVerdict(series: readonly Series[]): string {
  const ends = series.map(({ name, points }) => [name, points.at(-1)?.[1] ?? 0] as const);
  return `After ${short(series[0]?.points.at(-1)?.[0] ?? 0)} events. ${barsVerdict('s', ends)}`;
}

function seriesOf(name: string, raced: readonly Raced[], x: (one: Raced) => number, y: (one: Raced) => number): Series {
  return { name, points: raced.map((one) => [x(one), y(one)]) };
}

function serversOf(raced: readonly Raced[]): string[] {
  return [...new Set(raced.map(({ server }) => server))];
}

function racedTable(raced: readonly Raced[]): string {
  const { columns, rows } = racedFigures(raced);
  return table(columns, rows);
}

function vitals(raced: readonly Raced[]): string {
  return [table(VITALS_COLUMNS, raced.map(vitalsRow)), list(collectionSentences(raced))].join('\n');
}
