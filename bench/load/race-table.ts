import { plural } from '../../src/cli/print/format.js';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import type { Generated } from './generate.js';
import { describeLoad, medianOf, type Raced, spreadOf } from './raced.js';
import type { LoadResult } from './run.js';

/**
 * If the generator uses at least this share of a core, the figures may measure the generator rather than the server.
 */
const GENERATOR_SHARE_MAX = 0.9;
const MIB = 1024 ** 2;

const RACED_COLUMNS: readonly Column[] = [
  '',
  ...['load', '/s', '±', 'p50 ms', 'p99 ms', 'p99.9 ms', 'ratio', 'gen. CPU'].map((right) => ({ right })),
];

const SPREAD_AT = 3;

/** Columns for garbage collections and memory per player, measured over the same period as the latencies. */
export const VITALS_COLUMNS: readonly Column[] = [
  '',
  ...['load', 'longest ms', 'full GCs', 'longest pause ms', 'resident MiB', 'B/player', 'us/answer'].map((right) => ({
    right,
  })),
];

/** A human-readable line for one round. */
export function resultLine({ perSecond, p50Ms, p99Ms, p999Ms, maxMs, generatorCpuShare }: LoadResult): string {
  const latencies = `p50 ${p50Ms.toFixed(2)}  p99 ${p99Ms.toFixed(2)}  p99.9 ${p999Ms.toFixed(2)}  longest ${maxMs.toFixed(0)} ms`;
  return `${Math.round(perSecond)}/s  ${latencies}  generator ${percent(generatorCpuShare)}`;
}

/** Prints medians in 80 columns. */
export function printRaced(raced: readonly Raced[]): void {
  console.log(`\nmedians of ${plural(raced[0]?.rounds.length ?? 0, 'round')}`);
  const { columns, rows } = racedFigures(raced);
  console.log(`${formatTable(columns, rows)}\n`);
  console.log(
    formatTable(
      VITALS_COLUMNS,
      raced.map((one) => vitalsRow(one)),
    ),
  );
  console.log('longest, full GCs, longest pause: of all rounds; resident: when the measured time ended;');
  console.log('us/answer: processor time of the server, without its store, for each answer');
  console.log('B/player: all resident bytes when it began, program included, for each player');
  for (const sentence of collectionSentences(raced)) console.log(sentence);
  console.log('load: connections that wait for each answer (closed loop), or requests/s sent');
  console.log('by the clock (open loop; latency counts from when each was due)');
  if (raced.some(({ rounds }) => rounds.length > 1)) {
    console.log('±: half of the way from the slowest to the fastest round');
  }
  console.log('ratio: throughput beside the first line of the same load');
  for (const sentence of generatorSentences(
    raced.map((one) => medianOf(one, ({ generatorCpuShare }) => generatorCpuShare)),
  )) {
    console.log(`* ${sentence}`);
  }
}

/** Warns if a generator was the bottleneck. `shares` are the generators' shares of a core. */
export function generatorSentences(shares: readonly number[]): string[] {
  const isFull = shares.some((share) => share > GENERATOR_SHARE_MAX);
  return isFull ? ['the generator had no CPU left: the server may be faster than this'] : [];
}

/** Omits the spread column if every result has only one round. */
export function racedFigures(raced: readonly Raced[]): { columns: readonly Column[]; rows: string[][] } {
  const has = (_: unknown, at: number) => at !== SPREAD_AT || raced.some(({ rounds }) => rounds.length > 1);
  return { columns: RACED_COLUMNS.filter(has), rows: raced.map((one) => racedRow(one, raced).filter(has)) };
}

function racedRow(one: Raced, all: readonly Raced[]): string[] {
  const of = (pick: (result: LoadResult) => number) => medianOf(one, pick);
  const perSecond = of((result) => result.perSecond);
  const first = all.find(({ load }) => describeLoad(load) === describeLoad(one.load)) as Raced;
  const share = of((result) => result.generatorCpuShare);
  return [
    one.server,
    describeLoad(one.load),
    String(Math.round(perSecond)),
    one.rounds.length === 1 ? '' : percent(spreadOf(one) / 2 / perSecond),
    of((result) => result.p50Ms).toFixed(2),
    of((result) => result.p99Ms).toFixed(2),
    of((result) => result.p999Ms).toFixed(2),
    (perSecond / medianOf(first, (result) => result.perSecond)).toFixed(2),
    `${percent(share)}${share > GENERATOR_SHARE_MAX ? '*' : ''}`,
  ];
}

export function vitalsRow(one: Raced): string[] {
  const { rounds, load, server } = one;
  const most = (pick: (result: Generated) => number) => Math.max(...rounds.map(pick));
  const collections = rounds.reduce((sum, { vitals }) => sum + (vitals.fullCollections ?? Number.NaN), 0);
  return [
    server,
    describeLoad(load),
    most(({ maxMs }) => maxMs).toFixed(1),
    figure(collections),
    !(collections > 0) ? '' : most(({ vitals }) => vitals.longestPauseMs).toFixed(1),
    figure(medianOf(one, ({ vitals }) => vitals.residentAfter) / MIB),
    // A target also has players that the bench did not create, so no memory per player can be computed.
    isKept(one) && !Number.isNaN(collections)
      ? figure(medianOf(one, ({ vitals }) => vitals.residentBefore) / load.players)
      : '',
    figure(medianOf(one, ({ vitals, answers }) => (vitals.cpuMs * 1000) / answers)),
  ];
}

function figure(value: number): string {
  return Number.isNaN(value) ? '?' : String(Math.round(value));
}

/**
 * Warns about runs too short to include a full collection. Such runs do not show the longest answers of a server that
 * runs for months.
 */
export function collectionSentences(raced: readonly Raced[]): string[] {
  const without = raced.filter(
    (one) => isKept(one) && one.rounds.some(({ vitals: { fullCollections } }) => fullCollections === 0),
  );
  return without.map(({ server, load, rounds }) => {
    const none = rounds.filter(({ vitals }) => vitals.fullCollections === 0).length;
    const where = rounds.length === 1 ? 'the run' : `${none} of ${rounds.length} runs`;
    const run = `${server}, ${describeLoad(load)}`;
    return `no full collection fell into ${where} of ${run}: its longest answer may be still to come, take more --seconds`;
  });
}

function isKept({ rounds }: Raced): boolean {
  return rounds.some(({ keepsPlayers }) => keepsPlayers);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
