import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Generated } from '../../bench/load/generate.js';
import { chaptersOf, type LoadSettings, loadsOf } from '../../bench/load/load.js';
import { populationSentences } from '../../bench/load/populations.js';
import { collectionSentences, vitalsRow } from '../../bench/load/race-table.js';
import type { Raced } from '../../bench/load/raced.js';

const MIB = 1024 ** 2;
const SETTINGS = { seconds: 60, players: [1_000_000, 10_000], mix: 'real', openBets: 2 } as unknown as LoadSettings;

interface Round {
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly fullCollections?: number;
}

function raced(server: string, players: number, rounds: readonly Round[], rate?: number): Raced {
  return {
    server,
    load: { mix: 'real', connections: 128, seconds: 60, players, rate },
    rounds: rounds.map(({ fullCollections = 1, ...latencies }) => ({
      ...({} as Generated),
      ...latencies,
      answers: 10_000,
      vitals: {
        fullCollections,
        longestPauseMs: fullCollections * 40,
        residentBefore: 100 * MIB,
        residentAfter: 150 * MIB,
        cpuMs: 600,
      },
      keepsPlayers: !server.includes('echo'),
    })),
  };
}

test('--connections and --rate work separately and together', () => {
  const reported = (more: Partial<LoadSettings>) =>
    loadsOf({ ...SETTINGS, ...more }).map(({ connections, rate }) => [connections, rate]);
  assert.deepEqual(reported({}), [[128, undefined]]);
  assert.deepEqual(reported({ connections: [16, 64] }), [
    [16, undefined],
    [64, undefined],
  ]);
  assert.deepEqual(reported({ rate: [2000, 6000] }), [
    [128, 2000],
    [128, 6000],
  ]);
  assert.deepEqual(reported({ connections: [16, 64], rate: [6000] }), [
    [16, undefined],
    [64, undefined],
    [64, 6000],
  ]);
});

test('closed and open loops have separate chapters', () => {
  const closed = raced('walletd inline', 10, []);
  const open = raced('walletd inline', 10, [], 6000);
  const chapters = chaptersOf({ durability: '', raced: [closed, open] });
  assert.deepEqual(chapters, {
    load: { durability: '', raced: [closed] },
    openLoad: { durability: '', raced: [open] },
  });
  assert.deepEqual(chaptersOf({ durability: '', raced: [open] }), { openLoad: chapters.openLoad });
});

test('results for a million players are compared with ten thousand and the durable echo', () => {
  const races = [
    raced('echo', 10_000, [{ p99Ms: 1, maxMs: 2 }], 6000),
    raced('durable echo', 10_000, [{ p99Ms: 5, maxMs: 20 }], 6000),
    raced('inline, 10000 players', 10_000, [{ p99Ms: 10, maxMs: 30 }], 6000),
    raced('inline, 1000000 players', 1_000_000, [{ p99Ms: 25, maxMs: 70 }], 6000),
    raced('durable echo', 10_000, [{ p99Ms: 9, maxMs: 20 }]),
  ];
  assert.deepEqual(populationSentences(races), [
    '6000/s, p99 of inline, 1000000 players beside inline, 10000 players: 2.50 times (25.00 and 10.00 ms)',
    '6000/s, longest answer of inline, 1000000 players beside the durable echo: 50 ms more (70 and 20 ms)',
    '6000/s, p99 of inline, 10000 players beside the durable echo: 2.00 times (10.00 and 5.00 ms)',
  ]);
  assert.deepEqual(populationSentences(races.slice(0, 3)), [], 'one population has nothing to be compared with');
});

test('the report shows the longest answer and processor time, and warns if no full collection occurred', () => {
  const rounds = [
    { p99Ms: 1, maxMs: 50, fullCollections: 0 },
    { p99Ms: 1, maxMs: 90, fullCollections: 3 },
  ];
  const two = raced('walletd inline', 100_000, rounds, 6000);
  assert.deepEqual(vitalsRow(two), ['walletd inline', '6000/s', '90.0', '3', '120.0', '150', '1049', '60']);
  assert.match(String(collectionSentences([two])), /^no full collection fell into 1 of 2 runs of walletd inline, 6000/);
  const [, held] = rounds as [Round, Round];
  assert.deepEqual(collectionSentences([raced('walletd inline', 10, [held])]), []);
  assert.deepEqual(collectionSentences([raced('echo', 10, [rounds[0] as Round])]), [], 'an echo holds nothing');
});
