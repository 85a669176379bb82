import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { fsyncMs, machine, median } from '../support/machine.js';
import { importPlayers, type Server } from '../support/servers.js';
import type { Store } from '../support/store.js';
import type { LoadOptions, LoadResult } from './generator.js';

export interface RaceSettings {
  readonly seconds: number;
  readonly connections: number;
  readonly players: number;
  readonly rounds: number;
  /** Where temporary folders are made. */
  readonly folder: string;
  /** Requests per second of an open loop; undefined for a closed one. */
  readonly rate?: number;
}

const OPENING_BALANCE = 1_000_000;
const GENERATOR = fileURLToPath(new URL('./generator.js', import.meta.url));

/** Everything a reader needs to judge the figures that follow. */
export function announce(store: Store, settings: RaceSettings): void {
  const { folder, connections, players, rate } = settings;
  console.log(machine());
  console.log(`durability: ${store.durability} (one fdatasync here: ${fsyncMs(folder)} ms)`);
  console.log(`${connections} connections, ${players} players, pairs of placeBets and settleBets`);
  if (rate === undefined) console.log('closed loop: each connection sends when its last answer has come\n');
  else console.log(`open loop: ${rate} requests/s; latency counts from the moment a request was due\n`);
}

/**
 * Servers under the same load, in alternation: machines are noisy, so what counts is the ratio of medians of one run.
 */
export async function race(servers: readonly Server[], settings: RaceSettings): Promise<void> {
  const results = servers.map(({ name }): [string, LoadResult[]] => [name, []]);
  const width = Math.max(...servers.map(({ name }) => name.length));
  for (let round = 1; round <= settings.rounds; round++) {
    for (const [i, server] of rotated([...servers.entries()], round - 1)) {
      const result = await runRound(server, round, settings);
      results[i]?.[1].push(result);
      console.log(`round ${round}  ${server.name.padEnd(width)}  ${line(result)}`);
      if (result.wrong > 0) throw new Error(`${result.wrong} wrong answers, the first: ${result.firstWrong}`);
    }
  }
  print(results);
}

/** Each round has players of its own, so that every balance is known from the start. */
async function runRound(server: Server, round: number, settings: RaceSettings): Promise<LoadResult> {
  const { connections, seconds, players, rate } = settings;
  const { url, adminUrl } = server;
  const usernames = Array.from({ length: players }, (_, i) => `r${round}-player-${String(i).padStart(6, '0')}`);
  if (adminUrl !== undefined) await importPlayers(adminUrl, usernames, OPENING_BALANCE);
  const openingBalance = adminUrl === undefined ? undefined : OPENING_BALANCE;
  return generate({ url, connections, seconds, rate, usernames, seed: `r${round}`, openingBalance });
}

function generate(options: LoadOptions): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [GENERATOR], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify(options));
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString();
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve(JSON.parse(text) as LoadResult) : reject(new Error(`generator: ${code}`)),
    );
  });
}

function line(result: LoadResult): string {
  const { perSecond, p50Ms, p99Ms, p999Ms, generatorCpuShare } = result;
  const latencies = `p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  p99.9 ${p999Ms.toFixed(2)} ms`;
  return `${Math.round(perSecond)}/s  ${latencies}  generator ${percent(generatorCpuShare)} of a core`;
}

function print(results: readonly [string, readonly LoadResult[]][]): void {
  const table = new Table({
    head: ['', 'callbacks/s', 'min–max', 'p50 ms', 'p99 ms', 'p99.9 ms', 'ratio', 'generator CPU'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  const medianOf = (list: readonly LoadResult[], pick: (result: LoadResult) => number) => median(list.map(pick));
  const floor = medianOf(results[0]?.[1] ?? [], (result) => result.perSecond);
  for (const [name, list] of results) {
    const of = (pick: (result: LoadResult) => number) => medianOf(list, pick);
    const perSecond = of((result) => result.perSecond);
    table.push([
      name,
      Math.round(perSecond),
      spread(list.map((result) => result.perSecond)),
      of((result) => result.p50Ms).toFixed(2),
      of((result) => result.p99Ms).toFixed(2),
      of((result) => result.p999Ms).toFixed(2),
      (perSecond / floor).toFixed(2),
      percent(of((result) => result.generatorCpuShare)),
    ]);
  }
  console.log(
    `\nmedians of ${results[0]?.[1].length} rounds, throughput also from least to most; ratio: throughput beside the first line`,
  );
  console.log(table.toString());
}

/** Each round begins with another server: who goes first finds the machine in another state than who goes last. */
function rotated<T>(list: readonly T[], by: number): T[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}

function spread(values: readonly number[]): string {
  return `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
