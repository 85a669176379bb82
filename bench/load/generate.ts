import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../test/support/clean-up.js';
import { importPlayers, type Server } from '../support/servers.js';
import type { Vitals } from '../support/vitals.js';
import type { LatencySummary } from './latencies.js';
import type { GeneratorLine, LoadOptions, LoadResult } from './run.js';
import { usernameOf } from './stories.js';

const OPENING_BALANCE = 1_000_000;
const GENERATOR = fileURLToPath(new URL('./generator.js', import.meta.url));

/** Load options. The defaults are a closed loop, no open bets, and a server that must answer every request. */
export type Load = Pick<LoadOptions, 'mix' | 'connections' | 'seconds' | 'players'> &
  Partial<
    Pick<LoadOptions, 'rate' | 'isOverload' | 'reopens' | 'areFew' | 'signingSecret' | 'openBets' | 'pieceSeconds'>
  >;

/** The generator's result, with the server's vitals during the measured period. */
export interface Generated extends LoadResult {
  readonly vitals: Vitals;
  /** The measured period, in milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  /** True if the server keeps players; false for an echo server. */
  readonly keepsPlayers: boolean;
}

/** Reports preparation progress before the measured period, from 0 to 1. */
export type OnFilled = (share: number) => void;

/** Called after each part of the measured period. */
export type OnPiece = (latencies: LatencySummary) => void;

let runs = 0;

/**
 * Maximum warm-up. V8 compiles request handling in background threads, and recompiles it when an assumption proves
 * wrong. In the first ten seconds of a closed loop, compilation took a third of the process's time. A short run has a
 * short warm-up.
 */
const WARM_UP_SECONDS_MAX = 12;
const WARM_UP_RUNS = 2;
const WARM_UP_PLAYERS_MAX = 10_000;
/** Share of the preparation time that importing players takes; the rest is for placing their open bets. */
const IMPORT_SHARE = 0.3;

/** Warms up a server before the measured period, because a fresh process is slow at first. */
export async function warmUp(
  server: Server,
  { mix, connections, players, seconds, signingSecret }: Load,
): Promise<void> {
  const few = Math.min(players, WARM_UP_PLAYERS_MAX);
  const warmSeconds = Math.min(WARM_UP_RUNS * seconds, WARM_UP_SECONDS_MAX);
  await generate(server, { mix, connections, players: few, seconds: warmSeconds, signingSecret });
}

/** Loads a server with players that belong only to this run. Throws if an answer or a balance was wrong. */
export async function generate(
  server: Server,
  load: Load,
  onFilled: OnFilled = () => {},
  onPiece: OnPiece = () => {},
): Promise<Generated> {
  const { url, adminUrl, booksUrl, token, playerPrefix = 'r' } = server;
  const seed = `${playerPrefix}${++runs}`;
  const { mix, connections, seconds, rate, players, signingSecret, pieceSeconds } = load;
  const { isOverload = false, reopens = false, areFew = false } = load;
  // Only a server that keeps balances can hold open bets.
  const openBets = adminUrl === undefined ? 0 : (load.openBets ?? 0);
  const importShare = openBets > 0 ? IMPORT_SHARE : 1;
  if (adminUrl !== undefined) {
    const usernames = Array.from({ length: players }, (_, player) => usernameOf(seed, player));
    const onImported = (count: number) => onFilled((count / players) * importShare);
    await importPlayers(adminUrl, usernames, OPENING_BALANCE, onImported, token);
  }
  const openingBalance = adminUrl === undefined ? undefined : OPENING_BALANCE;
  const target = { url, seed, openingBalance, booksUrl, booksToken: token, signingSecret };
  const options = {
    ...target,
    mix,
    connections,
    seconds,
    rate,
    players,
    openBets,
    isOverload,
    pieceSeconds,
    reopens,
    areFew,
  };
  const onPlaced = (count: number) => onFilled(importShare + (count / players) * (1 - importShare));
  const result = await run(options, server, onPlaced, onPiece);
  if (result.wrong > 0) throw new Error(`${server.name}: ${result.wrong} wrong, the first: ${result.firstWrong}`);
  return result;
}

/** Runs one generator in its own process, and reads the server's vitals at the start and end of the measured period. */
async function run(
  options: LoadOptions,
  { process: serving }: Server,
  onPlaced: (players: number) => void,
  onPiece: OnPiece,
): Promise<Generated> {
  const child = spawn(process.execPath, [GENERATOR], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(() => void child.kill('SIGKILL'));
  // Ignore broken pipes. If the child ends early, its truncated output is reported below.
  for (const one of [child, child.stdin]) one.on('error', () => {});
  child.stdin.end(JSON.stringify(options));
  const began = { atMs: 0, residentBytes: 0, cpuMs: 0 };
  const ended = { atMs: 0, residentBytes: 0, cpuMs: 0 };
  let result: LoadResult | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as GeneratorLine;
    if (line.type === 'placed') onPlaced(line.players);
    else if (line.type === 'piece') onPiece(line.latencies);
    else if (line.type === 'result') result = line.result;
    else if (line.type !== 'warm')
      Object.assign(line.type === 'measuring' ? began : ended, {
        atMs: line.atMs,
        residentBytes: await serving.residentBytes(),
        cpuMs: await serving.cpuMs(),
      });
  }
  if (result === undefined) throw new Error('the load generator has ended early');
  const vitals = {
    ...serving.collectionsBetween(began.atMs, ended.atMs),
    residentBefore: began.residentBytes,
    residentAfter: ended.residentBytes,
    cpuMs: ended.cpuMs - began.cpuMs,
  };
  const keepsPlayers = options.openingBalance !== undefined;
  return { ...result, vitals, fromMs: began.atMs, toMs: ended.atMs, keepsPlayers };
}
