import Table from 'cli-table3';
import { fsyncMs, machine, median } from '../support/machine.js';
import { type Server, verify } from '../support/servers.js';
import type { Store } from '../support/store.js';
import { generate } from './generate.js';
import type { LoadResult } from './generator.js';
import type { Mix } from './stories.js';

export interface RaceSettings {
  readonly seconds: number;
  readonly connections: number;
  readonly players: number;
  readonly rounds: number;
  readonly mix: Mix;
  /** Where temporary folders are made. */
  readonly folder: string;
  /** Requests per second of an open loop; undefined for a closed one. */
  readonly rate?: number | undefined;
}

/** Everything a reader needs to judge the figures that follow. */
export function announce(store: Store, settings: RaceSettings): void {
  const { folder, connections, players, rate, mix } = settings;
  console.log(machine());
  console.log(`durability: ${store.durability} (one fdatasync here: ${fsyncMs(folder)} ms)`);
  console.log(`${connections} connections, ${players} players, ${describeMix(mix)}`);
  if (rate === undefined) console.log('closed loop: each connection sends when its last answer has come\n');
  else console.log(`open loop: ${rate} requests/s; latency counts from the moment a request was due\n`);
}

function describeMix(mix: Mix): string {
  return mix === 'pairs' ? 'pairs of placeBets and settleBets' : 'Zipf, all callbacks';
}

/**
 * Servers under the same load, in alternation: machines are noisy, so what counts is the ratio of medians of one run.
 */
export async function race(servers: readonly Server[], settings: RaceSettings): Promise<void> {
  const results = servers.map(({ name }): [string, LoadResult[]] => [name, []]);
  const width = Math.max(...servers.map(({ name }) => name.length));
  for (let round = 1; round <= settings.rounds; round++) {
    for (const [i, server] of servers.entries()) {
      const result = await generate(server, settings);
      results[i]?.[1].push(result);
      console.log(`round ${round}  ${server.name.padEnd(width)}  ${line(result)}`);
    }
  }
  for (const server of servers) verify(server);
  print(results);
}

function line(result: LoadResult): string {
  const { perSecond, p50Ms, p99Ms, p999Ms, generatorCpuShare } = result;
  const latencies = `p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  p99.9 ${p999Ms.toFixed(2)} ms`;
  return `${Math.round(perSecond)}/s  ${latencies}  generator ${percent(generatorCpuShare)} of a core`;
}

function print(results: readonly [string, readonly LoadResult[]][]): void {
  const table = new Table({
    head: ['', 'callbacks/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'ratio', 'generator CPU'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
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
      of((result) => result.p50Ms).toFixed(2),
      of((result) => result.p99Ms).toFixed(2),
      of((result) => result.p999Ms).toFixed(2),
      (perSecond / floor).toFixed(2),
      percent(of((result) => result.generatorCpuShare)),
    ]);
  }
  console.log(`\nmedians of ${results[0]?.[1].length} rounds; ratio: throughput beside the first line`);
  console.log(table.toString());
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
