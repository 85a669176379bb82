import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../support/clean-up.js';
import { importPlayers, type Server } from '../support/servers.js';
import type { LoadOptions, LoadResult } from './generator.js';
import { usernameOf } from './stories.js';

const OPENING_BALANCE = 1_000_000;
const GENERATOR = fileURLToPath(new URL('./generator.js', import.meta.url));

/** Of what is not said: a closed loop, and a server that has to answer everything. */
export type Load = Pick<LoadOptions, 'mix' | 'connections' | 'seconds' | 'players'> &
  Partial<Pick<LoadOptions, 'rate' | 'isOverload' | 'signingSecret'>>;

let runs = 0;

/** At 2,000 requests/s what answers them is compiled after seconds only: a closed loop is faster at it. */
const WARM_UP_SECONDS = 3;
const WARM_UP_PLAYERS_MAX = 10_000;

/** Before anything is measured: a fresh process is slow at first. */
export async function warmUp(server: Server, { mix, connections, players, signingSecret }: Load): Promise<void> {
  const few = Math.min(players, WARM_UP_PLAYERS_MAX);
  await generate(server, { mix, connections, players: few, seconds: WARM_UP_SECONDS, signingSecret });
}

/** Loads a server, with players of this run's own; throws when an answer or a balance was wrong. */
export async function generate(server: Server, load: Load): Promise<LoadResult> {
  const seed = `r${++runs}`;
  const { url, adminUrl, settings } = server;
  const usernames = Array.from({ length: load.players }, (_, player) => usernameOf(seed, player));
  if (adminUrl !== undefined) await importPlayers(adminUrl, usernames, OPENING_BALANCE);
  const openingBalance = adminUrl === undefined ? undefined : OPENING_BALANCE;
  const booksUrl = settings === undefined ? undefined : adminUrl;
  const { mix, connections, seconds, rate, players, signingSecret, isOverload = false } = load;
  const target = { url, seed, openingBalance, booksUrl, signingSecret };
  const result = await run({ ...target, mix, connections, seconds, rate, players, isOverload });
  if (result.wrong > 0) throw new Error(`${server.name}: ${result.wrong} wrong, the first: ${result.firstWrong}`);
  return result;
}

function run(options: LoadOptions): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [GENERATOR], { stdio: ['pipe', 'pipe', 'inherit'] });
    atEnd(() => void child.kill('SIGKILL'));
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(options));
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString();
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve(JSON.parse(text) as LoadResult) : reject(new Error('the load generator has ended early')),
    );
  });
}
