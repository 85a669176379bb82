import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type RequestOptions, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import { atEnd, withCleanUp } from '../../test/support/clean-up.js';
import { bet } from '../../test/support/client.js';
import { freePort } from '../../test/support/free-port.js';
import { Latencies, type LatencySummary } from '../load/latencies.js';
import { machine, median } from '../support/machine.js';
import { importPlayers, startWalletd } from '../support/servers.js';
import { startStore } from '../support/store.js';

export interface StrangersSettings {
  /** Connections that unauthenticated clients open per second. */
  readonly rate: number;
  /** Duration of each run. */
  readonly seconds: number;
  readonly rounds: number;
  /** The folder in which the store is created. */
  readonly folder: string;
}

/** Listener, and the request that its allowed caller sends. */
interface Asked {
  readonly name: string;
  readonly url: string;
  readonly path: string;
  readonly body?: () => string;
}

interface Run extends LatencySummary {
  readonly failed: number;
}

const PLAYER = 'caller';
const BALANCE = 1_000_000_000;
const CALLS_PER_SECOND = 200;
const CALLS_PER_NEW_CONNECTION = 10;
const CALLER = '127.0.0.1';
const STRANGERS = new URL('./open-connections.js', import.meta.url);
/** The time until unauthenticated clients occupy all connections that a listener grants them. */
const FILL_MS = 2000;
const CONNECTIONS_MAX = 1000;

/**
 * Measures an allowed caller of each listener, first alone and then while clients from other addresses open silent
 * connections.
 */
export function runStrangers({ rate, seconds, rounds, folder }: StrangersSettings): Promise<void> {
  return withCleanUp(async () => {
    console.log(machine());
    const store = await startStore({ store: 'lmdb', durability: 'fsync', folder });
    const health = await freePort();
    const server = await startWalletd(store, 0, {
      WALLETD_HEALTH_HOST: '127.0.0.1',
      WALLETD_HEALTH_PORT: String(health),
      WALLETD_LIMITS_CONNECTIONS_MAX: String(CONNECTIONS_MAX),
    });
    const adminUrl = server.adminUrl as string;
    await importPlayers(adminUrl, [PLAYER], BALANCE);
    let bets = 0;
    const listeners: readonly Asked[] = [
      {
        name: 'callbacks',
        url: server.url,
        path: '/placeBets',
        body: () => JSON.stringify(bet(PLAYER, `bet-${++bets}`)),
      },
      { name: 'operator API', url: adminUrl, path: '/livez' },
      { name: 'health', url: `http://127.0.0.1:${health}`, path: '/livez' },
    ];
    console.log(
      `${CALLS_PER_SECOND} calls/s, one in ${CALLS_PER_NEW_CONNECTION} on a new connection; strangers open ${rate}/s\n`,
    );
    const rows: string[][] = [];
    for (const asked of listeners) rows.push(await measure(asked, rate, seconds, rounds));
    console.log(formatTable(COLUMNS, rows));
  });
}

const COLUMNS: readonly Column[] = [
  'listener',
  ...['p99 ms alone', 'with strangers', 'ratio', 'least', 'most', 'calls', 'failed'].map((right) => ({ right })),
];

async function measure(asked: Asked, rate: number, seconds: number, rounds: number): Promise<string[]> {
  const alone: Run[] = [];
  const filled: Run[] = [];
  await call(asked, seconds);
  for (let round = 0; round < rounds; round++) {
    const withStrangers = async () => {
      const leave = await strangersAt(asked.url, rate);
      filled.push(await call(asked, seconds));
      await leave();
    };
    if (round % 2 === 1) await withStrangers();
    alone.push(await call(asked, seconds));
    if (round % 2 === 0) await withStrangers();
  }
  const p99 = (runs: readonly Run[]) => median(runs.map(({ p99Ms }) => p99Ms)).toFixed(2);
  const ratios = filled.map(({ p99Ms }, round) => p99Ms / (alone[round] as Run).p99Ms);
  const sum = (pick: (run: Run) => number) => String(filled.reduce((total, run) => total + pick(run), 0));
  return [
    asked.name,
    p99(alone),
    p99(filled),
    ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)),
    sum(({ count, failed }) => count + failed),
    sum(({ failed }) => failed),
  ];
}

/** Calls at fixed times. The latency of a late call is measured from the time at which it was due. */
async function call(asked: Asked, seconds: number): Promise<Run> {
  const latencies = new Latencies();
  const kept = new Agent({ keepAlive: true });
  const calls: Promise<void>[] = [];
  let failed = 0;
  const beganMs = performance.now();
  for (let n = 0; n < seconds * CALLS_PER_SECOND; n++) {
    const dueMs = beganMs + (n * 1000) / CALLS_PER_SECOND;
    if (dueMs > performance.now()) await delay(dueMs - performance.now());
    const agent = n % CALLS_PER_NEW_CONNECTION === 0 ? undefined : kept;
    const sinceMs = Math.min(dueMs, performance.now());
    const answered = ask(asked, agent).then(
      () => latencies.record(performance.now() - sinceMs),
      () => {
        failed++;
      },
    );
    calls.push(answered);
  }
  await Promise.all(calls);
  kept.destroy();
  return { ...latencies.summary(), failed };
}

function ask({ url, path, body }: Asked, agent: Agent | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = { method: body === undefined ? 'GET' : 'POST', localAddress: CALLER };
    const sent = request(url + path, agent === undefined ? options : { ...options, agent }, (response) => {
      response.resume();
      response.once('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(path))));
    });
    sent.once('error', reject);
    sent.end(body?.());
  });
}

/** Resolves when the listener is full. The returned function stops the clients. */
async function strangersAt(url: string, rate: number): Promise<() => Promise<void>> {
  const child = fork(STRANGERS, [new URL(url).port, String(rate), String(CONNECTIONS_MAX)]);
  const ended = once(child, 'exit');
  atEnd(() => {
    child.kill();
  });
  await delay(FILL_MS);
  return async () => {
    child.kill();
    await ended;
  };
}
