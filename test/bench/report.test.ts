import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Generated } from '../../bench/load/generate.js';
import { racedFigures } from '../../bench/load/race-table.js';
import { medianOf, type Raced } from '../../bench/load/raced.js';
import { apart, barChart, lineChart } from '../../bench/report/chart.js';
import { reportOf } from '../../bench/report/report.js';
import { barsVerdict, latencyVerdict, throughputVerdict } from '../../bench/report/verdicts.js';
import { type Minute, type SoakSettings, soakSentences } from '../../bench/soak/soak.js';

const ENVIRONMENT = { time: '', command: '', machine: '', system: '', versions: {}, commit: '', fsync: '' };

function raced(server: string, rate: number | undefined, ...p99s: readonly number[]): Raced {
  const round = (p99Ms: number) => ({
    ...({ p50Ms: 1, p999Ms: 1, maxMs: 2 * p99Ms, perSecond: 1000 * p99Ms, generatorCpuShare: 0.1 } as Generated),
    p99Ms,
    vitals: { fullCollections: 1, longestPauseMs: 1, residentBefore: 1e9, residentAfter: 1e9, cpuMs: 100 },
    keepsPlayers: !server.includes('echo'),
  });
  return { server, load: { mix: 'real', connections: 128, seconds: 1, players: 10, rate }, rounds: p99s.map(round) };
}

const RACES = [
  raced('echo', 2000, 1),
  raced('durable echo', 2000, 2),
  raced('walletd inline', 2000, 3),
  raced('echo', 6000, 1),
  raced('durable echo', 6000, 4),
  raced('walletd inline', 6000, 10),
];

test('a verdict compares the largest load with the durable echo', () => {
  const p99 = (one: Raced) => medianOf(one, ({ p99Ms }) => p99Ms);
  assert.equal(
    latencyVerdict(RACES, '99 of 100 answers', p99),
    'With 6000/s, walletd inline had 99 of 100 answers within 10 ms, 2.5 times the durable echo.',
  );
  assert.equal(
    throughputVerdict([raced('walletd inline', undefined, 5), raced('one worker', undefined, 4)]),
    'With 128 conns, one worker answered 4000 callbacks/s, 0.8 times the walletd inline.',
  );
  assert.equal(
    barsVerdict('ms', [
      ['a', 2],
      ['b', 6],
    ]),
    'From 2 ms (a) to 6 ms (b), 3 times as much.',
  );
});

test('only results from several rounds have a spread', () => {
  const heads = (all: readonly Raced[]) => racedFigures(all).columns.map((column) => JSON.stringify(column));
  assert.ok(!heads(RACES).some((head) => head.includes('±')));
  assert.ok(heads([...RACES, raced('walletd inline', 9000, 1, 2)]).some((head) => head.includes('±')));
  for (const all of [RACES, [raced('walletd inline', 9000, 1, 2)]]) {
    const { columns, rows } = racedFigures(all);
    assert.ok(rows.every((row) => row.length === columns.length));
  }
});

test('the end of a soak is compared with its first tenth', () => {
  const minute = (n: number): Minute => ({
    ...{ minute: n, answers: n * 1_000_000, p50Ms: 1, p99Ms: n === 7 ? 30 : 5, longestMs: n === 9 ? 80 : 20 },
    ...{ residentBytes: (500 + 50 * n) * 1e6, ownBytes: (500 + n) * 1e6, heapBytes: 1e8, recordBytes: 3e8 },
    ...{ names: n * 1000, namesBytes: n * 1800, transactions: 5, archivedRounds: n * 500, lookedInVain: n * 600 },
  });
  const minutes = Array.from({ length: 20 }, (_, i) => minute(i + 1));
  assert.deepEqual(soakSentences(minutes), [
    'memory after 20000000 callbacks, against after 2000000: 1.04 times (502 and 520 MB of its own; resident 2.50 times)',
    'memory for each name of a round or transaction in the archive: 1.80 bytes (20000 names)',
    'callbacks that waited for the archive, which had nothing: 0.060 %',
    'p99 of the worst minute: 30.0 ms (minute 7); longest answer: 80 ms',
  ]);
  assert.deepEqual(soakSentences([]), []);
  const settings = { callbacks: 2e7, players: 1e6, rate: 8000, openBets: 2, memorySeconds: 60 } as SoakSettings;
  const soak = { durability: '', settings, minutes, whole: {} as Generated };
  assert.match(reportOf({ environment: ENVIRONMENT, soak }), /1\.04 times[\s\S]*p99 of the worst minute/);
});

test('labels at the ends of lines neither overlap nor leave the chart', () => {
  for (const heights of [
    [100],
    [100, 101, 99, 100],
    [277, 278, 279],
    [1, 1, 1],
    Array.from({ length: 12 }, () => 120),
  ]) {
    const sorted = [...apart(heights)].sort((a, b) => a - b);
    assert.ok(
      sorted.every((height, i) => i === 0 || height - (sorted[i - 1] as number) >= 15),
      `${heights}`,
    );
    assert.ok(
      sorted.every((height) => height > 0 && height < 278),
      `${sorted}`,
    );
  }
  assert.deepEqual(apart([50, 150]), [50, 150], 'those that are apart stay');
});

test('a chart names each server once, below its verdict', () => {
  const html = reportOf({ environment: ENVIRONMENT, openLoad: { durability: 'd', raced: RACES } });
  const [, picture = ''] =
    /Latency of 99 in 100<\/h3>\s*<p class="verdict">With 6000\/s[^<]+<\/p>\s*(<svg.*?<\/svg>)/s.exec(html) ?? [];
  for (const name of ['echo', 'durable echo', 'walletd inline'])
    assert.equal(picture.split(`>${name}<`).length, 2, name);
  assert.equal(html.split('<svg').length, html.split('class="verdict"').length, 'a sentence above each picture');
});

test('the longest answer is the maximum of all rounds, not a median', () => {
  const rounds = [raced('echo', 6000, 1), raced('walletd inline', 6000, 3, 4, 30)];
  const html = reportOf({ environment: ENVIRONMENT, openLoad: { durability: 'd', raced: rounds } });
  assert.match(html, /With 6000\/s, walletd inline had 99 of 100 answers within 4 ms/);
  assert.match(html, /With 6000\/s, walletd inline had every answer within 60 ms/);
});

test('a single value is not drawn as a line', () => {
  const html = reportOf({ environment: ENVIRONMENT, openLoad: { durability: 'd', raced: RACES.slice(3) } });
  assert.ok(html.includes('<svg') && !html.includes('<polyline'));
});

test('charts are as wide as a phone, so that their text is readable', () => {
  for (const svg of [
    barChart('ms', [['a', 1]]),
    lineChart({ label: 'x' }, { label: 'y' }, [{ name: 'a', points: [[1, 2]] }]),
  ]) {
    const width = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
    assert.ok(width > 0 && width <= 390);
  }
});
