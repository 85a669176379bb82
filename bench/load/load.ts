import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { fsyncMs, machine, median } from '../support/machine.js';
import { importPlayers, type Server, startEcho, startWalletd } from '../support/servers.js';
import type { LoadOptions, LoadResult } from './generator.js';

export interface LoadSettings {
  readonly seconds: number;
  readonly connections: number;
  readonly players: number;
  readonly rounds: number;
  readonly folder: string | undefined;
}

const OPENING_BALANCE = 1_000_000;
const GENERATOR = fileURLToPath(new URL('./generator.js', import.meta.url));

/**
 * Throughput of walletd beside an echo server, in alternation: machines are noisy, so what counts is the ratio of two
 * medians of one run.
 */
export async function runLoad(settings: LoadSettings): Promise<void> {
  const folder = settings.folder ?? tmpdir();
  const usernames = Array.from({ length: settings.players }, (_, i) => `player-${String(i).padStart(6, '0')}`);
  console.log(machine());
  console.log(`durability: LMDB commit with fsync per round in ${folder} (one fdatasync here: ${fsyncMs(folder)} ms)`);
  console.log(`${settings.connections} connections, ${settings.players} players, pairs of placeBets and settleBets\n`);

  const echo = await startEcho();
  const walletd = await startWalletd(folder);
  const results = new Map<Server, LoadResult[]>([
    [echo, []],
    [walletd, []],
  ]);
  try {
    for (let round = 1; round <= settings.rounds; round++) {
      for (const [server, list] of results) {
        // Each round has players of its own, so that every balance is known from the start.
        const own = usernames.map((username) => `r${round}-${username}`);
        if (server.adminUrl !== undefined) await importPlayers(server.adminUrl, own, OPENING_BALANCE);
        const openingBalance = server.adminUrl === undefined ? undefined : OPENING_BALANCE;
        const { connections, seconds } = settings;
        const result = await generate({
          url: server.url,
          connections,
          seconds,
          usernames: own,
          seed: `r${round}`,
          openingBalance,
        });
        list.push(result);
        console.log(`round ${round}  ${server.name.padEnd(8)} ${line(result)}`);
        if (result.wrong > 0) throw new Error(`${result.wrong} wrong answers, the first: ${result.firstWrong}`);
      }
    }
  } finally {
    await echo.stop();
    await walletd.stop();
  }
  print([...results].map(([server, list]) => [server.name, list]));
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
  const share = Math.round(result.generatorCpuShare * 100);
  return `${Math.round(result.perSecond)}/s  p50 ${result.p50Ms.toFixed(2)} ms  p99 ${result.p99Ms.toFixed(2)} ms  generator ${share} % of a core`;
}

function print(results: readonly [string, readonly LoadResult[]][]): void {
  const table = new Table({
    head: ['', 'callbacks/s', 'p50 ms', 'p99 ms', 'ratio', 'generator CPU'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  const floor = median((results[0]?.[1] ?? []).map((result) => result.perSecond));
  for (const [name, list] of results) {
    const of = (pick: (result: LoadResult) => number) => median(list.map(pick));
    const perSecond = of((result) => result.perSecond);
    const share = `${Math.round(of((result) => result.generatorCpuShare) * 100)} %`;
    const p50 = of((result) => result.p50Ms).toFixed(2);
    const p99 = of((result) => result.p99Ms).toFixed(2);
    table.push([name, Math.round(perSecond), p50, p99, (perSecond / floor).toFixed(2), share]);
  }
  console.log(`\nmedians of ${results[0]?.[1].length} rounds\n${table.toString()}`);
}
